//===- Statements.cpp - assignments and other simple statements -----------===//
#include "Walker.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

// Flags of `continue` and `break`: hidden variables of type BOOL.
static const char *const skipFlag = "$skip";

Flow Walker::block(const Statements &statements, size_t first) {
  for (size_t i = first; i < statements.size(); ++i) {
    const Node &node = *statements[i];
    statement(node);
    auto skip = frame->vars.find(skipFlag);
    if (skip == frame->vars.end() || skip->second.boolean() == false)
      continue;
    if (skip->second.boolean() == true)
      return Flow::Stopped; // the rest is not reached
    if (i + 1 == statements.size())
      return Flow::Next;
    // Some paths have left: the rest runs under the flag.
    Names live = frame->liveness->after(*statements.back());
    Names candidates;
    for (size_t k = i + 1; k < statements.size(); ++k) {
      Assigned names;
      namesAssigned(*statements[k], names);
      candidates.merge(names.strong);
      candidates.merge(names.weak);
    }
    for (auto &[name, value] : frame->vars)
      if (name[0] == '$') {
        candidates.insert(name);
        live.insert(name);
      }
    Val go = logicalNot(skip->second, locationOf(*statements[i + 1]));
    auto *savedTargets = yieldTargets;
    const Val flag = skip->second;
    auto rest = [&] {
      frame->vars[skipFlag] = constantBool(false); // known here
      block(statements, i + 1);
      if (frame->vars[skipFlag].boolean() == false)
        frame->vars[skipFlag] = flag; // the same on both paths
    };
    branch(*statements[i + 1], go, candidates, live, rest, [] {});
    yieldTargets = savedTargets;
    return Flow::Next;
  }
  return Flow::Next;
}

void Walker::statement(const Node &node) {
  const std::string &kind = node.kind;
  if (kind == "Assign") {
    const auto &targets = node.list("targets");
    if (targets.size() != 1) {
      syntax(node, "an assignment has one target", "write one statement per name");
      return;
    }
    const Node &target = *targets[0];
    const Node &value = *node.get("value");
    if (isCallOf(&value, "yield_")) {
      yieldStatement(value, &target, node);
      return;
    }
    if (isCallOf(&value, "MemRef")) {
      memRefStatement(target, value);
      return;
    }
    if (value.kind == "Name" && frame->memRefs.count(value.str("id"))) {
      syntax(target, "a pl.MemRef has one name");
      return;
    }
    if (isCallOf(&value, "dynamic") && target.kind == "Name") {
      const auto &args = value.list("args");
      auto *text = args.size() == 1 ? std::get_if<std::string>(&args[0]->constant) : nullptr;
      if (!text) {
        syntax(value, "pl.dynamic takes the name of the symbol as a string literal");
        return;
      }
      for (Frame *f = frame; f; f = f->outer)
        if (auto dim = f->dynamicDims.find(*text); dim != f->dynamicDims.end()) {
          frame->vars[target.str("id")] =
              dimension(f->vars[dim->second.first], dim->second.second, locationOf(node));
          return;
        }
      error(ErrorKind::Undefined, value, "no parameter has the dynamic extent '" + *text + "'");
      return;
    }
    if (target.kind == "Attribute") {
      syntax(target, "an attribute cannot be assigned");
      return;
    }
    bool submits = isCallOf(&value, "submit") || isCallOf(&value, "spmd_submit");
    if (submits && target.kind == "Name") {
      syntax(target, "pl.submit gives the kernel's results and the id of the task",
             "write result, task = pl.submit(…)");
      return;
    }
    submitStatement = &value;
    Val result = expr(value);
    if (result.kind == Val::None && value.kind == "Call") {
      std::string callee = dottedName(*value.get("func"));
      if (callee.rfind("pl.", 0) != 0)
        result = typeError(value, "'" + callee + "' returns nothing that could be assigned",
                           "end it with a return statement");
      else
        result = syntax(value, callee + " gives no value that could be assigned");
    }
    assign(target, result, node);
  } else if (kind == "AnnAssign") {
    annotatedAssign(node);
  } else if (kind == "AugAssign") {
    augmentedAssign(node);
  } else if (kind == "Expr") {
    expressionStatement(node);
  } else if (kind == "If") {
    ifStatement(node);
  } else if (kind == "For") {
    forStatement(node);
  } else if (kind == "While") {
    whileStatement(node);
  } else if (kind == "With") {
    withStatement(node);
  } else if (kind == "Return") {
    returnStatement(node);
  } else if (kind == "Break" || kind == "Continue") {
    leave(node);
  } else if (kind != "Pass") {
    static const std::map<std::string, std::pair<const char *, const char *>> refused = {
        {"Assert", {"assert", "use pl.static_assert(condition, \"message\")"}},
        {"Delete", {"del", ""}},
        {"Raise", {"raise", ""}},
        {"Try", {"try", ""}},
        {"Global", {"global", ""}},
        {"Nonlocal", {"nonlocal", ""}},
        {"Import", {"import", "import at the top of the module"}},
        {"ImportFrom", {"import", "import at the top of the module"}},
        {"FunctionDef", {"a nested function", "define it outside with @pl.jit.inline"}},
        {"ClassDef", {"a nested class", ""}},
        {"Match", {"match", "use if / elif"}},
        {"AsyncFor", {"async", ""}},
        {"AsyncWith", {"async", ""}}};
    auto it = refused.find(kind);
    unsupported(node,
                llvm::Twine(it == refused.end() ? kind.c_str() : it->second.first) +
                    " is not supported here",
                it == refused.end() ? "" : it->second.second);
  }
}

