//===- Inline.cpp - calls of functions, expanded in place -----------------===//
#include "Walker.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

const Function *Walker::resolveFunction(const Node &callee) {
  if (callee.kind == "Attribute" && callee.get("value")->kind == "Name" &&
      callee.get("value")->str("id") == "self") {
    for (const auto &f : m.program.functions)
      if (f->name == callee.str("attr"))
        return f.get();
    return nullptr;
  }
  if (callee.kind != "Name" || frame->vars.count(callee.str("id")))
    return nullptr;
  PyValue value = frame->function->env->lookup(callee.str("id"));
  if (value.kind != PyValue::Func)
    return nullptr;
  if (!llvm::is_contained(m.alive, value.function))
    m.alive.push_back(value.function);
  return value.function.get();
}

static std::string typeOption(const Function &f) {
  auto it = f.options.find("type");
  if (it == f.options.end())
    return "Opaque";
  return it->second.text.substr(it->second.text.rfind('.') + 1);
}

bool Walker::isKernel(const Function &f) const {
  if (f.form == Function::Form::JitIncore)
    return true;
  if (f.form != Function::Form::Plain)
    return false;
  std::string type = typeOption(f);
  return type == "InCore" || type == "AIC" || type == "AIV";
}

Val Walker::callFunction(const Node &node, const Function &callee) {
  int depth = 0;
  for (Frame *f = frame; f; f = f->outer, ++depth)
    if (f->function == &callee || depth > 64)
      return invalid(node, "'" + callee.name + "' calls itself",
                     "a function of the language cannot be recursive");
  if (callee.form == Function::Form::JitExtern || callee.options.count("external_source"))
    return unsupported(node, "'" + callee.name +
                                 "' is an external C++ kernel, which is not supported yet");
  if (callee.form == Function::Form::Jit || callee.form == Function::Form::JitHost)
    return invalid(node,
                   "'" + callee.name + "' is an entry and cannot be called from another function",
                   "decorate it with @pl.jit.inline or @pl.jit.incore");
  for (const auto &k : node.list("keywords"))
    if (k->str("arg") == "device")
      return invalid(*k, "device= is for calls in a host function");
  std::vector<std::pair<std::string, Val>> arguments;
  std::vector<const Node *> nodes;
  bool kernel = isKernel(callee) && !context.inKernel;
  if (!bindArguments(node, callee, arguments, nodes, {}, 0, kernel))
    return Val();
  if (kernel) {
    Launch parts;
    return launch(node, callee, std::move(arguments), nodes, parts, nullptr);
  }
  return inlineCall(node, callee, arguments, nodes);
}

