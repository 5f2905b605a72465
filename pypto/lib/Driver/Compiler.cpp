//===- Compiler.cpp - from a Python program to machine code ---------------===//
#include "pypto/Driver/Compiler.h"
#include "ContextPool.h"
#include "Describe.h"
#include "Diagnostics.h"
#include "KernelCpp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Target/Native/Native.h"
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"
#include "pypto/Importer/Importer.h"
#include "pypto/Transforms/EntryContract.h"
#include "pypto/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;

namespace pypto {
namespace {

class Compilation {
public:
  Compilation(MLIRContext &context, const Program &program, const std::vector<ArgSpec> &args,
              const CompileOptions &options, CompileResult &result)
      : context(context), program(program), args(args), options(options), result(result) {}

  void run() {
    ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      result.diagnostics.push_back(convert(diagnostic, kind));
      failures += result.diagnostics.back().kind != ErrorKind::Warning;
      return success();
    });
    OwningOpRef<ModuleOp> module;
    LogicalResult imported = stage("import", [&] {
      module =
          importProgram(context, program, args, options, result.diagnostics, &result.bakeScalars);
      return success(bool(module));
    });
    if (failed(imported))
      return;
    (*module)->setAttr(
        "pto.target_arch",
        StringAttr::get(&context, StringRef(options.platform).starts_with("a5") ? "a5" : "a3"));
    describeEntries(*module);
    dump("import", *module);
    if (options.importOnly) {
      result.ok = true;
      return;
    }
    kind = ErrorKind::InvalidOperation;
    if (failed(stage("returns", [&] { return checkEntryReturns(*module); })))
      return;
    if (failed(stage(
            "outline", [&] { return outlineScopes(*module); }, *module)) ||
        failed(stage(
            "directions", [&] { return resolveDirections(*module); }, *module)) ||
        (options.kernelContract &&
         failed(stage("contract",
                      [&] { return checkKernelContract(*module, options.hostBuildGraph); }))) ||
        failed(stage("reads", [&] { return checkUnwrittenReads(*module); })) ||
        failed(stage(
            "tile", [&] { return lowerTensorToTile(*module); }, *module)) ||
        failed(stage("layouts", [&] { return checkBlockedLayouts(*module); })) ||
        failed(stage("spaces", [&] { return inferMemorySpaces(*module); }, *module)))
      return;
    kind = ErrorKind::Value;
    if (failed(stage("capacity", [&] { return checkCapacity(*module, options.platform); })))
      return;
    kind = ErrorKind::InvalidOperation;
    if (options.emitPto)
      writeText(*module);
    describeLowered(*module);
    if (failed(stage("orchestration", [&] { return lowerOrchestration(*module); })) ||
        failed(stage("pto", [&] { return lowerToPTO(*module, {}); }, *module)))
      return;
    if (options.emitLowered)
      keepLowered(*module);
    if (options.lowerOnly) {
      result.ok = true;
      return;
    }
    kind = ErrorKind::Internal;
    ptoas::native::Options native;
    native.fuse = options.fuse;
    native.check = options.check;
    native.reuse = options.reuseMemory;
    LogicalResult compiled = stage("native", [&] {
      auto object = ptoas::native::compileToSharedObject(*module, native);
      if (succeeded(object))
        result.unit.sharedObject = std::move(*object);
      return success(succeeded(object));
    });
    if (failed(compiled)) {
      keepReproducer(*module);
      return;
    }
    for (CompiledUnit &other : result.others)
      other.sharedObject = result.unit.sharedObject;
    result.ok = failures == 0;
  }

private:
  template <typename Step> LogicalResult stage(const char *name, Step step, ModuleOp module = {}) {
    auto start = std::chrono::steady_clock::now();
    LogicalResult done = step();
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    result.unit.stageMilliseconds.push_back({name, took.count()});
    if (succeeded(done) && module)
      dump(name, module);
    if (failed(done) && failures == 0 &&
        llvm::none_of(result.diagnostics,
                      [](const Diagnostic &d) { return d.kind != ErrorKind::Warning; }) &&
        result.bakeScalars.empty()) {
      Diagnostic silent;
      silent.kind = ErrorKind::Internal;
      silent.message = std::string("the step '") + name + "' failed without saying why";
      result.diagnostics.push_back(silent);
    }
    return done;
  }

