//===- Branches.cpp - if, and statements under a flag ---------------------===//
#include "Walker.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

void Walker::ifStatement(const Node &node) {
  Val condition = expr(*node.get("test"));
  const auto &body = node.list("body");
  const auto &orelse = node.list("orelse");
  if (condition.isUnknown()) { // still look for errors in the arms
    Variables saved = frame->vars;
    auto mark = m.diagnostics.size();
    if (mark > 0) {
      Block scratch;
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&scratch);
      block(body);
      frame->vars = saved;
      block(orelse);
      scratch.dropAllReferences();
      scratch.clear();
    }
    frame->vars = std::move(saved);
    Assigned names;
    namesAssigned(node, names);
    for (const std::string &name : names.strong)
      if (name[0] != '$')
        frame->vars[name] = Val();
    return;
  }
  if (!condition.isScalar() || condition.dtype != DType::Bool) {
    typeError(*node.get("test"),
              "a condition must be a BOOL scalar, this is " + describe(condition),
              condition.isScalar() ? "compare it: x != 0" : "");
    return;
  }
  auto *savedTargets = yieldTargets;
  yieldTargets = nullptr;
  if (auto known = condition.boolean()) {
    block(*known ? body : orelse);
    yieldTargets = savedTargets;
    return;
  }
  Assigned then = namesAssigned(body), otherwise = namesAssigned(orelse);
  Names candidates = std::move(then.strong);
  candidates.merge(then.weak);
  candidates.merge(otherwise.strong);
  candidates.merge(otherwise.weak);
  Names live = frame->liveness->after(node);
  for (const char *flag : {"$skip", "$break"}) {
    candidates.insert(flag);
    live.insert(flag);
  }
  // The names of pl.yield_ in the arms survive by themselves.
  branch(node, condition, candidates, live, [&] { block(body); }, [&] { block(orelse); });
  yieldTargets = savedTargets;
}

