//===- Liveness.cpp - which names are used later --------------------------===//
#include "Liveness.h"

namespace pypto::importer {
using ast::Node;

void namesRead(const Node *expr, Names &names) {
  if (!expr)
    return;
  if (expr->kind == "Name")
    names.insert(expr->str("id"));
  for (const auto &[field, child] : expr->child)
    namesRead(child.get(), names);
  for (const auto &[field, list] : expr->children)
    for (const auto &item : list)
      namesRead(item.get(), names);
}

namespace {

/// The dotted name of `a.b.c`, or "".
std::string dotted(const Node *expr) {
  if (expr && expr->kind == "Name")
    return expr->str("id");
  if (!expr || expr->kind != "Attribute")
    return {};
  std::string base = dotted(expr->get("value"));
  return base.empty() ? base : base + "." + expr->str("attr");
}

void targets(const Node *target, Names &defined, Names &read) {
  if (!target)
    return;
  if (target->kind == "Name") {
    defined.insert(target->str("id"));
  } else if (target->kind == "Tuple" || target->kind == "List") {
    for (const auto &item : target->list("elts"))
      targets(item.get(), defined, read);
  } else {
    namesRead(target, read); // `x[i] = …` needs the old x
  }
}

void subscriptBases(const Node *target, Names &names) {
  if (!target)
    return;
  if (target->kind == "Subscript" && target->get("value")->kind == "Name")
    names.insert(target->get("value")->str("id"));
  for (const auto &item : target->list("elts"))
    subscriptBases(item.get(), names);
}

/// Arguments of calls may be written by the callee.
void callArguments(const Node *expr, bool wholeStatement, Names &names) {
  if (!expr)
    return;
  if (expr->kind == "Call") {
    std::string callee = dotted(expr->get("func"));
    bool language = callee.rfind("pl.", 0) == 0 || callee.rfind("pld.", 0) == 0;
    if (!language || wholeStatement || callee == "pl.submit" || callee == "pl.spmd_submit") {
      for (const auto &item : expr->list("args"))
        if (item->kind == "Name")
          names.insert(item->str("id"));
      for (const auto &item : expr->list("keywords"))
        if (item->get("value")->kind == "Name")
          names.insert(item->get("value")->str("id"));
    }
  }
  for (const auto &[field, child] : expr->child)
    callArguments(child.get(), false, names);
  for (const auto &[field, list] : expr->children)
    for (const auto &item : list)
      callArguments(item.get(), false, names);
}

} // namespace

bool isCallOf(const Node *expr, const char *path) {
  return expr && expr->kind == "Call" && dotted(expr->get("func")) == std::string("pl.") + path;
}

void namesAssigned(const Node &s, Assigned &names) {
  Names ignored;
  if (s.kind == "Assign") {
    for (const auto &target : s.list("targets")) {
      targets(target.get(), names.strong, ignored);
      subscriptBases(target.get(), names.strong);
    }
    callArguments(s.get("value"), false, names.weak);
  } else if (s.kind == "AugAssign" || s.kind == "AnnAssign") {
    targets(s.get("target"), names.strong, ignored);
    subscriptBases(s.get("target"), names.strong);
    callArguments(s.get("value"), false, names.weak);
  } else if (s.kind == "Expr" || s.kind == "Return") {
    callArguments(s.get("value"), true, names.weak);
  } else if (s.kind == "For") {
    targets(s.get("target"), names.strong, ignored);
  } else if (s.kind == "With") {
    for (const auto &item : s.list("items"))
      targets(item->get("optional_vars"), names.strong, ignored);
  }
  for (const char *field : {"body", "orelse"})
    for (const auto &inner : s.list(field))
      namesAssigned(*inner, names);
}

Assigned namesAssigned(const Statements &statements) {
  Assigned names;
  for (const auto &s : statements)
    namesAssigned(*s, names);
  for (const std::string &name : names.strong)
    names.weak.erase(name);
  return names;
}

Liveness::Liveness(const Node &function, const Names &atExit) {
  block(function.list("body"), atExit);
}

const Names &Liveness::find(const std::map<const Node *, Names> &map, const Node &key) {
  static const Names none;
  auto it = map.find(&key);
  return it == map.end() ? none : it->second;
}

/// True if a break or continue in `s` leaves the loop around `s`.
static bool leavesLoop(const Node &s) {
  if (s.kind == "Break" || s.kind == "Continue")
    return true;
  if (s.kind != "If" && s.kind != "With")
    return false;
  for (const char *field : {"body", "orelse"})
    for (const auto &inner : s.list(field))
      if (leavesLoop(*inner))
        return true;
  return false;
}

Names Liveness::block(const Statements &statements, Names live) {
  for (auto it = statements.rbegin(); it != statements.rend(); ++it) {
    // The importer walks on behind a break with a flag set: what the target of the jump reads stays
    // alive across the statements in between.
    if (!loops.empty() && leavesLoop(**it)) {
      live.insert(loops.back().first.begin(), loops.back().first.end());
      live.insert(loops.back().second.begin(), loops.back().second.end());
    }
    out[it->get()] = live;
    live = statement(**it, live);
  }
  return live;
}

static Names without(Names set, const Names &removed) {
  for (const std::string &name : removed)
    set.erase(name);
  return set;
}

Names Liveness::statement(const Node &s, const Names &live) {
  Names defined, read;
  if (s.kind == "Assign" || s.kind == "AnnAssign") {
    for (const auto &target : s.list("targets"))
      targets(target.get(), defined, read);
    targets(s.get("target"), defined, read);
    namesRead(s.get("value"), read);
    read.merge(without(live, defined));
    return read;
  }
  if (s.kind == "If") {
    read = block(s.list("body"), live);
    read.merge(block(s.list("orelse"), live));
    namesRead(s.get("test"), read);
    return read;
  }
  if (s.kind == "For" || s.kind == "While")
    return loop(s, live);
  if (s.kind == "With") {
    Names asNames;
    for (const auto &item : s.list("items"))
      targets(item->get("optional_vars"), asNames, read);
    read.merge(block(s.list("body"), without(live, asNames)));
    for (const auto &item : s.list("items"))
      namesRead(item->get("context_expr"), read);
    return read;
  }
  if (s.kind == "Return") {
    namesRead(s.get("value"), read);
    return read;
  }
  if (s.kind == "Break" || s.kind == "Continue") {
    if (loops.empty())
      return live;
    return s.kind == "Break" ? loops.back().first : loops.back().second;
  }
  read = live;
  namesRead(&s, read);
  return read;
}

Names Liveness::loop(const Node &s, const Names &live) {
  Names targetNames, read;
  targets(s.get("target"), targetNames, read);
  Names start = live;
  namesRead(s.get("test"), start);
  for (;;) { // grows until stable
    loops.emplace_back(live, start);
    Names body = without(block(s.list("body"), start), targetNames);
    loops.pop_back();
    size_t before = start.size();
    start.merge(body);
    if (start.size() == before)
      break;
  }
  head[&s] = start;
  Names before = start;
  if (const Node *iter = s.get("iter"))
    for (const auto &keyword : iter->list("keywords"))
      if (keyword->str("arg") == "init_values") // the loop gives them a value even if it never runs
        before = without(std::move(before), targetNames);
  read.merge(before);
  namesRead(s.get("iter"), read);
  return read;
}

} // namespace pypto::importer