void Walker::assign(const Node &target, const Val &value, const Node &statement) {
  if (target.kind == "Name") {
    bindName(target, target.str("id"), value);
    return;
  }
  if (target.kind == "Subscript") {
    storeSubscript(target, value, *statement.get("value"));
    return;
  }
  if (target.kind == "Tuple" || target.kind == "List") {
    const auto &targets = target.list("elts");
    for (const auto &t : targets) // `(a, b), tid = pl.submit(…)` nests once
      if (t->kind == "Starred") {
        unsupported(*t, "a starred target is not supported");
        return;
      } else if (t->kind != "Name" && t->kind != "Tuple") {
        syntax(*t, "the targets of an unpacking are plain names");
        return;
      }
    if (!value.isUnknown() && value.kind != Val::Tuple) {
      syntax(statement, describe(value) + " cannot be unpacked into " +
                            llvm::Twine(targets.size()) + " names");
      return;
    }
    if (value.kind == Val::Tuple && value.items.size() != targets.size()) {
      syntax(statement, "cannot unpack " + llvm::Twine(value.items.size()) + " values into " +
                            llvm::Twine(targets.size()) + " names");
      return;
    }
    for (size_t i = 0; i < targets.size(); ++i)
      assign(*targets[i], value.isUnknown() ? Val() : value.items[i], statement);
    return;
  }
  if (target.kind == "Starred") {
    unsupported(target, "a starred target is not supported");
    return;
  }
  syntax(target, "this cannot be assigned");
}

void Walker::bindName(const Node &target, const std::string &name, const Val &newValue) {
  Val value = newValue;
  auto old = frame->vars.find(name);
  if (name == "pl" || name == "pld" || name == "self") {
    syntax(target, "'" + name + "' cannot be assigned in a function of the language");
    return;
  }
  if (value.kind == Val::Py && value.python->kind == PyValue::Func) {
    syntax(target, "a function cannot be bound to a name");
    return;
  }
  if (old == frame->vars.end()) {
    frame->vars[name] = value;
    return;
  }
  if (frame->strictSsa) {
    error(ErrorKind::SSAViolation, target,
          "'" + name + "' is assigned again in a function with strict_ssa=True", "use a new name");
    return;
  }
  const Val before = old->second;
  if (value.isUnknown() || before.isUnknown() || before.kind == Val::Py ||
      before.kind == Val::None) {
    old->second = value;
    return;
  }
  if (!sameType(before, value)) {
    bool scalars = before.isScalar() && value.isScalar();
    // A constant takes the type that the name has.
    if (scalars && value.isConstant() && isFloat(before.dtype) == isFloat(value.dtype) &&
        before.dtype != DType::Bool && value.dtype != DType::Bool && !before.isConstant() &&
        value.dtype == DType::Index) {
      old->second = castScalar(value, before.dtype, locationOf(target));
      return;
    }
    if (scalars && before.isConstant()) { // a literal has no type of its own yet
      if (isFloat(before.dtype) == isFloat(value.dtype) &&
          (before.dtype == DType::Bool) == (value.dtype == DType::Bool)) {
        old->second = value;
        return;
      }
    }
    typeError(target,
              "'" + name + "' is " + describe(before) + " and cannot become " + describe(value),
              scalars ? "convert the value: pl.cast(x, pl." + nameOf(before.dtype).str() +
                            "), or use a new name"
                      : "use a new name");
    old->second = Val();
    return;
  }
  if (value.isScalar() && value.dtype != before.dtype)
    value = castScalar(value, before.dtype, locationOf(target));
  // A parameter that is written must keep naming its buffer, or the write is lost.
  if (!frame->outer && before.isShaped() && before.gm && value.root != before.root) {
    auto parameter = rootParameter.find(before.root);
    if (parameter != rootParameter.end() && parameterIndex.count(name) &&
        parameterIndex[name] == parameter->second)
      lostWrites.try_emplace(name, target.span);
  }
  old->second = value;
}

