//===- PlaceText.cpp - a place in a file, as running kernels name it ------===//
#include "ptoas/Dialect/PTO/IR/PlaceText.h"

using namespace mlir;

std::string mlir::pto::placeOf(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
           std::to_string(file.getColumn());
    return WalkResult::interrupt();
  });
  return text.empty() ? "?" : text;
}
