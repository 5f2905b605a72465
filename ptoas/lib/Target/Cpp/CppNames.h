//===- CppNames.h - types and enumerators in C++ --------------------------===//
//
// How types and enumerators of the dialect are spelled in C++. Tile types, views of
// global memory and FIFOs get a name of their own (`using VecF32_16x64 = Tile<…>;`),
// in the order in which a module uses them.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_TARGET_CPP_CPPNAMES_H
#define PTOAS_LIB_TARGET_CPP_CPPNAMES_H

#include "mlir/IR/BuiltinTypes.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <optional>
#include <string>

namespace ptoas::cpp {

/// "RoundMode::CAST_ROUND" for an enum attribute of an instruction; empty for other attributes.
std::string spellEnum(mlir::Attribute attr);
std::string spellPipe(mlir::pto::PIPE pipe);

/// True if a function or a variable cannot have this name.
bool isTaken(llvm::StringRef name);

/// A window of global memory as it is spelled: five extents and strides, -1 where known at run
/// time.
struct GlobalShape {
  mlir::Type element;
  int64_t shape[5], stride[5];
  mlir::pto::Layout layout = mlir::pto::Layout::Nd;
};

/// Names of types, in the order of their first use.
class TypeNames {
public:
  /// Names that aliases must not take (functions of the module).
  void reserve(llvm::StringRef name) { taken_.insert(name); }

  /// Alias of `Tile<…>`, in the space of its type if `space` is empty; nullopt when the element
  /// type has no C++ name.
  std::optional<llvm::StringRef> tile(mlir::pto::TileBufType type, llvm::StringRef space = "");
  llvm::StringRef global(const GlobalShape &shape);
  /// Alias of `TPipe<arguments>`.
  llvm::StringRef pipe(llvm::StringRef stem, llvm::StringRef arguments);
  /// Struct of the given members; nullopt when one of them has no C++ name.
  std::optional<llvm::StringRef> structure(mlir::pto::StructType type);

  /// Any other type of a value: scalars, pointers, arrays of event ids, sessions. Tiles and structs
  /// too.
  std::optional<std::string> value(mlir::Type type);

  /// The declarations, ready to print.
  llvm::ArrayRef<std::string> declarations() const { return declarations_; }

private:
  llvm::StringRef add(llvm::StringRef definition, llvm::StringRef stem);
  std::string unique(llvm::StringRef stem);

  llvm::StringSet<> taken_;
  llvm::StringMap<std::string> names_; // definition -> alias
  llvm::DenseMap<mlir::Type, llvm::StringRef> ofType_;
  std::vector<std::string> declarations_;
};

} // namespace ptoas::cpp

#endif // PTOAS_LIB_TARGET_CPP_CPPNAMES_H
