//===- Calls.cpp - calls of the language and of functions -----------------===//
#include "ConstantRange.h"
#include "Walker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

Val Walker::call(const Node &node) {
  const Node &callee = *node.get("func");
  std::string path = dottedName(callee);
  if (path.rfind("pl.", 0) == 0 && !frame->vars.count("pl"))
    return languageCall(node, path.substr(3));
  if (path.rfind("pld.", 0) == 0 && !frame->vars.count("pld"))
    return unsupported(callee, "'" + path + "': the distributed language is not supported yet");
  if (const Function *function = resolveFunction(callee))
    return callFunction(node, *function);
  if (callee.kind == "Attribute") {
    std::string method = callee.str("attr");
    if (method == "bind_dynamic")
      return none(); // read with the parameters
    if (path.rfind("self.", 0) == 0)
      return error(ErrorKind::Undefined, callee, "the program has no function '" + method + "'");
    return unsupported(node, "'" + (path.empty() ? method : path) + "' cannot be called here",
                       "callable are functions of pl, self.<function> and decorated functions by "
                       "their plain name");
  }
  if (callee.kind != "Name")
    return unsupported(node, "this expression cannot be called");
  const std::string &id = callee.str("id");
  if (frame->vars.count(id))
    return unsupported(node,
                       "'" + id + "' is " + describe(frame->vars[id]) + " and cannot be called");
  static const std::map<std::string, const char *> builtins = {
      {"abs", "use pl.abs"},
      {"min", "use pl.min"},
      {"max", "use pl.max"},
      {"len", "use pl.tensor.dim(x, axis)"},
      {"range", "use pl.range in a for statement"},
      {"print", "use pl.static_print"},
      {"float", "use pl.cast(x, pl.FP32)"},
      {"int", "use pl.cast(x, pl.INT32)"},
      {"sum", "use pl.row_sum or pl.col_sum"}};
  auto builtin = builtins.find(id);
  if (builtin != builtins.end())
    return unsupported(node, "the Python builtin '" + id + "' works on compile-time values only",
                       builtin->second);
  PyValue value = frame->function->env->lookup(id);
  if (value.kind == PyValue::Missing)
    return error(ErrorKind::Undefined, callee, "name '" + id + "' is not defined");
  return unsupported(node, "'" + id + "' is not a function of the language",
                     "decorate it with @pl.jit.inline or @pl.jit.incore");
}

/// pl.func_attr({"key": value}): checked; no key has a meaning for this compiler.
Val Walker::funcAttributes(const Node &node) {
  const auto &args = node.list("args");
  if (args.size() != 1 || !node.list("keywords").empty() || args[0]->kind != "Dict")
    return syntax(node, "pl.func_attr takes one dict literal");
  bool first = false;
  for (const auto &s : frame->function->def->list("body")) {
    const Node *value = s->kind == "Expr" ? s->get("value") : nullptr;
    if (value == &node)
      first = true;
    if (!value || (value->kind != "Constant" && !isCallOf(value, "func_attr")))
      break;
  }
  if (!first)
    return syntax(node, "pl.func_attr comes first in the body of a function");
  std::set<std::string> seen;
  for (const auto &key : args[0]->list("keys")) {
    auto *text = key ? std::get_if<std::string>(&key->constant) : nullptr;
    if (!text)
      return syntax(key ? *key : *args[0], "the keys of pl.func_attr are string literals");
    if (!seen.insert(*text).second)
      return syntax(*key, "key '" + *text + "' is given twice");
    if (*text == "auto_scope" || *text == "external_source")
      return syntax(*key, "'" + *text + "' is an argument of the decorator",
                    "write @pl.function(" + *text + "=…)");
  }
  return none();
}

