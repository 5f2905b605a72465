//===- EarlierNames.cpp - ops under the names of earlier versions ----------===//
//
// An op that has only changed its name is read under the old one; a remark names the
// new one. Ops whose form changed as well have records of their own.
//
//===----------------------------------------------------------------------===//
#include "OpSupport.h"

using namespace mlir;
using namespace mlir::pto;

template <typename OpT>
static ParseResult parseRenamed(OpAsmParser &parser, OperationState &result) {
  std::string old = result.name.getStringRef().str();
  parser.getContext()->getDiagEngine().emit(parser.getEncodedSourceLoc(parser.getNameLoc()),
                                            DiagnosticSeverity::Remark)
      << "'" << old << "' is an earlier name of '" << OpT::getOperationName() << "'";
  result.name = OperationName(OpT::getOperationName(), parser.getContext());
  return OpT::parse(parser, result);
}

// Forms of 0.27 in which a tile is a memref; no producer writes them, upstream's own tests do.
static ParseResult refuseInternal(OpAsmParser &parser, OperationState &result) {
  return parser.emitError(parser.getNameLoc())
         << "'" << result.name << "' is an internal form of version 0.27, in which tiles were "
         << "memrefs; write the tile as !pto.tile_buf with pto.alloc_tile or pto.declare_tile";
}

std::optional<Dialect::ParseOpHook> PTODialect::getParseOperationHook(StringRef name) const {
  using Hook = ParseResult (*)(OpAsmParser &, OperationState &);
  static const std::pair<StringLiteral, Hook> names[] = {
      {"pto.build_async_session", parseRenamed<CommBuildAsyncSessionOp>},
      {"pto.tput_async", parseRenamed<CommTPutAsyncOp>},
      {"pto.tget_async", parseRenamed<CommTGetAsyncOp>},
      {"pto.wait_async_event", parseRenamed<CommWaitAsyncEventOp>},
      {"pto.test_async_event", parseRenamed<CommTestAsyncEventOp>},
      {"pto.tstore.fp", parseRenamed<TStoreFpOp>},
      {"pto.bind_tile", refuseInternal},
      {"pto.pointer_cast", refuseInternal},
      {"pto.declare_tile_memref", refuseInternal},
  };
  for (auto &[old, hook] : names)
    if (name == old)
      return ParseOpHook(hook);
  return std::nullopt;
}