  void dump(const char *name, ModuleOp module) {
    if (!options.emitDumps)
      return;
    std::string text;
    llvm::raw_string_ostream out(text);
    OpPrintingFlags flags;
    flags.enableDebugInfo(false);
    module.print(out, flags);
    result.unit.dumps.push_back({name, text});
  }

  void describeEntries(ModuleOp module) {
    bool first = true;
    for (auto func : module.getOps<func::FuncOp>()) {
      auto type = func->getAttrOfType<StringAttr>("pypto.func_type");
      if (type && (type == "InCore" || type == "AIC" || type == "AIV")) {
        result.unit.kernels.push_back(func.getName().str());
        continue;
      }
      if (!func->hasAttr("pypto.entry"))
        continue;
      CompiledUnit unit;
      unit.name = func.getName().str();
      unit.entrySymbol = func.getName().str();
      unit.params = describeParameters(func);
      for (int64_t index : returnLineage(func))
        unit.returns.push_back(index);
      if (first) {
        unit.stageMilliseconds = result.unit.stageMilliseconds;
        unit.kernels = result.unit.kernels;
        result.unit = std::move(unit);
      } else {
        result.others.push_back(std::move(unit));
      }
      first = false;
    }
  }

  /// A kernel as .pto text, in a module of its own, and as C++.
  struct Text {
    std::string pto, cpp, problem;
  };