bool Walker::bindArguments(const Node &node, const Function &callee,
                           std::vector<std::pair<std::string, Val>> &bound,
                           std::vector<const Node *> &nodes, const Names &ignored,
                           size_t firstPositional, bool allowMissing) {
  const Node &signature = *callee.def->get("args");
  if (signature.get("vararg") || signature.get("kwarg")) {
    unsupported(*callee.def,
                "'" + callee.name + "' takes * or ** parameters, which is not supported");
    return false;
  }
  std::vector<const Node *> parameters;
  std::vector<const Node *> defaults;
  for (const char *field : {"posonlyargs", "args"})
    for (const auto &p : signature.list(field))
      parameters.push_back(p.get());
  size_t positional = parameters.size();
  defaults.assign(positional, nullptr);
  const auto &given = signature.list("defaults");
  for (size_t i = 0; i < given.size(); ++i)
    defaults[positional - given.size() + i] = given[i].get();
  for (size_t i = 0; i < signature.list("kwonlyargs").size(); ++i) {
    parameters.push_back(signature.list("kwonlyargs")[i].get());
    defaults.push_back(i < signature.list("kw_defaults").size()
                           ? signature.list("kw_defaults")[i].get()
                           : nullptr);
  }
  if (callee.method && !parameters.empty()) {
    parameters.erase(parameters.begin());
    defaults.erase(defaults.begin());
    --positional;
  }
  std::string names;
  for (const Node *p : parameters)
    names += (names.empty() ? "" : ", ") + p->str("arg");

  std::vector<const Node *> values(parameters.size(), nullptr);
  const auto &args = node.list("args");
  size_t count = args.size() - std::min(args.size(), firstPositional);
  if (count > positional) {
    typeError(node,
              "'" + callee.name + "' takes " + llvm::Twine(positional) + " arguments, " +
                  llvm::Twine(count) + " were given",
              "parameters: " + names);
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    values[i] = args[firstPositional + i].get();
    if (values[i]->kind == "Starred") {
      unsupported(*values[i], "starred arguments are not supported");
      return false;
    }
  }
  for (const auto &k : node.list("keywords")) {
    const std::string &key = k->str("arg");
    if (ignored.count(key))
      continue;
    auto it = llvm::find_if(parameters, [&](const Node *p) { return p->str("arg") == key; });
    if (key.empty() || it == parameters.end()) {
      typeError(*k,
                key.empty() ? std::string("`**` arguments are not supported")
                            : "'" + callee.name + "' has no parameter '" + key + "'",
                "parameters: " + names);
      return false;
    }
    const Node *&slot = values[it - parameters.begin()];
    if (slot) {
      typeError(*k, "'" + callee.name + "': argument '" + key + "' is given twice");
      return false;
    }
    slot = k->get("value");
  }
  bool good = true;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string &name = parameters[i]->str("arg");
    if (values[i]) {
      Val v = expr(*values[i]);
      good &= !v.isUnknown();
      bound.emplace_back(name, v);
    } else if (defaults[i]) {
      std::string why;
      PyValue v = callee.env->evaluate(*defaults[i], why);
      if (v.kind == PyValue::Missing) {
        typeError(*defaults[i], "the default of parameter '" + name + "' is no constant: " + why);
        return false;
      }
      bound.emplace_back(name, fromPython(v));
    } else {
      const Node *annotation = parameters[i]->get("annotation");
      bool isOut = annotation && annotation->kind == "Subscript" &&
                   (dottedName(*annotation->get("value")) == "pl.Out" ||
                    dottedName(*annotation->get("value")) == "pl.InOut");
      if (!allowMissing || !isOut) {
        typeError(node,
                  "'" + callee.name + "': argument '" + name + "' is missing, " +
                      llvm::Twine(parameters.size()) + " are needed",
                  "parameters: " + names);
        return false;
      }
      bound.emplace_back(name, none()); // made by the caller of this function
    }
    nodes.push_back(values[i]);
  }
  return good;
}

