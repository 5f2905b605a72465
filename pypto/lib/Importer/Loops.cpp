//===- Loops.cpp - for and while ------------------------------------------===//
//
// A loop body is walked with block arguments for the names that it binds again and
// that the next iteration or the code behind the loop reads. Which names those are,
// and with which types, may only be known after the body was walked; then it is
// walked again. `break` and `continue` become flags.
//
//===----------------------------------------------------------------------===//
#include "Extents.h"
#include "Walker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

static bool leaves(const Statements &statements, const char *kind) {
  for (const auto &s : statements) {
    if (s->kind == kind)
      return true;
    if (s->kind == "If" || s->kind == "With")
      if (leaves(s->list("body"), kind) || leaves(s->list("orelse"), kind))
        return true;
  }
  return false;
}

static bool yieldsAtTop(const Statements &statements) {
  for (const auto &s : statements)
    if ((s->kind == "Assign" || s->kind == "AnnAssign" || s->kind == "Expr") &&
        isCallOf(s->get("value"), "yield_"))
      return true;
  return false;
}

Value Walker::retype(Value value, Type type, Location loc) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(b, loc, TypeRange(type), ValueRange(value))
      .getResult(0);
}

Val Walker::loaded(const Val &value, const Node &at) {
  if (!context.inKernel || value.kind != Val::Tensor || !value.gm)
    return value;
  Window whole;
  for (size_t axis = 0; axis < value.rank(); ++axis) {
    whole.offsets.push_back(constantInt(0));
    whole.sizes.push_back(dimension(value, axis, locationOf(at)));
  }
  return slice(at, value, whole, nullptr, false, "");
}

