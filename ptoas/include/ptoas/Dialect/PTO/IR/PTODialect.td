//===- PTODialect.td - the `pto` dialect -------------------*- tablegen -*-===//
#ifndef PTOAS_DIALECT_PTO_IR_PTODIALECT_TD
#define PTOAS_DIALECT_PTO_IR_PTODIALECT_TD

include "mlir/IR/OpBase.td"

def PTO_Dialect : Dialect {
  let name = "pto";
  let cppNamespace = "::mlir::pto";
  let summary = "Tile programs in destination-passing form";
  let description = [{
    The text contract of `.pto` files: tiles are typed on-chip buffers with a
    physical shape and a valid shape, tile instructions read their `ins` and
    write their `outs`, views describe windows of global memory, and flags,
    barriers and FIFOs order the hardware queues ("pipes").
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Knows the type names of earlier versions as well.
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
    void registerTypes();
    void registerAttributes();
    void registerOperations();
    /// Reads ops under the names that they had in earlier versions, with a remark.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
  }];
}

#endif // PTOAS_DIALECT_PTO_IR_PTODIALECT_TD