  /// Gives a value of printed IR another name; MLIR prints none of its own.
  static void rename(std::string &text, const std::string &from, const std::string &to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      size_t end = at + from.size();
      bool whole = end == text.size() || !llvm::isDigit(text[end]);
      if (whole)
        text.replace(at, from.size(), to);
      at += whole ? to.size() : from.size();
    }
  }

  static std::string textOf(ModuleOp module,
                            ArrayRef<std::pair<unsigned, std::string>> argumentNames) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    OpPrintingFlags flags;
    flags.enableDebugInfo(true);
    module.print(stream, flags);
    text += "\n";
    for (auto &[number, name] : argumentNames)
      rename(text, "%arg" + std::to_string(number), "%" + name);
    return text;
  }

  std::map<std::string, Text> textsOf(ModuleOp module, bool tight) {
    std::map<std::string, Text> texts;
    OwningOpRef<ModuleOp> copy = module.clone();
    PtoOptions form;
    form.textForm = true;
    form.a5 = StringRef(options.platform).starts_with("a5");
    form.reuseOperands = tight;
    if (failed(tileMatmulL0(*copy, tight)) || failed(lowerToPTO(*copy, form)))
      return texts;
    StringRef arch = form.a5 ? "a5" : "a2a3";
    for (auto func : copy->getOps<func::FuncOp>()) {
      auto type = func->getAttrOfType<StringAttr>("pypto.func_type");
      if (!type || (type != "InCore" && type != "AIC" && type != "AIV"))
        continue;
      OwningOpRef<ModuleOp> single = ModuleOp::create(module.getLoc());
      (*single)->setAttr("pto.target_arch", StringAttr::get(&context, arch));
      auto body = cast<func::FuncOp>(func->clone());
      body->removeAttr("pypto.func_type");
      auto wrapper = body->getAttrOfType<StringAttr>("pypto.cpp_entry");
      body->removeAttr("pypto.cpp_entry");
      body.setVisibility(SymbolTable::Visibility::Public);
      single->push_back(body);
      SmallVector<std::pair<unsigned, std::string>> names;
      for (unsigned i = 0; i < body.getNumArguments(); ++i)
        if (Attribute name = body.removeArgAttr(i, "pypto.name"))
          names.push_back({i, cast<StringAttr>(name).str()});
      Text &text = texts[func.getName().str()];
      text.pto = textOf(*single, names);
      if (!placeTiles(*single, text.problem))
        continue;
      if (options.bakeAddresses)
        text.pto = textOf(*single, names);
      text.cpp =
          kernelCpp(*single, func.getName(), wrapper ? wrapper.getValue() : "", text.problem);
    }
    return texts;
  }

  void writeText(ModuleOp module) {
    std::map<std::string, Text> texts = textsOf(module, /*tight=*/false), tighter;
    // The assembler's planner shares no bytes within an op. What it refuses is written again with
    // operands reused; the plain form reads better and leaves its planner more room.
    if (llvm::any_of(texts, [](auto &entry) { return entry.second.cpp.empty(); }))
      tighter = textsOf(module, /*tight=*/true);
    for (auto &[name, text] : texts) {
      auto found = tighter.find(name);
      bool better = text.cpp.empty() && found != tighter.end() && !found->second.cpp.empty();
      const Text &chosen = better ? found->second : text;
      result.unit.pto[name] = chosen.pto;
      if (chosen.cpp.empty())
        result.unit.cppProblems[name] = chosen.problem;
      else
        result.unit.cpp[name] = chosen.cpp;
    }
  }

  template <typename Use> void eachUnit(ModuleOp module, Use use) {
    for (auto func : module.getOps<func::FuncOp>()) {
      if (!isEntry(func))
        continue;
      if (func.getName() == result.unit.name)
        use(result.unit, func);
      for (CompiledUnit &other : result.others)
        if (func.getName() == other.name)
          use(other, func);
    }
  }

  /// Entries as the code takes them; their kernels.
  void describeLowered(ModuleOp module) {
    eachUnit(module, [](CompiledUnit &unit, func::FuncOp entry) {
      unit.loweredParams = describeParameters(entry, /*lowered=*/true);
      unit.kernelDescriptions = describeKernels(entry);
    });
  }

  /// The program before code generation, with its places: traces and errors name them.
  void keepLowered(ModuleOp module) {
    llvm::raw_string_ostream out(result.unit.lowered);
    OpPrintingFlags flags;
    flags.enableDebugInfo(true);
    flags.assumeVerified();
    module.print(out, flags);
    out << "\n";
    for (CompiledUnit &other : result.others)
      other.lowered = result.unit.lowered;
  }

  /// The module that the code generator failed on. The caller decides where it is kept.
  void keepReproducer(ModuleOp module) {
    llvm::raw_string_ostream out(result.reproducer);
    module.print(out);
  }

  MLIRContext &context;
  const Program &program;
  const std::vector<ArgSpec> &args;
  const CompileOptions &options;
  CompileResult &result;
  ErrorKind kind = ErrorKind::InvalidOperation;
  int failures = 0;
};

} // namespace

CompileResult compileLowered(std::string_view text, const CompileOptions &options) {
  CompileResult result;
  ContextPool::Lease context = ContextPool::take();
  ScopedDiagnosticHandler handler(&*context, [&](mlir::Diagnostic &diagnostic) {
    result.diagnostics.push_back(convert(diagnostic, ErrorKind::Internal));
    return success();
  });
  // Records of kernels take the addresses of functions of the func dialect, which the verifier of
  // globals refuses; functions are verified one by one.
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      StringRef(text), ParserConfig(&*context, /*verifyAfterParse=*/false));
  if (!module)
    return result;
  for (auto func : module->getOps<func::FuncOp>())
    if (failed(verify(func)))
      return result;
  ptoas::native::Options native;
  native.fuse = options.fuse;
  native.check = options.check;
  native.reuse = options.reuseMemory;
  auto object = ptoas::native::compileToSharedObject(*module, native);
  result.ok = succeeded(object);
  if (result.ok)
    result.unit.sharedObject = std::move(*object);
  return result;
}

CompileResult compile(const Program &program, const std::vector<ArgSpec> &args,
                      const CompileOptions &options) {
  CompileResult result;
  ContextPool::Lease context = ContextPool::take();
  Compilation(*context, program, args, options, result).run();
  return result;
}

} // namespace pypto