/// `ref = pl.MemRef("name", slots=2)`: memory that tiles name in their annotations.
void Walker::memRefStatement(const Node &target, const Node &call) {
  if (target.kind != "Name") {
    syntax(target, "a pl.MemRef is bound to a plain name");
    return;
  }
  const std::string &name = target.str("id");
  const auto &args = call.list("args");
  std::string own = name;
  if (args.size() == 1) {
    auto *text = std::get_if<std::string>(&args[0]->constant);
    if (args[0]->kind != "Constant" || !text || text->empty()) {
      syntax(*args[0], "the name of a pl.MemRef is a string literal");
      return;
    }
    own = *text;
  } else if (!args.empty()) {
    syntax(call, "pl.MemRef takes a name here", "the form with an offset and a size is for dumps");
    return;
  }
  int64_t slots = 1;
  for (const auto &k : call.list("keywords")) {
    auto number = k->str("arg") == "slots" ? expr(*k->get("value")).integer() : std::nullopt;
    if (!number || *number < 1) {
      syntax(*k, k->str("arg") == "slots" ? "slots is a constant of at least 1"
                                          : "pl.MemRef takes a name and slots");
      return;
    }
    slots = *number;
  }
  for (const auto &[other, made] : frame->memRefs)
    if (made.first == own || other == name) {
      syntax(call, "there is a pl.MemRef '" + own + "' already", "use another name");
      return;
    }
  if (frame->vars.count(name)) {
    syntax(target, "'" + name + "' has a value already", "use another name");
    return;
  }
  frame->memRefs[name] = {own, slots};
}

/// The numbers in `ref[number]` of an annotation.
bool Walker::checkMemRefSlots(const Node &annotation) {
  const Node *slice = annotation.kind == "Subscript" ? annotation.get("slice") : nullptr;
  if (!slice || slice->kind != "Tuple")
    return true;
  for (const auto &item : slice->list("elts")) {
    if (item->kind != "Subscript" || item->get("value")->kind != "Name")
      continue;
    auto ref = frame->memRefs.find(item->get("value")->str("id"));
    if (ref == frame->memRefs.end())
      continue;
    const Node &at = *item->get("slice");
    Val number = expr(at);
    if (number.isUnknown())
      return false;
    if (!number.isScalar() || !isInteger(number.dtype)) {
      typeError(at, "the slot of a pl.MemRef is an integer, not " + describe(number));
      return false;
    }
    int64_t slots = ref->second.second;
    if (auto constant = number.integer(); constant && (*constant < 0 || *constant >= slots)) {
      invalid(at, "slot " + llvm::Twine(*constant) + " of a pl.MemRef with " + llvm::Twine(slots));
      return false;
    }
  }
  return true;
}