bool Walker::parseLoop(const Node &node, LoopForm &form) {
  const Node &iter = *node.get("iter");
  const Node &target = *node.get("target");
  form.node = &node;
  std::string path = iter.kind == "Call" ? dottedName(*iter.get("func")) : std::string();
  static const std::map<std::string, LoopForm::Kind> kinds = {{"pl.range", LoopForm::Range},
                                                              {"pl.parallel", LoopForm::Parallel},
                                                              {"pl.pipeline", LoopForm::Pipeline},
                                                              {"pl.unroll", LoopForm::Unroll},
                                                              {"pl.while_", LoopForm::CondWhile}};
  auto kind = kinds.find(path);
  if (kind == kinds.end()) {
    std::string what = path.empty() ? "this" : path + "(…)";
    syntax(iter, "a for statement cannot iterate over " + what,
           "use pl.range, pl.parallel, pl.pipeline, pl.unroll, pl.while_, pl.spmd or pl.split_aiv");
    return false;
  }
  form.kind = kind->second;
  std::string name = path;
  const Node *initValues = nullptr, *stage = nullptr;
  for (const auto &k : iter.list("keywords")) {
    const std::string &key = k->str("arg");
    const Node &value = *k->get("value");
    if (key == "init_values") {
      initValues = &value;
    } else if (key == "stage" && form.kind == LoopForm::Pipeline) {
      stage = &value;
    } else if (key == "attrs" && form.kind != LoopForm::Unroll &&
               form.kind != LoopForm::CondWhile) {
      if (value.kind != "Dict") {
        syntax(value, "attrs is a dict literal");
        return false;
      }
      for (size_t i = 0; i < value.list("keys").size(); ++i) {
        const Node *attrKey = value.list("keys")[i].get();
        const Node &attrValue = *value.list("values")[i];
        auto *text = attrKey ? std::get_if<std::string>(&attrKey->constant) : nullptr;
        if (!text || attrValue.kind != "Constant" ||
            std::holds_alternative<std::monostate>(attrValue.constant)) {
          syntax(attrKey ? *attrKey : value,
                 "attrs maps string literals to int, float, bool or str constants");
          return false;
        }
        Attribute attr;
        if (auto *s = std::get_if<std::string>(&attrValue.constant))
          attr = b.getStringAttr(*s);
        else if (auto *f = std::get_if<bool>(&attrValue.constant))
          attr = b.getBoolAttr(*f);
        else if (auto *n = std::get_if<int64_t>(&attrValue.constant))
          attr = b.getI64IntegerAttr(*n);
        else
          attr = b.getF64FloatAttr(std::get<double>(attrValue.constant));
        form.attributes.push_back(b.getNamedAttr("pypto.attr." + *text, attr));
      }
    } else {
      std::string accepted = form.kind == LoopForm::Unroll      ? "none"
                             : form.kind == LoopForm::CondWhile ? "init_values"
                             : form.kind == LoopForm::Pipeline  ? "stage, init_values, attrs"
                                                                : "init_values, attrs";
      syntax(*k, name + ": unknown keyword '" + key + "'",
             key == "stage" ? "stage belongs to pl.pipeline" : "accepted: " + accepted);
      return false;
    }
  }
  // Target: i, or i, (a, b); for while_: (a, b).
  const Node *carried = nullptr;
  if (form.kind == LoopForm::CondWhile) {
    if (!initValues) {
      syntax(iter, "pl.while_ needs init_values",
             "write for (x,) in pl.while_(init_values=(x0,)):");
      return false;
    }
    carried = &target;
  } else if (target.kind == "Name") {
    form.index = target.str("id");
  } else if (target.kind == "Tuple" && target.list("elts").size() == 2 &&
             target.list("elts")[0]->kind == "Name" &&
             (target.list("elts")[1]->kind == "Tuple" || target.list("elts")[1]->kind == "Name")) {
    form.index = target.list("elts")[0]->str("id");
    carried = target.list("elts")[1].get();
  } else {
    syntax(target, "the target of a loop is a name, or i, (a, b, …) with init_values");
    return false;
  }
  if (initValues && form.kind == LoopForm::Unroll) {
    syntax(*initValues, "pl.unroll takes no init_values");
    return false;
  }
  if (initValues && !carried) {
    syntax(target, "a loop with init_values has the target i, (a, b, …)");
    return false;
  }
  if (carried && !initValues) {
    syntax(target, "carried names need init_values", "write " + name + "(…, init_values=(x0, y0))");
    return false;
  }
  if (initValues) {
    if (initValues->kind != "Tuple" && initValues->kind != "List") {
      syntax(*initValues, "init_values is a list or tuple");
      return false;
    }
    std::vector<const Node *> names;
    if (carried->kind == "Name")
      names.push_back(carried);
    for (const auto &e : carried->list("elts"))
      names.push_back(e.get());
    if (names.size() != initValues->list("elts").size()) {
      syntax(*carried, "there are " + llvm::Twine(names.size()) + " carried names for " +
                           llvm::Twine(initValues->list("elts").size()) + " init_values");
      return false;
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i]->kind != "Name") {
        syntax(*names[i], "a carried value has a plain name");
        return false;
      }
      form.carriedNames.push_back(names[i]->str("id"));
      form.inits.push_back(expr(*initValues->list("elts")[i]));
      if (form.inits.back().isUnknown())
        return false;
    }
    form.yields = yieldsAtTop(node.list("body"));
  }
  if (form.kind == LoopForm::CondWhile) {
    const auto &body = node.list("body");
    if (!iter.list("args").empty()) {
      syntax(*iter.list("args")[0], "pl.while_ takes init_values only");
      return false;
    }
    if (body.empty() || body[0]->kind != "Expr" || !isCallOf(body[0]->get("value"), "cond") ||
        body[0]->get("value")->list("args").size() != 1) {
      syntax(body.empty() ? node : *body[0],
             "the first statement of a pl.while_ loop is pl.cond(condition)");
      return false;
    }
    for (size_t i = 1; i < body.size(); ++i)
      if (body[i]->kind == "Expr" && isCallOf(body[i]->get("value"), "cond")) {
        syntax(*body[i], "a pl.while_ loop has one pl.cond");
        return false;
      }
    return true;
  }
  // Bounds.
  const auto &args = iter.list("args");
  if (args.empty() || args.size() > 3) {
    syntax(iter,
           args.empty() ? name + " needs a bound" : name + " takes at most start, stop and step",
           "write " + name + "(stop) or " + name + "(start, stop, step)");
    return false;
  }
  std::vector<Val> bounds;
  for (const auto &a : args) {
    Val v = expr(*a);
    if (v.isUnknown())
      return false;
    if (!v.isScalar() || !isInteger(v.dtype)) {
      form.kind == LoopForm::Unroll
          ? syntax(*a, "pl.unroll: a bound is an integer constant, not " + describe(v))
          : syntax(*a, name + ": a bound is an integer, not " + describe(v));
      return false;
    }
    if (form.kind == LoopForm::Unroll && !v.integer()) {
      askToBake(v);
      syntax(*a, "pl.unroll needs constant bounds, this one is known at run time only",
             "use pl.range");
      return false;
    }
    if (v.integer() && (*v.integer() > maxLoopBound || *v.integer() < -maxLoopBound)) {
      syntax(*a, name + ": bound " + llvm::Twine(*v.integer()) + " is outside -2^62..2^62");
      return false;
    }
    bounds.push_back(castScalar(v, DType::Index, locationOf(*a)));
  }
  form.low = bounds.size() > 1 ? bounds[0] : constantInt(0);
  form.high = bounds.size() > 1 ? bounds[1] : bounds[0];
  form.step = bounds.size() > 2 ? bounds[2] : constantInt(1);
  if (form.step.integer() == 0) {
    syntax(*args[2], name + ": the step is zero");
    return false;
  }
  if (auto step = form.step.integer(); step && (*step > maxExtent || *step < -maxExtent)) {
    syntax(*args[2], name + ": step " + llvm::Twine(*step) + " is outside -2^31..2^31");
    return false;
  }
  if (form.kind == LoopForm::Pipeline) {
    if (!stage) {
      syntax(iter, "pl.pipeline needs stage, the number of iterations in flight",
             "write pl.pipeline(…, stage=2)");
      return false;
    }
    Val v = expr(*stage);
    if (v.isUnknown())
      return false;
    if (!v.integer() || v.dtype == DType::Bool || *v.integer() < 1) {
      if (v.isScalar())
        askToBake(v);
      syntax(*stage, "stage is a positive integer constant, this is " +
                         (v.integer() ? std::to_string(*v.integer()) : describe(v)));
      return false;
    }
    form.stage = *v.integer();
  }
  return true;
}