/// Calls that are no op of the table.
bool Walker::specialCall(const Node &node, const std::string &path, Val &result) {
  const auto &args = node.list("args");
  const auto &keywords = node.list("keywords");
  auto keyword = [&](const char *name) -> const Node * {
    for (const auto &k : keywords)
      if (k->str("arg") == name)
        return k->get("value");
    return nullptr;
  };
  auto exactly = [&](size_t count) {
    if (args.size() == count && keywords.empty())
      return true;
    result = invalid(node, "pl." + path + " takes " + llvm::Twine(count) +
                               (count == 1 ? " argument" : " arguments") + ", " +
                               llvm::Twine(args.size() + keywords.size()) + " were given");
    return false;
  };
  if (path == "min" || path == "max" || path == "tile.min" || path == "tile.max") {
    if (exactly(2)) {
      Val left = expr(*args[0]), right = expr(*args[1]);
      result = minMax(node, path.ends_with("max"), left, right);
    }
    return true;
  }
  if (path == "const") {
    const Node *valueNode = args.size() > 0 ? args[0].get() : keyword("value");
    const Node *typeNode = args.size() > 1 ? args[1].get() : keyword("dtype");
    if (!valueNode || !typeNode || args.size() + keywords.size() != 2) {
      result = invalid(node, "pl.const takes a number and an element type",
                       "write pl.const(1, pl.INT32)");
      return true;
    }
    Val value = expr(*valueNode), type = expr(*typeNode);
    if (value.isUnknown() || type.isUnknown())
      return true;
    std::optional<DType> dtype;
    if (type.kind == Val::Py && type.python->kind == PyValue::DType)
      dtype = dtypeByName(type.python->text);
    if (!value.isConstant())
      result = invalid(*valueNode, "pl.const takes a constant, this is " + describe(value),
                       "use pl.cast(x, dtype) for a run-time scalar");
    else if (!dtype || *dtype == DType::TaskId)
      result = typeError(*typeNode, "expected an element type like pl.INT32 here");
    else if (isInteger(*dtype) && std::holds_alternative<double>(value.constant) &&
             *value.real() != static_cast<double>(static_cast<int64_t>(*value.real())))
      result = typeError(*valueNode, std::to_string(*value.real()) + " is no integer",
                         "use an integer, or a float element type");
    else if (!fits(value, *dtype))
      result = invalid(*valueNode,
                       std::to_string(*value.integer()) + " does not fit into " + nameOf(*dtype),
                       "its range is " + rangeOf(*dtype));
    else
      result = castScalar(value, *dtype, locationOf(node));
    return true;
  }
  if (path == "static_assert") {
    if (args.empty() || args.size() > 2 || !keywords.empty()) {
      result = syntax(node, "pl.static_assert takes a condition and a message");
      return true;
    }
    std::string message;
    if (args.size() == 2) {
      auto *text = std::get_if<std::string>(&args[1]->constant);
      if (args[1]->kind != "Constant" || !text) {
        result = syntax(*args[1], "the message of pl.static_assert is a string literal");
        return true;
      }
      message = *text;
    }
    Val condition = expr(*args[0]);
    if (condition.isUnknown())
      return true;
    if (!condition.isConstant())
      result = syntax(
          *args[0], "the condition of pl.static_assert is not known when the program is compiled");
    else if (*condition.real() == 0)
      result = syntax(node, "static assertion failed" + llvm::Twine(message.empty() ? "" : ": ") +
                                message);
    else
      result = none();
    return true;
  }
  if (path == "static_print") {
    std::string line;
    for (const auto &arg : args) {
      std::string part;
      std::vector<const Node *> pieces{arg.get()};
      if (arg->kind == "JoinedStr") {
        pieces.clear();
        for (const auto &v : arg->list("values"))
          pieces.push_back(v.get());
      }
      for (const Node *piece : pieces) {
        if (piece->kind == "FormattedValue") {
          if (piece->get("format_spec") ||
              (piece->text.count("conversion") && piece->str("conversion") != "-1")) {
            result = unsupported(*piece, "a conversion or format in an f-string is not supported");
            return true;
          }
          piece = piece->get("value");
        }
        Val v = expr(*piece);
        if (v.isUnknown())
          return true;
        if (v.kind == Val::Py && v.python->kind == PyValue::Str)
          part += v.python->text;
        else if (auto flag = v.boolean())
          part += *flag ? "True" : "False";
        else if (auto i = v.integer())
          part += std::to_string(*i);
        else if (auto d = v.real())
          part += std::to_string(*d);
        else
          part += describe(v);
      }
      line += (line.empty() ? "" : " ") + part;
    }
    llvm::outs() << line << "\n";
    llvm::outs().flush();
    result = none();
    return true;
  }
  if (path == "no_dep") {
    if (exactly(1)) {
      result = expr(*args[0]);
      if (!result.isUnknown() && result.kind != Val::Tensor)
        result = typeError(*args[0], "pl.no_dep takes a tensor argument of a kernel call, not " +
                                         describe(result));
    }
    return true;
  }
  if (path == "dump_tag") {
    if (exactly(1)) {
      Val v = expr(*args[0]);
      if (!v.isUnknown())
        result = args[0]->kind == "Name" && v.kind == Val::Tensor
                     ? none()
                     : typeError(*args[0], "pl.dump_tag takes the name of one tensor");
    }
    return true;
  }
  if (path == "func_attr") {
    result = funcAttributes(node);
    return true;
  }
  if (path == "dynamic") {
    result = frame->function->env ? none() : Val();
    return true;
  }
  if (path == "yield_" || path == "cond") {
    result = syntax(node, path == "cond"
                              ? "pl.cond is the first statement of a pl.while_ loop"
                              : "pl.yield_ is a statement of its own: name = pl.yield_(value)");
    return true;
  }
  if (path == "submit" || path == "spmd_submit") {
    if (&node != submitStatement)
      result = syntax(node, "pl." + path + " is a statement of its own, not part of an expression",
                      "write result, task = pl." + path + "(…) before it");
    else
      result = submit(node, path == "spmd_submit");
    return true;
  }
  static const std::set<std::string> loops = {"range", "parallel", "pipeline", "unroll", "while_"};
  static const std::set<std::string> scopes = {"at", "cluster", "scope", "manual_scope"};
  if (loops.count(path)) {
    result = syntax(node, "pl." + path + " belongs into a for statement");
    return true;
  }
  if (scopes.count(path)) {
    result = syntax(node, "pl." + path + " belongs into a with statement");
    return true;
  }
  if (path == "spmd" || path == "split_aiv") {
    result = syntax(node, "pl." + path + " belongs into a " +
                              (path == "spmd" ? "for or with" : "for") + " statement");
    return true;
  }
  return false;
}

