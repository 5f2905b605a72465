//===- VariableNames.h - names of the variables of a function -------------===//
//
// A value keeps the name that the text gives it (in its location, see `keepNames` of the
// assembler); one without is called by what computes it. All variables start with a small
// letter, as no instruction, enumerator, macro or type of the headers does, and none is
// called like another one that can be seen from there.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_TARGET_CPP_VARIABLENAMES_H
#define PTOAS_LIB_TARGET_CPP_VARIABLENAMES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace ptoas::cpp {

/// What a value would be called if nothing else had the name.
std::string wishedName(mlir::Value value);

class VariableNames {
public:
  /// `functions`: names that the file has given away.
  explicit VariableNames(const llvm::StringSet<> &functions) : functions_(functions) {}

  /// A name that is free here: `wish`, `wish_2`, … `wish` is a C++ identifier.
  std::string take(llvm::StringRef wish);

  /// Names taken until the scope is left are free again behind it.
  void enter() { scopes_.push_back(taken_.size()); }
  void leave();

private:
  struct Taken {
    std::string name, wish;
    unsigned next; // of the wish, before
  };
  const llvm::StringSet<> &functions_;
  llvm::StringSet<> known_;
  llvm::StringMap<unsigned> next_; // number that the next variable of a wish tries
  std::vector<Taken> taken_;
  std::vector<size_t> scopes_;
};

} // namespace ptoas::cpp

#endif // PTOAS_LIB_TARGET_CPP_VARIABLENAMES_H
