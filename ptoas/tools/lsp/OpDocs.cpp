//===- OpDocs.cpp - documentation of ops, from their records ----------------===//
#include "OpDocs.h"
#include "llvm/ADT/StringMap.h"

llvm::StringRef ptoas::getOpDocumentation(llvm::StringRef name) {
  static const llvm::StringMap<llvm::StringRef> texts = {
#define PTO_DOC(op, text) {op, text},
#include "OpDocs.inc"
  };
  return texts.lookup(name);
}