Val Walker::languageCall(const Node &node, const std::string &path) {
  Val result;
  if (specialCall(node, path, result))
    return result;
  if (findSignatures(path).empty()) {
    // The closest names help with typing errors.
    std::string near;
    unsigned best = 3;
    std::string last = path.substr(path.rfind('.') + 1);
    for (const OpRow &op : allOps()) {
      llvm::StringRef candidate = llvm::StringRef(op.name).drop_front(6);
      unsigned distance = candidate.edit_distance(last, true, best);
      if (distance < best) {
        best = distance;
        near = candidate.str();
      }
    }
    return invalid(*node.get("func"), "there is no function pl." + path,
                   near.empty() ? "" : "did you mean pl." + near + "?");
  }
  Bound bound;
  if (!bind(node, path, bound))
    return Val();
  return buildOp(bound);
}

Val Walker::buildOp(llvm::StringRef python, const Node &at,
                    std::vector<std::pair<std::string, Val>> arguments,
                    std::map<std::string, const Node *> nodes) {
  Bound bound;
  bound.nodes = std::move(nodes);
  bound.call = &at;
  bound.name = python.str();
  for (const SignatureRow &row : findSignatures(python)) {
    bool fits = true;
    for (auto &[name, value] : arguments)
      fits &= name[0] == '$' ||
              llvm::any_of(row.params, [&](const ParamInfoRow &p) { return p.name == name; });
    if (fits) {
      bound.signature = &row;
      break;
    }
  }
  for (auto &[name, value] : arguments) {
    if (value.isUnknown())
      return Val();
    bound.values[name] = value;
  }
  return buildOp(bound);
}

static bool writesItsTarget(llvm::StringRef op, llvm::StringRef &parameter) {
  static const std::map<std::string, const char *> targets = {
      {"pypto.assemble", "target"},    {"pypto.store", "output_tensor"},
      {"pypto.write", "dst"},          {"pypto.mscatter", "out"},
      {"pypto.gather_row", "dst"},     {"pypto.scatter_update", "input"},
      {"pypto.expand_clone", "target"}};
  auto it = targets.find(op.str());
  if (it == targets.end())
    return false;
  parameter = it->second;
  return true;
}