void Walker::annotatedAssign(const Node &node) {
  const Node &target = *node.get("target");
  if (target.kind != "Name") {
    syntax(target, "an annotated assignment binds a plain name");
    return;
  }
  if (!node.get("value")) {
    syntax(node, "an annotation alone has no meaning in a function body", "give the name a value");
    return;
  }
  ParamSpec spec;
  spec.name = target.str("id");
  AnnotationReader reader(frame->function->env.get(),
                          [&](const Node &at, ErrorKind kind, std::string message,
                              std::string help) { error(kind, at, message, help); });
  reader.isMemRef = [&](const std::string &name) { return frame->memRefs.count(name) != 0; };
  bool good =
      reader.read(node.get("annotation"), spec) && checkMemRefSlots(*node.get("annotation"));
  if (isCallOf(node.get("value"), "yield_")) {
    yieldStatement(*node.get("value"), &target, node);
    return;
  }
  Val value = expr(*node.get("value"));
  if (value.isUnknown() || !good) {
    bindName(target, spec.name, Val());
    return;
  }
  if (spec.kind == ParamSpec::Scalar && spec.dtype == DType::TaskId) {
    if (value.kind == Val::None) {
      Val task;
      task.kind = Val::TaskId;
      task.value = materialise(value, locationOf(node));
      value = task;
    }
    if (value.kind != Val::TaskId) {
      typeError(*node.get("value"), "the annotation says task id, the value is " + describe(value));
      return;
    }
  } else if (spec.kind == ParamSpec::Scalar) {
    if (!value.isScalar()) {
      typeError(*node.get("value"), "the annotation says a " + nameOf(*spec.dtype) +
                                        " scalar, the value is " + describe(value));
      return;
    }
    bool literal = value.isConstant() && isFloat(value.dtype) == isFloat(*spec.dtype);
    if (!literal && !compatible(value.dtype, *spec.dtype)) {
      typeError(*node.get("value"),
                "the annotation says a " + nameOf(*spec.dtype) + " scalar, the value is " +
                    describe(value),
                "convert it: pl.cast(x, pl." + nameOf(*spec.dtype).str() + ")");
      return;
    }
    value = castScalar(value, *spec.dtype, locationOf(node));
  } else if (spec.kind == ParamSpec::Tensor || spec.kind == ParamSpec::Tile) {
    if (!value.isShaped()) {
      typeError(*node.get("value"),
                "the annotation says a tensor or tile, the value is " + describe(value));
      return;
    }
    bool same = !spec.dtype || *spec.dtype == value.dtype;
    if (spec.shape) {
      same &= spec.shape->size() == value.rank();
      for (size_t i = 0; same && i < value.rank(); ++i)
        if ((*spec.shape)[i].size)
          same = symbols.equal(Affine(*(*spec.shape)[i].size), value.shape[i]) != false;
    }
    if (!same) {
      typeError(*node.get("value"),
                "the annotation does not fit the value, which is " + describe(value));
      return;
    }
  }
  bindName(target, spec.name, value);
}

/// `x += v` is `x = x + v`; `x[w] += v` reads and writes the window.
void Walker::augmentedAssign(const Node &node) {
  const Node &target = *node.get("target");
  Val current = expr(target);
  Val value = expr(*node.get("value"));
  if (current.isUnknown() || value.isUnknown()) {
    if (target.kind == "Name" && frame->vars.count(target.str("id")))
      frame->vars[target.str("id")] = Val();
    return;
  }
  // An integer literal takes the width of the name.
  if (current.isScalar() && value.isConstant() && value.dtype == DType::Index &&
      isInteger(current.dtype))
    value = castScalar(value, current.dtype, locationOf(node));
  assign(target, binary(node, node.get("op")->kind, current, value), node);
}

void Walker::rebindArgument(const Node *argument, const Val &result) {
  if (argument && argument->kind == "Name" && result.isShaped()) {
    auto it = frame->vars.find(argument->str("id"));
    if (it != frame->vars.end() && it->second.isShaped() && it->second.root == result.root &&
        !result.view == !it->second.view)
      it->second = result;
  }
}

