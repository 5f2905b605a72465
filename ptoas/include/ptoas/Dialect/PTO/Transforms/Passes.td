//===- Passes.td - passes over the `pto` dialect -----------*- tablegen -*-===//
#ifndef PTOAS_DIALECT_PTO_TRANSFORMS_PASSES_TD
#define PTOAS_DIALECT_PTO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckLevel : Pass<"pto-check-level", "::mlir::ModuleOp"> {
  let summary = "Check what the assembly level asks for: addresses, scratch tiles, entries.";
  let options = [
    Option<"level", "level", "unsigned", "2", "assembly level, 1 to 3">,
    Option<"insertSync", "insert-sync", "bool", "false", "flags will be inserted">
  ];
}

def StructureControlFlow : Pass<"pto-structure-control-flow", "::mlir::ModuleOp"> {
  let summary = "Turn branches between blocks, switches and regions that run once into scf.for, scf.if and scf.while.";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def InferLayout : Pass<"pto-infer-layout", "::mlir::ModuleOp"> {
  let summary = "Find the layout of each tensor view from its strides, and check the given one.";
}

def A5NormalizeTMov : Pass<"pto-a5-normalize-tmov", "::mlir::ModuleOp"> {
  let summary = "On A5, move columns (col_major, unboxed) as rows of the transposed shape: vec to vec moves are row-major there.";
}

def ValidateIntToPtrUses : Pass<"pto-validate-inttoptr-uses", "::mlir::ModuleOp"> {
  let summary = "Check that pointers made from integers are only used to reach global memory.";
}

def MaterializeImplicitTmp : Pass<"pto-materialize-implicit-tmp", "::mlir::ModuleOp"> {
  let summary = "Give instructions that need a scratch tile and name none a tile of their own (below level3).";
}

def ValidatePipes : Pass<"pto-validate-pipes", "::mlir::ModuleOp"> {
  let summary = "Check that the ends of each cube-vector FIFO agree.";
}

def PlanMemory : Pass<"pto-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every tile an address in its space, such that tiles alive at once do not overlap.";
  let options = [Option<"checkOnly", "check-only", "bool", "false", "leave the module as it is">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LowerFifos : Pass<"pto-lower-fifos", "::mlir::ModuleOp"> {
  let summary = "Turn the FIFOs between cube and vector functions into slots of memory and calls of a run-time library.";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
}

def InsertSync : Pass<"pto-insert-sync", "::mlir::ModuleOp"> {
  let summary = "Put flags and barriers between instructions that would race.";
}

def CheckSync : Pass<"pto-check-sync", "::mlir::ModuleOp"> {
  let summary = "Report instructions of different queues that touch the same bytes without an order.";
}

#endif // PTOAS_DIALECT_PTO_TRANSFORMS_PASSES_TD
