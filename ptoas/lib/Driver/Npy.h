//===- Npy.h - NumPy array files ------------------------------------------===//
#ifndef PTOAS_LIB_DRIVER_NPY_H
#define PTOAS_LIB_DRIVER_NPY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ptoas {

/// A `.npy` file: its header as found, and the bytes behind it.
struct NpyArray {
  std::string header; // magic, version, length, dictionary: written back unchanged
  std::string descr;  // such as "<f4"
  std::vector<int64_t> shape;
  std::vector<char> data;

  int64_t elementBytes() const;
};

/// Reads a C-ordered little-endian array; the error names the file and what is wrong with it.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);
llvm::Error writeNpy(llvm::StringRef path, const NpyArray &array);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_NPY_H
