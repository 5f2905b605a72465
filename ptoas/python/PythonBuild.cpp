//===- PythonBuild.cpp - modules built op by op, as a C interface ----------===//
#include "../lib/Driver/TextFaults.h"
#include "../lib/Driver/VerifyAll.h"
#include "PythonModule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "ptoas/Driver/Assembler.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
namespace json = llvm::json;

namespace {
/// One request: reads its fields, says at its place what is wrong with them.
class Request {
public:
  Request(pto_module &handle, StringRef text)
      : handle(handle), loc(UnknownLoc::get(&handle.context)) {
    llvm::Expected<json::Value> parsed = json::parse(text);
    if (parsed && parsed->getAsObject())
      fields = std::move(*parsed->getAsObject());
    else
      llvm::consumeError(parsed.takeError());
    if (const json::Array *place = fields.getArray("location"); place && place->size() == 3)
      loc = FileLineColLoc::get(&handle.context, (*place)[0].getAsString().value_or("<module>"),
                                (*place)[1].getAsInteger().value_or(0),
                                (*place)[2].getAsInteger().value_or(0));
  }

  InFlightDiagnostic fail() const { return emitError(loc); }

  /// Null, with an error, when `text` is no type.
  Type type(StringRef text) const {
    return parse([&] { return parseType(text, &handle.context); }, "type", text);
  }

  LogicalResult types(const json::Array &texts, SmallVectorImpl<Type> &found) const {
    for (const json::Value &text : texts) {
      found.push_back(type(text.getAsString().value_or("")));
      if (!found.back())
        return failure();
    }
    return success();
  }

  LogicalResult attributes(NamedAttrList &found) const {
    const json::Object *texts = fields.getObject("attributes");
    if (!texts)
      return success();
    for (const auto &[name, value] : *texts) {
      StringRef text = value.getAsString().value_or("");
      Attribute attr = parse([&] { return parseAttribute(text, &handle.context); }, "attribute",
                             text, ("attribute '" + StringRef(name) + "': ").str());
      if (!attr)
        return failure();
      found.set(StringRef(name), attr);
    }
    return success();
  }

  LogicalResult operands(SmallVectorImpl<Value> &found) const {
    const json::Array *numbers = fields.getArray("operands");
    for (size_t i = 0; numbers && i < numbers->size(); ++i) {
      int64_t number = (*numbers)[i].getAsInteger().value_or(-1);
      if (number < 0 || number >= static_cast<int64_t>(handle.values.size()))
        return fail() << "operand " << i << " is no value of this module";
      found.push_back(handle.values[number]);
    }
    return success();
  }

  json::Object fields;
  pto_module &handle;
  Location loc;

private:
  /// Reads `text`, which is to be a `what`, with MLIR's parser if that survives it. The parser
  /// reports places in a text that nobody sees; its words are repeated at the place of the request.
  template <typename ParseFn>
  auto parse(ParseFn read, StringRef what, StringRef text, StringRef whose = "") const
      -> decltype(read()) {
    decltype(read()) found;
    if (ptoas::TextFault fault = ptoas::findTextFault(text); fault.place)
      return fail() << whose << fault.what, found;
    std::string words;
    {
      ScopedDiagnosticHandler handler(&handle.context, [&](Diagnostic &diag) {
        if (words.empty())
          words = diag.str();
        return success();
      });
      found = read();
    }
    if (!found)
      fail() << "'" << text << "' is no " << what << (words.empty() ? "" : ": ") << words;
    return found;
  }
};
} // namespace

static json::Object describe(pto_module &handle, Value value) {
  handle.values.push_back(value);
  return json::Object{{"number", int64_t(handle.values.size() - 1)},
                      {"type", llvm::to_string(value.getType())}};
}

static LogicalResult inferTypes(const Request &request, OperationState &state) {
  RegisteredOperationName info = *state.name.getRegisteredInfo();
  auto *inference = info.getInterface<InferTypeOpInterface>();
  if (!inference)
    return success();
  auto refuse = [&](StringRef why) {
    return request.fail() << "'" << state.name.getStringRef() << "' op " << why
                          << "; give the types of its results";
  };
  // Those of memref look at operands that nobody has checked yet.
  if (state.name.getDialectNamespace() == "memref")
    return refuse("does not infer types");
  DictionaryAttr attributes = state.attributes.getDictionary(&request.handle.context);
  SmallVector<std::max_align_t> storage(
      llvm::divideCeil(info.getOpPropertyByteSize(), sizeof(std::max_align_t)));
  OpaqueProperties properties(static_cast<void *>(storage.empty() ? nullptr : storage.data()));
  if (properties)
    info.initOpProperties(properties, OpaqueProperties(nullptr));
  llvm::scope_exit clear([&] {
    if (properties)
      info.destroyOpProperties(properties);
  });
  if (properties && failed(info.setOpPropertiesFromAttribute(state.name, properties, attributes,
                                                             [&] { return request.fail(); })))
    return failure();
  if (failed(inference->inferReturnTypes(&request.handle.context, state.location, state.operands,
                                         attributes, properties, {}, state.types)))
    return refuse("has operands or attributes that tell no types");
  return success();
}