void Walker::expressionStatement(const Node &node) {
  const Node &value = *node.get("value");
  if (value.kind == "Constant" &&
      (std::holds_alternative<std::string>(value.constant) || value.constantType == "ellipsis"))
    return; // a comment, or an empty body
  if (isCallOf(&value, "yield_")) {
    yieldStatement(value, nullptr, node);
    return;
  }
  submitStatement = &value;
  if (value.kind != "Call") {
    if (value.kind == "Name" || value.kind == "Constant")
      syntax(value, "this statement has no effect");
    else
      expr(value);
    return;
  }
  Val result = expr(value);
  // A write whose result is not bound still changes its destination.
  static const std::map<std::string, size_t> destinations = {
      {"assemble", 0}, {"store", 2}, {"write", 0}, {"mscatter", 2}, {"gather_row", 0}};
  std::string path = dottedName(*value.get("func"));
  std::string last = path.substr(path.rfind('.') + 1);
  auto it = destinations.find(last);
  if (path.rfind("pl.", 0) == 0 && it != destinations.end() && result.isShaped()) {
    const Node *destination =
        it->second < value.list("args").size() ? value.list("args")[it->second].get() : nullptr;
    for (const auto &k : value.list("keywords"))
      if (k->str("arg") == "target" || k->str("arg") == "output_tensor" || k->str("arg") == "dst" ||
          k->str("arg") == "out")
        destination = k->get("value");
    if (destination && destination->kind == "Name" && frame->vars.count(destination->str("id")))
      frame->vars[destination->str("id")] = result;
    else if (!result.gm)
      warning(value, "the result of this write is not used, and its destination has no name");
  }
}

void Walker::returnStatement(const Node &node) {
  if (!context.loops.empty() || frame->vars.count("$arm")) {
    unsupported(node, "return is the last statement of a function, not part of a loop or branch",
                "assign a name and return it at the end");
    return;
  }
  frame->result = node.get("value") ? expr(*node.get("value")) : none();
}

std::string Walker::canBreak() const {
  if (context.loops.empty() || context.loops.back() == "$function")
    return "outside a loop";
  const std::string &kind = context.loops.back();
  if (kind == "range" || kind == "while")
    return "";
  return "in pl." + kind;
}

void Walker::leave(const Node &node) {
  std::string why = canBreak();
  std::string word = node.kind == "Break" ? "break" : "continue";
  if (!why.empty()) {
    invalid(node, word + " is not allowed " + why, "it works in pl.range and while loops");
    return;
  }
  frame->vars[skipFlag] = constantBool(true);
  if (node.kind == "Break")
    frame->vars["$break"] = constantBool(true);
}

void Walker::yieldStatement(const Node &call, const Node *target, const Node &node) {
  if (!call.list("keywords").empty()) {
    syntax(*call.list("keywords")[0], "pl.yield_ takes no keywords");
    return;
  }
  const auto &args = call.list("args");
  std::vector<const Node *> names;
  if (target && target->kind == "Name")
    names.push_back(target);
  else if (target && target->kind == "Tuple")
    for (const auto &t : target->list("elts"))
      names.push_back(t.get());
  else if (target) {
    syntax(*target, "the targets of pl.yield_ are plain names");
    return;
  }
  if (!target) {
    if (yieldTargets)
      syntax(node, "pl.yield_ in a loop with init_values needs names for its results",
             "write a, b = pl.yield_(x, y)");
    else
      syntax(node, "pl.yield_ needs names for its results", "write x = pl.yield_(value)");
    return;
  }
  if (names.size() != args.size()) {
    syntax(node,
           "pl.yield_ has " + llvm::Twine(args.size()) + " values for " +
               llvm::Twine(names.size()) + " names",
           args.size() > 1 ? "write a, b = pl.yield_(x, y)" : "");
    return;
  }
  for (const Node *n : names)
    if (n->kind != "Name") {
      syntax(*n, "the targets of pl.yield_ are plain names");
      return;
    }
  std::vector<Val> values;
  for (const auto &a : args)
    values.push_back(expr(*a));
  if (yieldTargets && values.size() != yieldTargets->size()) {
    syntax(node, "the loop carries " + llvm::Twine(yieldTargets->size()) +
                     " values, pl.yield_ gives " + llvm::Twine(values.size()));
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string &id = names[i]->str("id");
    if (yieldTargets) {
      frame->vars[(*yieldTargets)[i]] = values[i];
      frame->vars[id] = values[i];
      yieldedNames.emplace_back(id, (*yieldTargets)[i]);
    } else {
      bindName(*names[i], id, values[i]);
    }
  }
}

} // namespace pypto::importer
