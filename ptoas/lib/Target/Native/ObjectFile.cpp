//===- ObjectFile.cpp - LLVM IR to a relocatable object -------------------===//
//
// The emitter writes code that is good already, so the pipeline is three passes:
// promote the few stack slots, share address arithmetic, and hoist what does not
// change out of the loops. An -O2 pipeline costs more than the whole compile may.
// Setting up a TargetMachine costs a millisecond: each thread keeps its last one.
//
//===----------------------------------------------------------------------===//
#include "ObjectFile.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
namespace ptoas::native {

namespace {
struct Machine {
  std::string key;
  std::unique_ptr<TargetMachine> machine;
};

Expected<TargetMachine *> getMachine(const HostTarget &target) {
  thread_local Machine cached;
  std::string key = target.cpu + "|" + target.features;
  if (cached.machine && cached.key == key)
    return cached.machine.get();
  static const bool initialised = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialised;
  Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const Target *llvmTarget = TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return createStringError(error);
  TargetOptions options;
  // The program says where products and sums are contracted (llvm.fma); nowhere else.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  cached.machine.reset(llvmTarget->createTargetMachine(triple, target.cpu, target.features, options,
                                                       Reloc::PIC_, CodeModel::Small,
                                                       CodeGenOptLevel::Less));
  if (!cached.machine)
    return createStringError("no machine for " + key);
  cached.key = key;
  return cached.machine.get();
}

void optimise(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager cgscc;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgscc, modules);
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(createFunctionToLoopPassAdaptor(
      LICMPass(LICMOptions(/*MssaOptCap=*/0, /*MssaNoAccForPromotionCap=*/0,
                           /*AllowSpeculation=*/true)),
      /*UseMemorySSA=*/true));
  ModulePassManager all;
  all.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

/// Stores under a mask of one constant lane become stores of the element: LLVM 22 makes them itself
/// when it selects instructions, but where a narrowing goes before, it stores the wide element and
/// so the bytes behind it.
void storeSingleLanes(Module &module) {
  for (Function &function : module)
    for (Instruction &i : make_early_inc_range(instructions(function))) {
      auto *store = dyn_cast<IntrinsicInst>(&i);
      if (!store || store->getIntrinsicID() != Intrinsic::masked_store)
        continue;
      auto *mask = dyn_cast<Constant>(store->getArgOperand(2));
      auto *type = dyn_cast<FixedVectorType>(store->getArgOperand(0)->getType());
      if (!mask || !type)
        continue;
      SmallVector<unsigned, 64> lanes;
      for (unsigned lane = 0; lane < type->getNumElements(); ++lane)
        if (Constant *on = mask->getAggregateElement(lane); !on || !on->isNullValue())
          lanes.push_back(lane);
      if (lanes.size() != 1)
        continue;
      IRBuilder<> b(store);
      Value *pointer =
          b.CreateConstInBoundsGEP1_64(type->getElementType(), store->getArgOperand(1), lanes[0]);
      b.CreateAlignedStore(b.CreateExtractElement(store->getArgOperand(0), lanes[0]), pointer,
                           store->getParamAlign(1).valueOrOne());
      store->eraseFromParent();
    }
}

void dump(Module &module, TargetMachine &machine, StringRef dir, StringRef stage) {
  std::error_code error;
  raw_fd_ostream ir((dir + "/" + stage + ".ll").str(), error);
  if (!error)
    module.print(ir, nullptr);
}
} // namespace

Error prepareModule(Module &module, const HostTarget &target) {
  Expected<TargetMachine *> machine = getMachine(target);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  return Error::success();
}

Error emitObject(Module &module, const HostTarget &target, SmallVectorImpl<char> &object,
                 StringRef dumpDir) {
  Expected<TargetMachine *> machine = getMachine(target);
  if (!machine)
    return machine.takeError();
  if (!dumpDir.empty())
    dump(module, **machine, dumpDir, "emitted");
#ifndef NDEBUG
  std::string broken;
  raw_string_ostream brokenStream(broken);
  if (verifyModule(module, &brokenStream))
    return createStringError("emitted IR is invalid: " + broken);
#endif
  optimise(module, **machine);
  storeSingleLanes(module);
  if (!dumpDir.empty()) {
    dump(module, **machine, dumpDir, "optimised");
    std::error_code error;
    raw_fd_ostream assembly((dumpDir + "/kernel.s").str(), error);
    if (!error) {
      // Code generation changes the module: assemble a listing from a copy of the text.
      legacy::PassManager listing;
      std::unique_ptr<Module> copy = CloneModule(module);
      if (!(*machine)->addPassesToEmitFile(listing, assembly, nullptr,
                                           CodeGenFileType::AssemblyFile))
        listing.run(*copy);
    }
  }
  raw_svector_ostream stream(object);
  legacy::PassManager emit;
  if ((*machine)->addPassesToEmitFile(emit, stream, nullptr, CodeGenFileType::ObjectFile,
                                      /*DisableVerify=*/true))
    return createStringError("the target cannot emit objects");
  emit.run(module);
  return Error::success();
}

} // namespace ptoas::native
