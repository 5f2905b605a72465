//===- PTOInterfaces.td - interfaces of `pto` ops ----------*- tablegen -*-===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOINTERFACES_TD
#define PTOAS_DIALECT_PTO_IR_PTOINTERFACES_TD

include "mlir/IR/OpBase.td"

def PTO_PipeOpInterface : OpInterface<"PipeOpInterface"> {
  let cppNamespace = "::mlir::pto";
  let description = "An op that a hardware queue executes.";
  let methods = [InterfaceMethod<"The queue.", "::mlir::pto::PIPE", "getPipe">];
}

def PTO_TileOpInterface : OpInterface<"TileOpInterface"> {
  let cppNamespace = "::mlir::pto";
  let description = [{
    An op of the tile instruction set. Operands are grouped by the specs of its
    `TileOpInfo`, in ODS order.
  }];
  let methods = [
    InterfaceMethod<"The generated facts of the op.", "const ::mlir::pto::TileOpInfo &", "getTileOpInfo">,
    InterfaceMethod<"Values of the operand with spec index `i` (none when it is absent).",
                    "::mlir::OperandRange", "getSpecOperands", (ins "unsigned":$i), [{
      auto [start, size] = $_op.getODSOperandIndexAndLength(i);
      return $_op->getOperands().slice(start, size);
    }]>
  ];
  let extraSharedClassDeclaration = [{
    /// Operands of the `ins` group, without scratch; the `outs` group; scratch.
    ::llvm::SmallVector<::mlir::Value> getIns() { return collect(::mlir::pto::OperandGroup::Ins, false); }
    ::llvm::SmallVector<::mlir::Value> getOuts() { return collect(::mlir::pto::OperandGroup::Outs, false); }
    ::llvm::SmallVector<::mlir::Value> getScratch() { return collect(::mlir::pto::OperandGroup::Ins, true); }
    /// The value of a named operand; null when the op has none or it is absent.
    ::mlir::Value getNamedOperand(::llvm::StringRef name) {
      const auto &info = $_op.getTileOpInfo();
      for (unsigned i = 0; i < info.operands.size(); ++i)
        if (info.operands[i].name == name) {
          auto range = $_op.getSpecOperands(i);
          return range.empty() ? ::mlir::Value() : range.front();
        }
      return {};
    }
    ::llvm::SmallVector<::mlir::Value> collect(::mlir::pto::OperandGroup group, bool scratch) {
      ::llvm::SmallVector<::mlir::Value> values;
      const auto &info = $_op.getTileOpInfo();
      for (unsigned i = 0; i < info.operands.size(); ++i) {
        const auto &spec = info.operands[i];
        if (spec.group == group && (spec.effect == ::mlir::pto::OperandEffect::Scratch) == scratch)
          for (::mlir::Value value : $_op.getSpecOperands(i))
            values.push_back(value);
      }
      return values;
    }
  }];
}

#endif // PTOAS_DIALECT_PTO_IR_PTOINTERFACES_TD
