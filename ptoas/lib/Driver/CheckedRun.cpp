//===- CheckedRun.cpp - what a checked run asks of a program beforehand ---===//
#include "CheckedRun.h"
#include "mlir/IR/Matchers.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Dialect/PTO/Transforms/MemoryPlan.h"
#include "ptoas/Driver/Assembler.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace {
struct Placement {
  Value address;
  pto::TileBufType type;
};
} // namespace

static std::optional<Placement> placementOf(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return Placement{alloc.getAddr(), alloc.getResult().getType()};
  if (auto alloc = dyn_cast<pto::AllocMultiTileOp>(op))
    return Placement{alloc.getAddr(), alloc.getResult().getType().getSlotType()};
  if (auto assign = dyn_cast<pto::TAssignOp>(op))
    return Placement{assign.getAddr(), assign.getResult().getType()};
  return std::nullopt;
}

LogicalResult ptoas::checkMemory(ModuleOp module) {
  bool isPlaced = false;
  llvm::SmallDenseSet<Location> misplaced;
  module.walk([&](Operation *op) {
    auto reserve = dyn_cast<pto::ReserveBufferOp>(op);
    isPlaced |= reserve && !reserve.getAuto_();
    std::optional<Placement> placement = placementOf(op);
    if (!placement || !placement->address)
      return;
    isPlaced = true;
    APInt address;
    int64_t alignment = pto::getAlignment(placement->type.getSpace());
    if (!matchPattern(placement->address, m_ConstantInt(&address)) ||
        address.getSExtValue() % alignment == 0)
      return;
    misplaced.insert(op->getLoc());
    op->emitOpError() << "places a tile in "
                      << pto::stringifyAddressSpace(placement->type.getSpace()) << " at address "
                      << address.getSExtValue() << ", which must be a multiple of " << alignment;
  });
  // The assembler warns of such addresses: they are said already.
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning &&
                   misplaced.contains(diagnostic.getLocation()));
  });
  OwningOpRef<ModuleOp> copy = module.clone();
  AssemblerOptions options;
  options.level = isPlaced ? 3 : 2;
  options.inferLayout = false;
  return success(succeeded(checkModule(*copy, options)) && misplaced.empty());
}

static bool isNameSign(char c) { return llvm::isAlnum(c) || StringRef("_$.-").contains(c); }

// `%name =` in front of the op, where its place is in the text; without one nothing is kept.
void ptoas::keepTileNames(ModuleOp module, llvm::SourceMgr &sources) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  module.walk([&](Operation *op) {
    auto where = dyn_cast<FileLineColLoc>(op->getLoc());
    if (op->getNumResults() != 1 || !where ||
        !isa<pto::TileBufType, pto::MultiTileBufType>(op->getResult(0).getType()) ||
        where.getFilename().getValue() != buffer->getBufferIdentifier())
      return;
    llvm::SMLoc loc = sources.FindLocForLineAndColumn(sources.getMainFileID(), where.getLine(),
                                                      where.getColumn());
    if (!loc.isValid() || loc.getPointer() > buffer->getBufferEnd())
      return;
    StringRef before(buffer->getBufferStart(), loc.getPointer() - buffer->getBufferStart());
    // Places of ops are those of their names, or of their results.
    StringRef behind(loc.getPointer(), buffer->getBufferEnd() - loc.getPointer());
    if (before.rtrim().consume_back("=") || behind.starts_with("%")) {
      if (behind.starts_with("%")) {
        before = behind.drop_front().take_while(isNameSign);
      } else {
        before = before.rtrim();
        before.consume_back("=");
        before = before.rtrim();
        size_t start = before.rfind('%');
        if (start == StringRef::npos)
          return;
        before = before.drop_front(start + 1);
      }
      if (!before.empty() && llvm::all_of(before, isNameSign))
        op->setAttr("pypto.name", StringAttr::get(op->getContext(), before));
    }
  });
}
