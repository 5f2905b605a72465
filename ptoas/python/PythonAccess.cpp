//===- PythonAccess.cpp - modules for Python, as a C interface -------------===//
#include "../lib/Driver/PlainWords.h"
#include "PythonModule.h"
#include "mlir/IR/Diagnostics.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Driver/Bytecode.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
namespace json = llvm::json;

pto_module::pto_module() : context(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  ptoas::registerPtoDialects(registry);
  context.appendDialectRegistry(registry);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
}

std::string pto_module::collect(llvm::function_ref<void()> step) {
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    if (diag.getSeverity() == DiagnosticSeverity::Remark)
      return success();
    llvm::raw_string_ostream os(messages);
    if (auto place = diag.getLocation()->findInstanceOf<FileLineColLoc>())
      os << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn()
         << ": ";
    os << (diag.getSeverity() == DiagnosticSeverity::Error ? "error: " : "warning: ")
       << ptoas::plainWords(diag.str(), /*word=*/"", context) << "\n";
    return success();
  });
  step();
  return messages;
}

PTO_API pto_module *pto_module_parse(const char *bytes, size_t size, const char *name,
                                     const char *arch) {
  auto *handle = new pto_module;
  ptoas::AssemblerOptions options;
  options.keepNames = true;
  if (*arch) {
    options.arch = ptoas::parseArchName(arch);
    if (!options.arch) {
      handle->problem = "unknown architecture, expected a2, a3 or a5\n";
      return handle;
    }
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(StringRef(bytes, size), name),
                             llvm::SMLoc());
  handle->problem = handle->collect(
      [&] { handle->module = ptoas::parseModule(sources, handle->context, options); });
  if (handle->module)
    handle->problem.clear(); // warnings
  else if (handle->problem.empty())
    handle->problem = "the module could not be read\n";
  return handle;
}

PTO_API const char *pto_module_problem(pto_module *handle) { return handle->problem.c_str(); }
PTO_API void pto_module_free(pto_module *handle) { delete handle; }

PTO_API const char *pto_module_text(pto_module *handle, int locations) {
  handle->result.clear();
  llvm::raw_string_ostream os(handle->result);
  handle->module->print(os, OpPrintingFlags().enableDebugInfo(locations != 0));
  os << "\n";
  return handle->result.c_str();
}

PTO_API const char *pto_module_bytecode(pto_module *handle, size_t *size) {
  handle->result = ptoas::writeBytecode(*handle->module);
  *size = handle->result.size();
  return handle->result.data();
}

namespace {
struct Describer {
  int64_t number(Value value) {
    auto [it, isNew] = values.try_emplace(value, types.size());
    if (isNew)
      types.push_back(llvm::to_string(value.getType()));
    return it->second;
  }
  json::Array numbers(ValueRange range) {
    json::Array list;
    for (Value value : range)
      list.push_back(number(value));
    return list;
  }

  json::Object describe(Operation *op) {
    json::Object attributes;
    for (NamedAttribute attr : op->getAttrs())
      attributes[attr.getName().getValue()] = llvm::to_string(attr.getValue());
    json::Array regions;
    for (Region &region : op->getRegions()) {
      json::Array blocks;
      for (Block &block : region) {
        json::Array ops;
        json::Array arguments = numbers(block.getArguments());
        for (Operation &inner : block)
          ops.push_back(describe(&inner));
        blocks.push_back(
            json::Object{{"arguments", std::move(arguments)}, {"ops", std::move(ops)}});
      }
      regions.push_back(std::move(blocks));
    }
    json::Object object{{"name", op->getName().getStringRef()},
                        {"attributes", std::move(attributes)},
                        {"operands", numbers(op->getOperands())},
                        {"results", numbers(op->getResults())},
                        {"regions", std::move(regions)}};
    if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
      object["location"] = json::Array{place.getFilename().getValue(), int64_t(place.getLine()),
                                       int64_t(place.getColumn())};
    return object;
  }

  llvm::DenseMap<Value, int64_t> values;
  json::Array types;
};
} // namespace

PTO_API const char *pto_module_ops(pto_module *handle) {
  Describer describer;
  json::Object module = describer.describe(*handle->module);
  json::Value all =
      json::Object{{"module", std::move(module)}, {"types", std::move(describer.types)}};
  handle->result = llvm::formatv("{0}", all).str();
  return handle->result.c_str();
}

PTO_API const char *pto_module_check(pto_module *handle, unsigned level, int insertSync,
                                     int verifySync) {
  ptoas::AssemblerOptions options;
  options.level = level;
  options.insertSync = insertSync != 0;
  options.verifySync = verifySync != 0;
  bool good = false;
  handle->result =
      handle->collect([&] { good = succeeded(ptoas::checkModule(*handle->module, options)); });
  if (good)
    handle->result.clear();
  else if (handle->result.empty())
    handle->result = "the module breaks a rule of its level\n";
  return handle->result.c_str();
}

PTO_API const char *pto_module_cpp(pto_module *handle, int drain, int locations) {
  ptoas::cpp::Options options;
  options.syncTail = drain != 0;
  options.sourceLocations = locations != 0;
  FailureOr<std::string> source = failure();
  handle->problem =
      handle->collect([&] { source = ptoas::cpp::emitModule(*handle->module, options); });
  if (failed(source)) {
    if (handle->problem.empty())
      handle->problem = "the module has no C++\n";
    return nullptr;
  }
  handle->problem.clear();
  handle->result = std::move(*source);
  return handle->result.c_str();
}

template <typename EnumT> static json::Object wordsOf(StringRef (*stringify)(EnumT)) {
  json::Object words;
  for (uint32_t i = 0; i < 100; ++i)
    if (StringRef word = stringify(static_cast<EnumT>(i)); !word.empty())
      words[word] = int64_t(i);
  return words;
}

PTO_API const char *pto_enums(void) {
  static const std::string text = [] {
    json::Object enums;
#define PTO_ENUM_ATTR(attr, enumClass, mnemonic, angle)                                            \
  enums[#enumClass] = wordsOf<pto::enumClass>(pto::stringify##enumClass);
#include "EnumAttrs.def"
    return llvm::formatv("{0}", json::Value(std::move(enums))).str();
  }();
  return text.c_str();
}