void Walker::branch(const Node &at, const Val &condition, const Names &candidates,
                    const Names &live, llvm::function_ref<void()> then,
                    llvm::function_ref<void()> otherwise) {
  if (auto known = condition.boolean()) {
    *known ? then() : otherwise();
    return;
  }
  Location loc = locationOf(at);
  Variables before = frame->vars;
  auto arm = [&](llvm::function_ref<void()> body, Region &region) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&region);
    frame->vars = before;
    frame->vars["$arm"] = none();
    body();
    if (!before.count("$arm"))
      frame->vars.erase("$arm");
    return std::move(frame->vars);
  };
  Region thenRegion, elseRegion;
  Variables thenVars = arm(then, thenRegion), elseVars = arm(otherwise, elseRegion);
  frame->vars = before;

  // Names that differ between the arms and are read later become results.
  struct Merge {
    std::string name;
    Val thenValue, elseValue, type;
  };
  std::vector<Merge> merges;
  for (const std::string &name : candidates) {
    auto t = thenVars.find(name), e = elseVars.find(name);
    bool inThen = t != thenVars.end(), inElse = e != elseVars.end();
    if (!inThen && !inElse)
      continue;
    if (!live.count(name)) {
      // Dead afterwards; what it was before is as good as anything.
      if (!before.count(name))
        frame->vars.erase(name);
      continue;
    }
    bool isFlag = name == "$skip" || name == "$break";
    Val thenValue = inThen ? t->second : isFlag ? constantBool(false) : Val();
    Val elseValue = inElse ? e->second : isFlag ? constantBool(false) : Val();
    if ((inThen && thenValue.isUnknown()) || (inElse && elseValue.isUnknown())) {
      // One arm does not know (yet): the other's type is the best guess.
      const Val &guess = inThen && !thenValue.isUnknown() ? thenValue : elseValue;
      if (!guess.isUnknown())
        guesses[name] = guess;
      frame->vars[name] = Val();
      continue;
    }
    if (!inThen && !isFlag)
      thenValue = Val();
    const Val &any = inThen || isFlag ? thenValue : elseValue;
    if ((inThen || isFlag) && (inElse || isFlag)) {
      if (thenValue.value && thenValue.value == elseValue.value &&
          thenValue.kind == elseValue.kind) {
        frame->vars[name] = thenValue;
        continue;
      }
      if (thenValue.isConstant() && elseValue.isConstant() &&
          thenValue.constant == elseValue.constant && thenValue.dtype == elseValue.dtype) {
        frame->vars[name] = thenValue;
        continue;
      }
      if (thenValue.isShaped() && elseValue.isShaped() && thenValue.gm && elseValue.gm &&
          thenValue.root == elseValue.root && !thenValue.view && !elseValue.view) {
        if (auto old = before.find(name); old != before.end() && old->second.root == thenValue.root)
          frame->vars[name] = old->second;
        continue;
      }
      bool literalThen = thenValue.isConstant() && thenValue.isScalar(),
           literalElse = elseValue.isConstant() && elseValue.isScalar();
      if (!sameType(thenValue, elseValue) && thenValue.isScalar() && elseValue.isScalar() &&
          (literalThen || literalElse) && isFloat(thenValue.dtype) == isFloat(elseValue.dtype) &&
          thenValue.dtype != DType::Bool && elseValue.dtype != DType::Bool) {
        DType type = literalThen ? elseValue.dtype : thenValue.dtype;
        thenValue.isConstant() && literalThen ? (void)(thenValue = castScalar(thenValue, type, loc))
                                              : (void)0;
        elseValue.isConstant() && literalElse ? (void)(elseValue = castScalar(elseValue, type, loc))
                                              : (void)0;
      }
      if (!sameType(thenValue, elseValue)) {
        if (name[0] == '$')
          typeError(at, "both choices need one type, they are " + describe(thenValue) + " and " +
                            describe(elseValue));
        else
          typeError(at,
                    "'" + name + "' is " + describe(thenValue) + " if the condition holds and " +
                        describe(elseValue) + " otherwise",
                    "use two names");
        frame->vars[name] = Val();
        continue;
      }
    }
    if (any.kind == Val::None || any.kind == Val::Py || any.kind == Val::Tuple) {
      bool task =
          (inThen && thenValue.kind == Val::TaskId) || (inElse && elseValue.kind == Val::TaskId);
      if (!task) {
        if (any.kind == Val::Tuple)
          typeError(at, "the tuple '" + name + "' cannot be bound in a branch and used afterwards",
                    "bind its elements to names");
        frame->vars[name] = any.kind == Val::None ? any : Val();
        continue;
      }
    }
    Merge merge{name, thenValue, elseValue, any.kind == Val::None ? elseValue : any};
    if (merge.type.isShaped() && (inThen || isFlag) && (inElse || isFlag)) {
      // Valid extents may differ; the wider type says "known at run time".
      for (size_t i = 0; i < merge.type.rank(); ++i) {
        if (thenValue.valid[i] != elseValue.valid[i])
          merge.type.valid[i] = symbols.fresh({0, symbols.bounds(merge.type.shape[i]).high});
        if (thenValue.shape[i] != elseValue.shape[i])
          merge.type.shape[i] = symbols.fresh({0, std::nullopt});
      }
      if (thenValue.space != elseValue.space)
        merge.type.space = MemorySpace::None;
    }
    merges.push_back(std::move(merge));
  }

  bool empty = merges.empty() && thenRegion.front().empty() && elseRegion.front().empty();
  if (empty)
    return;
  llvm::SmallVector<Type> types;
  for (Merge &merge : merges)
    types.push_back(typeOf(merge.type));
  auto finishArm = [&](Region &region, bool isThen) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&region.front());
    llvm::SmallVector<Value> values;
    for (auto [merge, type] : llvm::zip(merges, types)) {
      const Val &given = isThen ? merge.thenValue : merge.elseValue;
      const Val &other = isThen ? merge.elseValue : merge.thenValue;
      bool mixed = !given.isUnknown() && !other.isUnknown() && given.gm && !other.gm;
      Val v = mixed ? loaded(given, at) : given;
      Value value;
      if (v.isUnknown())
        value = b.create(loc, b.getStringAttr("pypto.undef"), ValueRange(), TypeRange(type))
                    ->getResult(0);
      else if (v.isScalar())
        value = materialise(castScalar(v, merge.type.dtype, loc), loc);
      else
        value = materialise(v, loc);
      // An undefined value made by a retyping arm keeps the program well formed.
      if (value && value.getType() != type)
        value = retype(value, type, loc);
      values.push_back(value);
    }
    scf::YieldOp::create(b, loc, values);
  };
  finishArm(thenRegion, true);
  finishArm(elseRegion, false);
  OperationState state(loc, scf::IfOp::getOperationName());
  state.addOperands(condition.value);
  state.addTypes(types);
  auto addRegion = [&](Region &region) {
    auto owned = std::make_unique<Region>();
    owned->takeBody(region);
    state.addRegion(std::move(owned));
  };
  addRegion(thenRegion);
  addRegion(elseRegion);
  Operation *op = b.create(state);
  for (auto [merge, value] : llvm::zip(merges, op->getResults())) {
    Val result = like(merge.type, value);
    if (result.isScalar() && isInteger(result.dtype) && !merge.thenValue.isUnknown() &&
        !merge.elseValue.isUnknown()) {
      Bounds x = symbols.bounds(merge.thenValue.affine), y = symbols.bounds(merge.elseValue.affine),
             r;
      if (x.low && y.low)
        r.low = std::min(*x.low, *y.low);
      if (x.high && y.high)
        r.high = std::max(*x.high, *y.high);
      result.affine = symbols.fresh(r);
    }
    if (result.isShaped()) {
      bool sameRoot = !merge.thenValue.isUnknown() && !merge.elseValue.isUnknown() &&
                      merge.thenValue.root == merge.elseValue.root;
      if (!sameRoot)
        result.root = newRoot();
      bool gm = (merge.thenValue.isUnknown() || merge.thenValue.gm) &&
                (merge.elseValue.isUnknown() || merge.elseValue.gm);
      result.gm = gm;
    }
    frame->vars[merge.name] = result;
  }
}

} // namespace pypto::importer