void Walker::forStatement(const Node &node) {
  const Node &iter = *node.get("iter");
  if (!node.list("orelse").empty()) {
    unsupported(*node.list("orelse")[0], "else of a loop is not supported");
    return;
  }
  if (isCallOf(&iter, "spmd")) {
    spmdScope(node, iter, nullptr, node.get("target"));
    return;
  }
  if (isCallOf(&iter, "split_aiv")) {
    splitAivLoop(node, iter);
    return;
  }
  LoopForm form;
  if (!parseLoop(node, form)) {
    // Whatever the body binds is unknown now; its own errors wait for a loop that makes sense.
    Assigned names = namesAssigned(node.list("body"));
    for (const std::string &name : names.strong)
      frame->vars[name] = Val();
    return;
  }
  if (form.kind == LoopForm::Unroll)
    unrollLoop(form);
  else
    buildLoop(form);
}

void Walker::whileStatement(const Node &node) {
  if (!node.list("orelse").empty()) {
    unsupported(*node.list("orelse")[0], "else of a loop is not supported");
    return;
  }
  LoopForm form;
  form.node = &node;
  form.kind = LoopForm::While;
  buildLoop(form);
}

void Walker::unrollLoop(const LoopForm &form) {
  int64_t low = *form.low.integer(), high = *form.high.integer(), step = *form.step.integer();
  int64_t distance = step > 0 ? high - low : low - high;
  int64_t trips = distance > 0 ? (distance - 1) / std::abs(step) + 1 : 0;
  if (trips > 4096) {
    syntax(*form.node->get("iter"),
           "pl.unroll would repeat its body " + llvm::Twine(trips) + " times", "use pl.range");
    return;
  }
  context.loops.push_back("unroll");
  auto *savedTargets = yieldTargets;
  yieldTargets = nullptr;
  size_t errors = m.diagnostics.size();
  for (int64_t i = 0; i < trips && m.diagnostics.size() == errors; ++i) {
    frame->vars[form.index] = constantInt(low + i * step);
    block(form.node->list("body"));
  }
  yieldTargets = savedTargets;
  context.loops.pop_back();
}

namespace {
struct Carried {
  std::string name;
  Val init;               // Unknown: undefined before the loop
  Val pattern;            // type inside
  std::vector<bool> open; // axes whose valid extent is known at run time only
};
} // namespace

