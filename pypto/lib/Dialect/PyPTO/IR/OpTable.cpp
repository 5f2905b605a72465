//===- OpTable.cpp - look-ups in the generated op table -------------------===//
#include "pypto/Dialect/PyPTO/IR/OpTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace pypto {
namespace {
#include "pypto/Dialect/PyPTO/IR/OpTable.inc"
} // namespace

llvm::ArrayRef<OpRow> allOps() { return opRows; }
llvm::ArrayRef<PyEnumRow> allPyEnums() { return enumRows; }

const OpRow *findOp(llvm::StringRef opName) {
  static const llvm::StringMap<const OpRow *> byName = [] {
    llvm::StringMap<const OpRow *> map;
    for (const OpRow &row : opRows)
      map[row.name.drop_front(sizeof("pypto.") - 1)] = &row;
    return map;
  }();
  opName.consume_front("pypto.");
  return byName.lookup(opName);
}

llvm::ArrayRef<SignatureRow> findSignatures(llvm::StringRef pythonName) {
  // The rows are sorted by name in byte order.
  auto [first, last] =
      std::equal_range(std::begin(signatureRows), std::end(signatureRows), pythonName,
                       [](const auto &a, const auto &b) {
                         if constexpr (std::is_same_v<std::decay_t<decltype(a)>, SignatureRow>)
                           return llvm::StringRef(a.pythonName) < llvm::StringRef(b);
                         else
                           return llvm::StringRef(a) < llvm::StringRef(b.pythonName);
                       });
  return llvm::ArrayRef(first, last);
}

const PyEnumRow *findPyEnum(llvm::StringRef name) {
  for (const PyEnumRow &row : enumRows)
    if (row.name == name)
      return &row;
  return nullptr;
}

} // namespace pypto
