//===- Assembler.cpp - from `.pto` text to a checked module ---------------===//
#include "ptoas/Driver/Assembler.h"
#include "AffineApply.h"
#include "ArgumentNames.h"
#include "InputLimits.h"
#include "Places.h"
#include "PlainWords.h"
#include "SourceLines.h"
#include "SyntaxErrors.h"
#include "VerifyAll.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include "ptoas/Driver/Bytecode.h"

using namespace mlir;

std::optional<std::string> ptoas::parseArchName(StringRef name) {
  std::string lower = name.lower();
  if (lower == "a2" || lower == "a3" || lower == "a2a3" || lower == "a5")
    return lower;
  return std::nullopt;
}

void ptoas::registerPtoDialects(DialectRegistry &registry) {
  registry.insert<pto::PTODialect, func::FuncDialect, scf::SCFDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, memref::MemRefDialect, affine::AffineDialect,
                  LLVM::LLVMDialect>();
}

OwningOpRef<ModuleOp> ptoas::parseModule(llvm::SourceMgr &sources, MLIRContext &context,
                                         const AssemblerOptions &options) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  // Rules depend on the architecture, so they are checked after the override.
  auto overrideArch = [&](ModuleOp module) {
    if (options.arch)
      module->setAttr("pto.target_arch", StringAttr::get(&context, *options.arch));
  };
  PlainWords words(context, sources);
  OwningOpRef<ModuleOp> module;
  if (isBytecode(buffer->getBuffer())) {
    module = readBytecode(buffer->getBuffer(), buffer->getBufferIdentifier(), context);
    if (module && !isEverythingPlaced(*module))
      placeAsPrinted(*module, sources, (buffer->getBufferIdentifier() + " (decoded)").str());
  } else if (succeeded(checkText(sources, context))) {
    module = parseText(sources, context, overrideArch, options.keepNames);
    if (module) {
      keepLaunchNames(*module, sources);
      noteEarlierTypes(sources, context);
    }
  }
  if (!module)
    return {};
  overrideArch(*module);
  if (failed(verifyAll(*module)) || failed(expandAffineApply(*module)))
    return {};
  noteEarlierForms(*module);
  warnUnknownAttributes(*module);
  warnLoadClauses(*module);
  return module;
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  ptoas::registerPtoDialects(registry);
  return registry;
}

ptoas::SourceFile::SourceFile()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED),
      handler(sources, &context, llvm::errs()) {
  showReadableLines(sources, llvm::errs());
  context.printOpOnDiagnostic(false);
  context.allowUnregisteredDialects();
}

LogicalResult ptoas::SourceFile::open(StringRef path, const AssemblerOptions &options,
                                      std::string &problem) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInput(path, problem);
  if (!buffer) {
    problem = "could not open input file: " + problem;
    return failure();
  }
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  module = parseModule(sources, context, options);
  if (!module)
    problem = "failed to parse or verify " + (path == "-" ? "the input" : path.str());
  return success(bool(module));
}

LogicalResult ptoas::checkModule(ModuleOp module, const AssemblerOptions &options) {
  // Checks do not build on each other, so each of them reports what it finds.
  bool failedAny = false;
  auto check = [&](std::unique_ptr<Pass> pass) {
    PassManager passes(module.getContext());
    passes.enableVerifier(false);
    passes.addPass(std::move(pass));
    failedAny |= failed(passes.run(module));
  };
  pto::CheckLevelOptions level;
  level.level = options.level;
  level.insertSync = options.insertSync;
  check(pto::createCheckLevel(level));
  check(pto::createValidatePipes());
  check(pto::createValidateIntToPtrUses());
  if (failedAny) {
    if (options.inferLayout)
      check(pto::createInferLayout());
    return failure();
  }
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  if (options.preparePasses && failed(options.preparePasses(passes)))
    return failure();
  // C++ has labels; what looks for lifetimes and races knows loops and conditions.
  if (options.level < 3 || options.insertSync || options.verifySync)
    passes.addPass(pto::createStructureControlFlow());
  if (options.inferLayout)
    passes.addPass(pto::createInferLayout());
  passes.addPass(pto::createA5NormalizeTMov());
  if (options.level < 3) {
    passes.addPass(pto::createMaterializeImplicitTmp());
    // Tiles that share bytes need an order too, so flags are inserted behind the plan.
    pto::PlanMemoryOptions plan;
    plan.checkOnly = !options.insertSync && !options.assignAddresses;
    passes.addPass(pto::createPlanMemory(plan));
  }
  if (options.insertSync)
    passes.addPass(pto::createInsertSync());
  if (options.verifySync)
    passes.addPass(pto::createCheckSync());
  return passes.run(module);
}

LogicalResult ptoas::lowerForHost(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(pto::createStructureControlFlow());
  passes.addPass(pto::createLowerFifos());
  return passes.run(module);
}
