//===- PTODialect.cpp - the dialect and its function attributes -----------===//
#include "OpSupport.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pto;

#include "ptoas/Dialect/PTO/IR/PTODialect.cpp.inc"

#include "ptoas/Dialect/PTO/IR/PTOInterfaces.cpp.inc"

void PTODialect::initialize() {
  registerTypes();
  registerAttributes();
  registerOperations();
}

void PTODialect::registerOperations() { registerPTODialectOperations(this); }

Arch mlir::pto::getTargetArch(Operation *op) {
  while (op && !isa<ModuleOp>(op))
    op = op->getParentOp();
  auto name = op ? op->getAttrOfType<StringAttr>("pto.target_arch") : StringAttr();
  return name && name.getValue().lower() == "a5" ? Arch::A5 : Arch::A3;
}

StringRef mlir::pto::getArchName(Arch arch) { return arch == Arch::A5 ? "A5" : "A2/A3"; }

std::optional<int64_t> mlir::pto::getConstantValue(Value value) {
  // The constant may be damaged itself: it is verified on its own, perhaps later.
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (!op || !op->hasTrait<OpTrait::ConstantLike>())
    return std::nullopt;
  auto constant = dyn_cast_or_null<IntegerAttr>(op->getAttr("value"));
  if (!constant || constant.getValue().getBitWidth() > 64)
    return std::nullopt;
  return constant.getValue().getSExtValue();
}

PIPE mlir::pto::getPipeOfEvent(PipeEventType kind) {
  switch (kind) {
  case PipeEventType::TLOAD:
    return PIPE::PIPE_MTE2;
  case PipeEventType::TSTORE_VEC:
    return PIPE::PIPE_MTE3;
  case PipeEventType::TSTORE_ACC:
  case PipeEventType::TMOV_M2S:
  case PipeEventType::TMOV_V2M:
    return PIPE::PIPE_FIX;
  case PipeEventType::TMOV_M2L:
  case PipeEventType::TMOV_M2B:
    return PIPE::PIPE_MTE1;
  case PipeEventType::TMATMUL:
    return PIPE::PIPE_M;
  case PipeEventType::TMOV_M2V:
  case PipeEventType::TVEC:
  case PipeEventType::TVECWAIT_EVENT:
    return PIPE::PIPE_V;
  }
  return PIPE::PIPE_UNASSIGNED;
}

LogicalResult PTODialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (name == "pto.entry") {
    if (!function)
      return op->emitError() << "'pto.entry' belongs on a function";
    if (function.isExternal())
      return op->emitError() << "'pto.entry' on a declaration: an entry needs a body";
    if (function.getNumResults() != 0)
      return op->emitError() << "an entry function must return nothing (void), but it has "
                             << function.getNumResults() << " result(s)";
  }
  if (name == "pto.kernel_kind" && !isa<KernelKindAttr>(attr.getValue()))
    return op->emitError()
           << "'pto.kernel_kind' must be #pto.kernel_kind<cube> or #pto.kernel_kind<vector>";
  if (name == "pto.auto_sync_tail_hint" && !isa<StringAttr>(attr.getValue()))
    return op->emitError() << "'pto.auto_sync_tail_hint' must be a string such as \"barrier-all\"";
  if (name == "pto.target_arch" && !isa<StringAttr>(attr.getValue()))
    return op->emitError() << "'pto.target_arch' must be a string such as \"a2a3\" or \"a5\"";
  if (name == "pto.target_arch") {
    std::string arch = cast<StringAttr>(attr.getValue()).getValue().lower();
    if (arch != "a2" && arch != "a3" && arch != "a2a3" && arch != "a5")
      return op->emitError() << "'pto.target_arch' is " << attr.getValue()
                             << ", expected \"a2\", \"a3\", \"a2a3\" or \"a5\"";
  }
  return success();
}