/// The op of the request, behind what has been built, or null with an error.
static Operation *build(const Request &request) {
  pto_module &handle = request.handle;
  StringRef name = request.fields.getString("name").value_or("");
  handle.context.getOrLoadDialect(name.split('.').first);
  OperationState state(request.loc, OperationName(name, &handle.context));
  auto info = state.name.getRegisteredInfo();
  if (!info)
    return request.fail() << "there is no op '" << name << "'", nullptr;
  constexpr int64_t kMaxRegions = 1000;
  int64_t regions = request.fields.getInteger("regions").value_or(0);
  if (regions < 0 || regions > kMaxRegions)
    return request.fail() << "'" << name << "' op has 0 to " << kMaxRegions << " regions, not "
                          << regions,
           nullptr;
  SmallVector<Value> operands;
  if (failed(request.operands(operands)) || failed(request.attributes(state.attributes)))
    return nullptr;
  state.addOperands(operands);
  NamedAttrList inherent = state.attributes;
  if (failed(info->verifyInherentAttrs(inherent,
                                       [&] { return request.fail() << "'" << name << "' op "; })))
    return nullptr;
  if (const json::Array *types = request.fields.getArray("types")) {
    SmallVector<Type> found;
    if (failed(request.types(*types, found)))
      return nullptr;
    state.addTypes(found);
  } else if (failed(inferTypes(request, state))) {
    return nullptr;
  }
  for (int64_t i = 0; i < regions; ++i)
    state.addRegion();
  Operation *op = Operation::create(state);
  OpBuilder builder(&handle.context);
  builder.restoreInsertionPoint(handle.places.back());
  builder.insert(op);
  // Rules of regions wait until the regions are full.
  if (!regions && failed(info->verifyInvariants(op))) {
    op->erase();
    return nullptr;
  }
  handle.places.back() = builder.saveInsertionPoint();
  handle.ops.push_back(op);
  return op;
}

PTO_API pto_module *pto_module_new(const char *arch) {
  auto *handle = new pto_module;
  std::optional<std::string> known = ptoas::parseArchName(arch);
  if (!known) {
    handle->problem = "unknown architecture, expected a2, a3 or a5\n";
    return handle;
  }
  MLIRContext &context = handle->context;
  handle->module = ModuleOp::create(UnknownLoc::get(&context));
  (*handle->module)
      ->setAttr("pto.target_arch", StringAttr::get(&context, *known == "a5" ? "a5" : "a2a3"));
  handle->places.push_back({handle->module->getBody(), handle->module->getBody()->end()});
  return handle;
}

/// `step` fills the answer; an answer without "error" if it said nothing.
static const char *answer(pto_module *handle, llvm::function_ref<bool(json::Object &)> step) {
  json::Object given;
  bool good = false;
  std::string words = handle->collect([&] { good = step(given); });
  if (!good)
    given["error"] = words.empty() ? std::string("the op cannot be built\n") : words;
  handle->result = llvm::formatv("{0}", json::Value(std::move(given))).str();
  return handle->result.c_str();
}

PTO_API const char *pto_build_op(pto_module *handle, const char *text) {
  return answer(handle, [&](json::Object &given) {
    Operation *op = build(Request(*handle, text));
    if (!op)
      return false;
    json::Array results;
    for (Value result : op->getResults())
      results.push_back(describe(*handle, result));
    given["op"] = int64_t(handle->ops.size() - 1);
    given["results"] = std::move(results);
    return true;
  });
}

PTO_API const char *pto_build_enter(pto_module *handle, const char *text) {
  return answer(handle, [&](json::Object &given) {
    Request request(*handle, text);
    int64_t op = request.fields.getInteger("op").value_or(-1);
    int64_t region = request.fields.getInteger("region").value_or(-1);
    if (op < 0 || op >= static_cast<int64_t>(handle->ops.size()) || region < 0 ||
        region >= handle->ops[op]->getNumRegions())
      return request.fail() << "there is no such region", false;
    SmallVector<Type> types;
    if (const json::Array *texts = request.fields.getArray("types"))
      if (failed(request.types(*texts, types)))
        return false;
    Region &body = handle->ops[op]->getRegion(region);
    if (body.empty()) {
      Block &block = body.emplaceBlock();
      block.addArguments(types, SmallVector<Location>(types.size(), request.loc));
    }
    json::Array arguments;
    for (Value argument : body.front().getArguments())
      arguments.push_back(describe(*handle, argument));
    given["arguments"] = std::move(arguments);
    handle->places.push_back({&body.front(), body.front().end()});
    return true;
  });
}

PTO_API void pto_build_leave(pto_module *handle) {
  if (handle->places.size() > 1)
    handle->places.pop_back();
}

PTO_API const char *pto_build_finish(pto_module *handle) {
  bool good = false;
  handle->result = handle->collect([&] { good = succeeded(ptoas::verifyAll(*handle->module)); });
  if (good) {
    handle->result.clear();
    handle->values.clear();
    handle->ops.clear();
  }
  return handle->result.c_str();
}