void Walker::buildLoop(LoopForm &form) {
  const Node &node = *form.node;
  Location loc = locationOf(node);
  bool isWhile = form.kind == LoopForm::While || form.kind == LoopForm::CondWhile;
  const auto &wholeBody = node.list("body");
  size_t firstStatement = form.kind == LoopForm::CondWhile ? 1 : 0;
  bool hasBreak = leaves(wholeBody, "Break");

  Names live = frame->liveness->after(node);
  Names wanted = live;
  for (const std::string &name : frame->liveness->atLoopHead(node))
    wanted.insert(name);
  Assigned assigned = namesAssigned(wholeBody);
  Variables before = frame->vars;
  std::optional<Val> outerSkip, outerBreak;
  if (auto it = before.find("$skip"); it != before.end())
    outerSkip = it->second;
  if (auto it = before.find("$break"); it != before.end())
    outerBreak = it->second;
  before.erase("$skip");
  before.erase("$break");

  std::vector<std::string> hidden;
  for (size_t k = 0; k < form.carriedNames.size(); ++k) {
    if (form.yields) {
      hidden.push_back("$carry" + std::to_string(context.loops.size()) + "." + std::to_string(k));
      before[hidden.back()] = form.inits[k];
      wanted.insert(hidden.back());
      assigned.strong.insert(hidden.back());
      // The names of the target are bound anew in every iteration.
      assigned.strong.erase(form.carriedNames[k]);
    } else {
      before[form.carriedNames[k]] = form.inits[k];
      assigned.strong.insert(form.carriedNames[k]);
      wanted.insert(form.carriedNames[k]);
    }
  }
  if (hasBreak) {
    before["$break"] = constantBool(false);
    wanted.insert("$break");
    assigned.strong.insert("$break");
  }

  std::vector<Carried> carried;
  Names placeholders, isCarried;
  auto carry = [&](const std::string &name, const Val &init, const Val &pattern) {
    Carried c{name, init, pattern, {}};
    c.pattern.constant = Number();
    if (c.pattern.isScalar() && c.pattern.dtype == DType::Bool)
      c.pattern.affine = Affine();
    if (c.pattern.kind == Val::None)
      c.pattern.kind = Val::TaskId;
    c.open.assign(pattern.rank(), false);
    carried.push_back(std::move(c));
    isCarried.insert(name);
  };
  for (const std::string &name : assigned.strong) {
    if (!wanted.count(name) || name == form.index)
      continue;
    auto it = before.find(name);
    if (it == before.end()) {
      placeholders.insert(name);
      continue;
    }
    const Val &v = it->second;
    bool byYield = llvm::is_contained(hidden, name);
    if (v.isScalar() || v.kind == Val::Array || v.kind == Val::TaskId ||
        (v.isShaped() && (!v.gm || byYield)))
      carry(name, v, v);
  }

  const char *loopNames[] = {"range", "parallel", "pipeline", "unroll",
                             "while", "while",    "split_aiv"};
  const bool isSplit = form.kind == LoopForm::SplitAiv;
  const Context savedContext = context;
  if (isSplit) {
    context.inSplitAiv = true;
    context.splitMode = form.splitMode;
  }
  const size_t errorMark = m.diagnostics.size();
  auto *savedTargets = yieldTargets;
  auto savedYielded = yieldedNames;
  auto savedGuesses = guesses;
  auto savedWritten = writtenRoots;

  std::unique_ptr<Region> bodyRegion, conditionRegion;
  std::vector<Val> finals;
  Variables after;
  Val counter; // affine form of the loop variable
  bool failed = false;
  for (int attempt = 0;; ++attempt) {
    if (attempt > 40) {
      error(ErrorKind::Internal, node,
            "the types of the values that this loop carries do not settle");
      failed = true;
      break;
    }
    m.diagnostics.resize(errorMark);
    yieldedNames.clear();
    guesses.clear();
    OpBuilder::InsertionGuard guard(b);

    llvm::SmallVector<Type> types;
    for (Carried &c : carried)
      types.push_back(typeOf(c.pattern));
    llvm::SmallVector<Location> locations(types.size(), loc);
    auto enter = [&](Block &block, size_t firstArgument) {
      frame->vars = before;
      for (const std::string &name : placeholders)
        frame->vars[name] = Val();
      for (size_t i = 0; i < carried.size(); ++i) {
        Val v = like(carried[i].pattern, block.getArgument(firstArgument + i));
        if (v.isShaped())
          v.root = carried[i].pattern.root;
        frame->vars[carried[i].name] = v;
      }
      for (size_t k = 0; k < hidden.size(); ++k)
        frame->vars[form.carriedNames[k]] = frame->vars[hidden[k]];
    };

    conditionRegion.reset();
    bodyRegion = std::make_unique<Region>();
    if (isWhile) {
      conditionRegion = std::make_unique<Region>();
      Block *conditionBlock = b.createBlock(conditionRegion.get(), {}, types, locations);
      enter(*conditionBlock, 0);
      const Node &test = form.kind == LoopForm::While
                             ? *node.get("test")
                             : *wholeBody[0]->get("value")->list("args")[0];
      Val condition = expr(test);
      if (!condition.isUnknown() && (!condition.isScalar() || condition.dtype != DType::Bool))
        condition =
            typeError(test, "a condition must be a BOOL scalar, this is " + describe(condition),
                      condition.isScalar() ? "compare it: x != 0" : "");
      if (condition.isUnknown() && m.diagnostics.size() > errorMark) {
        failed = true;
        break;
      }
      if (condition.isUnknown())
        condition = constantBool(true); // only until the types of all names are known
      Value flag = materialise(condition, loc);
      if (hasBreak) {
        Val go = logicalNot(frame->vars["$break"], loc);
        flag = arith::AndIOp::create(b, loc, flag, materialise(go, loc));
      }
      scf::ConditionOp::create(b, loc, flag, conditionBlock->getArguments());
    }
    llvm::SmallVector<Type> argumentTypes;
    llvm::SmallVector<Location> argumentLocations;
    if (!isWhile) {
      argumentTypes.push_back(b.getIndexType());
      argumentLocations.push_back(loc);
    }
    argumentTypes.append(types.begin(), types.end());
    argumentLocations.append(locations.begin(), locations.end());
    Block *body = b.createBlock(bodyRegion.get(), {}, argumentTypes, argumentLocations);
    enter(*body, isWhile ? 0 : 1);
    if (!isWhile) {
      int64_t step = isSplit ? 1 : form.step.integer().value_or(1);
      // The loop variable is low + step * k.
      Affine span = step > 0 ? symbols.sub(form.high.affine, form.low.affine)
                             : symbols.sub(form.low.affine, form.high.affine);
      Bounds range{0, symbols.bounds(span).high};
      int64_t width = std::abs(step);
      if (range.high)
        range.high = std::max<int64_t>(0, llvm::divideFloorSigned(*range.high - 1, width));
      Val index;
      if (form.step.integer() && step > 0) {
        index =
            scalar(body->getArgument(0), DType::Index,
                   symbols.add(form.low.affine, symbols.mul(symbols.fresh(range), Affine(step))));
        // When the difference is not known, the bounds of both ends still are.
        Bounds low = symbols.bounds(form.low.affine), high = symbols.bounds(form.high.affine),
               direct = symbols.bounds(index.affine);
        if (!direct.high && high.high)
          index.affine = symbols.fresh({low.low, *high.high - 1});
      } else if (form.step.integer()) {
        Affine form_ =
            symbols.add(form.low.affine, symbols.mul(symbols.fresh(range), Affine(step)));
        Value scaled =
            arith::MulIOp::create(b, loc, body->getArgument(0), materialise(form.step, loc));
        index = scalar(arith::AddIOp::create(b, loc, materialise(form.low, loc), scaled),
                       DType::Index, form_);
      } else {
        Bounds low = symbols.bounds(form.low.affine), high = symbols.bounds(form.high.affine);
        index = scalar(body->getArgument(0), DType::Index,
                       symbols.fresh({low.low, high.high ? std::optional<int64_t>(*high.high - 1)
                                                         : std::nullopt}));
      }
      frame->vars[form.index] = index;
    }

    context.loops.push_back(loopNames[form.kind]);
    yieldTargets = form.yields ? &hidden : nullptr;
    if (hasBreak && !isWhile) {
      Names candidates = assigned.strong, all = wanted;
      candidates.insert(assigned.weak.begin(), assigned.weak.end());
      candidates.insert(hidden.begin(), hidden.end());
      Val go = logicalNot(frame->vars["$break"], loc);
      branch(
          node, go, candidates, all,
          [&] {
            yieldTargets = form.yields ? &hidden : nullptr;
            block(wholeBody, firstStatement);
          },
          [] {});
    } else {
      block(wholeBody, firstStatement);
    }
    context.loops.pop_back();
    yieldTargets = savedTargets;
    after = frame->vars;
    if (m.diagnostics.size() > errorMark &&
        llvm::any_of(llvm::ArrayRef(m.diagnostics).drop_front(errorMark),
                     [](const Diagnostic &d) { return d.kind != ErrorKind::Warning; })) {
      failed = true;
      break;
    }

    // What does the walk say about the carried values?
    bool again = false;
    finals.clear();
    for (Carried &c : carried) {
      Val last = after.count(c.name) ? after[c.name] : Val();
      if (last.isUnknown()) {
        auto guess = guesses.find(c.name);
        if (guess == guesses.end()) {
          finals.push_back(last);
          continue;
        }
        last = guess->second;
      }
      if (!sameType(c.pattern, last)) {
        bool literal = c.init.isConstant() && last.isScalar() && c.pattern.isScalar() &&
                       isFloat(c.pattern.dtype) == isFloat(last.dtype) &&
                       c.pattern.dtype != DType::Bool && last.dtype != DType::Bool &&
                       (c.pattern.dtype == DType::Index || c.pattern.dtype == DType::FP32);
        if (literal) {
          c.init = castScalar(c.init, last.dtype, loc);
          c.pattern.dtype = last.dtype;
          again = true;
          continue;
        }
        if (c.init.isUnknown()) {
          c.pattern = last;
          again = true;
          continue;
        }
        typeError(node,
                  "'" + c.name + "' is " + describe(c.init) + " before the loop and " +
                      describe(last) + " after an iteration",
                  "a value that a loop carries keeps its type; use a new name");
        failed = true;
        break;
      }
      for (size_t i = 0; i < c.pattern.rank(); ++i) {
        if (!c.open[i] && c.pattern.valid[i] != last.valid[i]) {
          c.open[i] = true;
          c.pattern.valid[i] = symbols.fresh({0, symbols.bounds(c.pattern.shape[i]).high});
          again = true;
        }
        if (c.pattern.shape[i] != last.shape[i] && c.pattern.shape[i].isConstant()) {
          c.pattern.shape[i] = symbols.fresh({0, std::nullopt});
          again = true;
        }
      }
      if (c.pattern.gm && !last.gm) { // memory before the loop, a value from then on
        c.pattern.gm = false;
        again = true;
      }
      if (c.pattern.isShaped() && c.pattern.space != last.space &&
          c.pattern.space != MemorySpace::None) {
        c.pattern.space = MemorySpace::None;
        again = true;
      }
      finals.push_back(last);
    }
    if (failed)
      break;
    // Names that were not carried but changed.
    Names rest = assigned.strong;
    rest.insert(assigned.weak.begin(), assigned.weak.end());
    for (const std::string &name : rest) {
      if (isCarried.count(name) || !wanted.count(name) || name == form.index ||
          llvm::is_contained(hidden, name))
        continue;
      if (form.yields && llvm::is_contained(form.carriedNames, name))
        continue;
      auto last = after.find(name);
      auto first = before.find(name);
      Val value = last == after.end() ? Val() : last->second;
      if (value.isUnknown()) {
        if (auto guess = guesses.find(name); guess != guesses.end())
          value = guess->second;
      }
      if (value.isUnknown()) {
        if (placeholders.erase(name))
          again = true; // nobody gives it a value: let its use be reported
        continue;
      }
      if (value.kind == Val::Py || value.kind == Val::Tuple)
        continue;
      if (first == before.end()) {
        if (value.kind == Val::None)
          continue;
        carry(name, Val(), value);
        carried.back().pattern.value = Value();
        placeholders.erase(name);
        again = true;
        continue;
      }
      const Val &old = first->second;
      bool same = (value.value && value.value == old.value) ||
                  (value.isConstant() && old.isConstant() && value.constant == old.constant) ||
                  (value.gm && old.gm && value.root == old.root && !value.view && !old.view) ||
                  old.isUnknown();
      if (!same) {
        carry(name, old, old);
        again = true;
      }
    }
    if (!again)
      break;
  }
  yieldTargets = savedTargets;
  context = savedContext;
  std::vector<std::pair<std::string, std::string>> yielded = yieldedNames;
  yieldedNames = savedYielded;
  guesses = savedGuesses;
  frame->vars = before;
  auto restoreFlags = [&] {
    frame->vars.erase("$skip");
    frame->vars.erase("$break");
    for (const std::string &h : hidden)
      frame->vars.erase(h);
    if (outerSkip)
      frame->vars["$skip"] = *outerSkip;
    if (outerBreak)
      frame->vars["$break"] = *outerBreak;
  };
  if (failed) {
    for (const std::string &name : assigned.strong)
      frame->vars[name] = Val();
    for (auto &[name, from] : yielded)
      frame->vars[name] = Val();
    restoreFlags();
    if (bodyRegion)
      bodyRegion->dropAllReferences();
    return;
  }

  // End of the body, then the operation itself.
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&bodyRegion->back());
    llvm::SmallVector<Value> values;
    for (auto [c, final] : llvm::zip(carried, finals)) {
      Type type = typeOf(c.pattern);
      bool mixed = !final.isUnknown() && !c.init.isUnknown() && final.gm != c.init.gm;
      Val last = mixed ? loaded(final, node) : final;
      Value value = last.isUnknown()  ? b.create(loc, b.getStringAttr("pypto.undef"), ValueRange(),
                                                 TypeRange(type))
                                            ->getResult(0)
                    : last.isScalar() ? materialise(castScalar(last, c.pattern.dtype, loc), loc)
                                      : materialise(last, loc);
      values.push_back(retype(value, type, loc));
    }
    if (isSplit)
      b.create(loc, b.getStringAttr("pypto.yield"), values);
    else
      scf::YieldOp::create(b, loc, values);
  }
  llvm::SmallVector<Value> inits;
  llvm::SmallVector<Type> types;
  for (Carried &c : carried) {
    Type type = typeOf(c.pattern);
    types.push_back(type);
    const Val &last = finals[types.size() - 1];
    if (!c.init.isUnknown() && !last.isUnknown() && c.init.gm && !last.gm)
      c.init = loaded(c.init, node);
    Value value = c.init.isUnknown()
                      ? b.create(loc, b.getStringAttr("pypto.undef"), ValueRange(), TypeRange(type))
                            ->getResult(0)
                  : c.init.isScalar() ? materialise(castScalar(c.init, c.pattern.dtype, loc), loc)
                                      : materialise(c.init, loc);
    inits.push_back(retype(value, type, loc));
  }
  OperationState state(loc, isSplit   ? llvm::StringRef("pypto.split_aiv")
                            : isWhile ? scf::WhileOp::getOperationName()
                                      : scf::ForOp::getOperationName());
  if (isSplit) {
    state.addAttribute("mode", b.getStringAttr(form.splitMode));
  } else if (!isWhile) {
    Val low = form.low, high = form.high, step = form.step;
    if (step.integer() && *step.integer() < 0) { // count upwards, the body computes the variable
      int64_t width = -*step.integer();
      Val span = scalarBinary(node, "Sub", low, high);
      high = scalarBinary(node, "FloorDiv", scalarBinary(node, "Add", span, constantInt(width - 1)),
                          constantInt(width));
      low = constantInt(0);
      step = constantInt(1);
    }
    for (const Val *v : {&low, &high, &step})
      state.addOperands(materialise(*v, loc));
    if (form.kind == LoopForm::Parallel)
      state.addAttribute("pypto.loop_kind", b.getStringAttr("parallel"));
    if (form.kind == LoopForm::Pipeline) {
      state.addAttribute("pypto.loop_kind", b.getStringAttr("pipeline"));
      state.addAttribute("pypto.stage", b.getI64IntegerAttr(form.stage));
    }
    state.addAttributes(form.attributes);
  }
  state.addOperands(inits);
  state.addTypes(types);
  if (isWhile)
    state.addRegion(std::move(conditionRegion));
  state.addRegion(std::move(bodyRegion));
  Operation *op = b.create(state);

  for (auto [c, last, value] : llvm::zip(carried, finals, op->getResults())) {
    Val result = like(c.pattern, value);
    if (result.isShaped()) {
      bool sameRoot = !last.isUnknown() && last.root == c.pattern.root && !c.init.isUnknown();
      if (!sameRoot) {
        // The buffer may be any of these: a write through the result is a write to all.
        if (c.init.gm)
          writtenRoots.insert(c.init.root);
        result.root = newRoot();
      }
      result.gm = (c.init.isUnknown() || c.init.gm) && (last.isUnknown() || last.gm);
    }
    frame->vars[c.name] = result;
  }
  for (auto &[name, from] : yielded)
    frame->vars[name] = frame->vars[from];
  if (!form.index.empty() && live.count(form.index) && !before.count(form.index))
    frame->vars.erase(form.index);
  // Names that the body bound only for itself are not visible afterwards.
  restoreFlags();
}

} // namespace pypto::importer