Val Walker::inlineCall(const Node &node, const Function &callee,
                       const std::vector<std::pair<std::string, Val>> &arguments,
                       const std::vector<const Node *> &nodes) {
  Frame inner;
  inner.function = &callee;
  inner.outer = frame;
  inner.callSite = node.span;
  inner.strictSsa = false;
  Names parameters;
  for (auto &[name, value] : arguments) {
    inner.vars[name] = value;
    parameters.insert(name);
  }
  Assigned assigned = namesAssigned(callee.def->list("body"));
  inner.locals = assigned.strong;
  inner.locals.insert(parameters.begin(), parameters.end());
  inner.liveness = std::make_unique<Liveness>(*callee.def, parameters);

  // Annotations of the parameters: symbols, and a check where they say something.
  const Node &signature = *callee.def->get("args");
  AnnotationReader reader(callee.env.get(),
                          [&](const Node &at, ErrorKind kind, std::string message,
                              std::string help) { error(kind, at, message, help); });
  size_t errors = m.diagnostics.size();
  size_t position = 0;
  Frame *caller = frame;
  for (const char *field : {"posonlyargs", "args", "kwonlyargs"})
    for (const auto &p : signature.list(field)) {
      const std::string &name = p->str("arg");
      auto it = inner.vars.find(name);
      if (it == inner.vars.end())
        continue;
      size_t index = position++;
      ParamSpec spec;
      spec.name = name;
      frame = &inner; // messages name the way to the callee
      bool read = reader.read(p->get("annotation"), spec);
      frame = caller;
      if (!read)
        continue;
      if (spec.kind == ParamSpec::Scalar)
        reader.scalarNames.push_back(name);
      Val &value = it->second;
      const Node &at = index < nodes.size() && nodes[index] ? *nodes[index] : node;
      if (spec.kind == ParamSpec::Scalar && value.isScalar() && spec.dtype != DType::TaskId) {
        if (value.isConstant() && isFloat(value.dtype) == isFloat(*spec.dtype))
          value = castScalar(value, *spec.dtype, locationOf(node));
        else if (!compatible(value.dtype, *spec.dtype))
          typeError(at,
                    "'" + callee.name + "': parameter '" + name + "' is a " + nameOf(*spec.dtype) +
                        " scalar, the argument is " + describe(value),
                    "convert it: pl.cast(x, pl." + nameOf(*spec.dtype).str() + ")");
      } else if (spec.kind == ParamSpec::Tensor || spec.kind == ParamSpec::Tile) {
        if (!value.isShaped()) {
          typeError(at, "'" + callee.name + "': parameter '" + name +
                            "' is a tensor, the argument is " + describe(value));
          continue;
        }
        if (spec.dtype && *spec.dtype != value.dtype)
          typeError(at, "'" + callee.name + "': parameter '" + name + "' has " +
                            nameOf(*spec.dtype) + " elements, the argument is " + describe(value));
        if (spec.shape && spec.shape->size() != value.rank()) {
          typeError(at, "'" + callee.name + "': parameter '" + name + "' has rank " +
                            llvm::Twine(spec.shape->size()) + ", the argument is " +
                            describe(value));
          continue;
        }
        for (size_t i = 0; spec.shape && i < spec.shape->size(); ++i) {
          const ExtentSpec &e = (*spec.shape)[i];
          if (e.size && symbols.equal(Affine(*e.size), value.shape[i]) == false) {
            typeError(at, "'" + callee.name + "': parameter '" + name + "' has extent " +
                              llvm::Twine(*e.size) + " in axis " + llvm::Twine(i) +
                              ", the argument is " + describe(value));
            break;
          }
          if (!e.size && !e.name.empty())
            inner.dynamicDims.try_emplace(e.name, name, i);
        }
      } else if (spec.kind == ParamSpec::Array &&
                 (value.kind != Val::Array || value.extent != spec.extent ||
                  value.dtype != *spec.dtype)) {
        typeError(at, "'" + callee.name + "': parameter '" + name + "' is an array of " +
                          llvm::Twine(spec.extent) + " " + nameOf(*spec.dtype) +
                          ", the argument is " + describe(value));
      }
    }
  if (m.diagnostics.size() != errors &&
      llvm::any_of(llvm::ArrayRef(m.diagnostics).drop_front(errors),
                   [](const Diagnostic &d) { return d.kind != ErrorKind::Warning; }))
    return Val();

  frame = &inner;
  auto savedLoops = context.loops;
  context.loops.clear();
  auto *savedTargets = yieldTargets;
  yieldTargets = nullptr;
  block(callee.def->list("body"));
  yieldTargets = savedTargets;
  context.loops = savedLoops;
  frame = caller;

  // Parameters are names of the caller's variables: what was written in place is seen outside.
  for (size_t i = 0; i < arguments.size() && i < nodes.size(); ++i) {
    auto it = inner.vars.find(arguments[i].first);
    if (nodes[i] && it != inner.vars.end() && nodes[i]->kind == "Name") {
      auto outer = frame->vars.find(nodes[i]->str("id"));
      if (outer == frame->vars.end())
        continue;
      if (it->second.isShaped() && outer->second.isShaped() &&
          it->second.root == outer->second.root && it->second.view == outer->second.view)
        outer->second = it->second;
      else if (it->second.kind == Val::Array && outer->second.kind == Val::Array)
        outer->second = it->second;
    }
  }
  return inner.result ? *inner.result : none();
}

} // namespace pypto::importer