Val Walker::buildOp(Bound &bound) {
  llvm::StringRef opName = llvm::StringRef(bound.signature->op->name).drop_front(6);
  const Node &node = *bound.call;
  Location loc = locationOf(node);

  // Functions of scalars.
  if (opName == "cast" && bound["x"].isScalar()) {
    auto type = dtypeArgument(bound, "target_type");
    if (!type)
      return Val();
    const Val &x = bound["x"];
    if (bound.has("mode") && bound["mode"].kind == Val::Py && bound["mode"].python->text != "round")
      return invalid(bound.at("mode"), "a scalar is cast with the default mode only",
                     "leave mode out");
    if (x.dtype == DType::TaskId || *type == DType::TaskId)
      return typeError(node, "a task id cannot be cast");
    return castScalar(x, *type, loc);
  }
  static const std::map<std::string, const char *> scalarOps = {
      {"add", "Add"}, {"sub", "Sub"}, {"mul", "Mult"}, {"div", "Div"}};
  auto scalarOp = scalarOps.find(opName.str());
  if (scalarOp != scalarOps.end() && bound["lhs"].isScalar() && bound["rhs"].isScalar())
    return scalarBinary(node, scalarOp->second, bound["lhs"], bound["rhs"]);
  if (opName == "dim") {
    Val t;
    if (!shapedArgument(bound, "t", t))
      return Val();
    auto axis = bound["axis"].integer();
    if (!axis)
      return invalid(bound.at("axis"), "pl.tensor.dim: the axis is a constant");
    int64_t a = *axis < 0 ? *axis + int64_t(t.rank()) : *axis;
    if (a < 0 || a >= int64_t(t.rank()))
      return invalid(bound.at("axis"),
                     "pl.tensor.dim: axis " + llvm::Twine(*axis) + " of " + describe(t));
    return dimension(t, a, loc);
  }
  if (opName == "slice") {
    Val input;
    if (!shapedArgument(bound, "input", input))
      return Val();
    Window window;
    std::vector<Affine> sizes, offsets, valid, drop;
    std::vector<Val> requested;
    if (!integers(bound["shape"], bound.at("shape"), "shape", sizes, &window.sizes) ||
        !integers(bound["offset"], bound.at("offset"), "offset", offsets, &window.offsets))
      return Val();
    bool hasValid = bound.has("valid_shape");
    if (hasValid &&
        !integers(bound["valid_shape"], bound.at("valid_shape"), "valid_shape", valid, &requested))
      return Val();
    for (auto [list, name] : {std::pair(sizes.size(), "shape"), std::pair(offsets.size(), "offset"),
                              std::pair(hasValid ? valid.size() : input.rank(), "valid_shape")})
      if (list != input.rank())
        return invalid(bound.at(name),
                       llvm::Twine("pl.slice: '") + name + "' has " + llvm::Twine(list) +
                           " elements, the input has rank " + llvm::Twine(input.rank()),
                       "the order is pl.slice(input, shape, offset)");
    if (bound.has("drop_dims")) {
      if (!integers(bound["drop_dims"], bound.at("drop_dims"), "drop_dims", drop, nullptr, true))
        return Val();
      for (const Affine &a : drop) {
        if (a.constant < 0 || a.constant >= int64_t(input.rank()) || sizes[a.constant] != Affine(1))
          return invalid(bound.at("drop_dims"), "pl.slice: axis " + llvm::Twine(a.constant) +
                                                    " cannot be dropped, its extent is not 1");
        window.dropped.push_back(a.constant);
      }
      llvm::sort(window.dropped);
    }
    bool clamp = bound["clamp"].boolean().value_or(false);
    if (clamp && input.kind == Val::Tile)
      return invalid(bound.at("clamp"), "pl.slice: clamp applies to tensors only");
    std::string pad;
    if (bound.has("pad_value")) {
      auto member =
          enumArgument(bound["pad_value"], "PadValue", bound.at("pad_value"), "pad_value");
      if (!member)
        return Val();
      pad = *member;
    }
    return slice(node, input, window, hasValid ? &requested : nullptr, clamp, pad);
  }

  std::vector<Val> results;
  if (!deduce(bound, results))
    return Val();
  OpParts parts;
  if (!collectParts(bound, parts, results))
    return Val();
  if (bound.values.count("$drop_dims") && !bound["$drop_dims"].items.empty())
    parts.attributes.push_back(b.getNamedAttr(
        "drop_dims", b.getDenseI64ArrayAttr(llvm::map_to_vector(
                         bound["$drop_dims"].items, [](const Val &v) { return *v.integer(); }))));
  if (bound.values.count("$packed")) // comparing tiles, also by the name that serves both levels
    parts.attributes.push_back(b.getNamedAttr("packed", b.getBoolAttr(true)));
  llvm::SmallVector<Type> types =
      llvm::map_to_vector(results, [&](const Val &v) { return typeOf(v); });
  Operation *op = create(opName, loc, parts, types);
  llvm::StringRef parameter;
  if (writesItsTarget(bound.signature->op->name, parameter)) {
    Val result = results[0];
    const Val &target = bound[parameter.data()];
    result.value = op->getResult(0);
    result.root = target.root;
    result.gm = target.gm;
    result.view = target.view;
    result.strides = target.strides;
    if (target.gm)
      writtenRoots.insert(target.root);
    return result;
  }
  if (results.empty())
    return none();
  if (results.size() > 1) {
    std::vector<Val> items;
    for (auto [type, value] : llvm::zip(results, op->getResults()))
      items.push_back(finish(type, value));
    return tuple(std::move(items));
  }
  Val result = finish(results[0], op->getResult(0));
  // Memory of an orchestration, and other views of global memory.
  if (opName == "create_tensor" && !context.inKernel)
    result.gm = true;
  if (opName == "reshape" || opName == "view" || opName == "reinterpret_view" ||
      opName == "set_validshape") {
    const Val &x = bound["x"];
    if (x.gm && (!context.inKernel || opName == "view")) {
      result.gm = true;
      result.view = true;
      result.root = x.root;
      if (opName == "set_validshape")
        result.strides = x.strides;
    }
  }
  return result;
}

} // namespace pypto::importer
