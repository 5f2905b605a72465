//===- Scopes.cpp - pl.at, pl.spmd, pl.scope, pl.cluster, pl.split_aiv ----===//
#include "Extents.h"
#include "Walker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

static const Node *find(const Statements &statements, llvm::function_ref<bool(const Node &)> is);

static const Node *findIn(const Node &node, llvm::function_ref<bool(const Node &)> is) {
  if (is(node))
    return &node;
  for (const auto &[field, child] : node.child)
    if (child)
      if (const Node *found = findIn(*child, is))
        return found;
  for (const auto &[field, list] : node.children)
    if (const Node *found = find(list, is))
      return found;
  return nullptr;
}

static const Node *find(const Statements &statements, llvm::function_ref<bool(const Node &)> is) {
  for (const auto &s : statements)
    if (s)
      if (const Node *found = findIn(*s, is))
        return found;
  return nullptr;
}

Operation *Walker::region(const Node &at, llvm::StringRef op, OpParts &parts, bool hasTask,
                          bool toGlobal, llvm::ArrayRef<Type> blockArguments,
                          llvm::function_ref<void(Block &)> walk) {
  Location loc = locationOf(at);
  auto owned = std::make_unique<Region>();
  Variables before = frame->vars;
  auto *savedTargets = yieldTargets;
  yieldTargets = nullptr;
  OpBuilder::InsertionGuard guard(b);
  auto place = b.saveInsertionPoint();
  llvm::SmallVector<Location> locations(blockArguments.size(), loc);
  Block *block = b.createBlock(owned.get(), {}, blockArguments, locations);
  walk(*block);
  yieldTargets = savedTargets;

  Assigned assigned = namesAssigned(at.list("body"));
  Names candidates = assigned.strong;
  candidates.insert(assigned.weak.begin(), assigned.weak.end());
  Names live = frame->liveness->after(at);
  if (!toGlobal)
    for (const char *flag : {"$skip", "$break"}) {
      candidates.insert(flag);
      live.insert(flag);
    }
  Variables after = std::move(frame->vars);
  frame->vars = before;
  llvm::SmallVector<Value> yields;
  llvm::SmallVector<std::pair<std::string, Val>> results;
  for (const std::string &name : candidates) {
    auto last = after.find(name), first = before.find(name);
    if (last == after.end() || !live.count(name))
      continue;
    const Val &value = last->second;
    const Val *old = first == before.end() ? nullptr : &first->second;
    if (value.isUnknown() || value.isConstant() || value.kind == Val::None ||
        value.kind == Val::Py) {
      frame->vars[name] = value;
      continue;
    }
    if (old && ((value.value && value.value == old->value) ||
                (value.gm && old->gm && value.root == old->root && !value.view && !old->view)))
      continue;
    if (value.isShaped() && value.gm && toGlobal) {
      // Another name of global memory from outside.
      if (value.view) {
        invalid(at, "'" + name + "' is a window made inside the kernel and used after it",
                "make the window outside");
        continue;
      }
      auto alias = llvm::find_if(before, [&](const auto &entry) {
        return entry.second.gm && entry.second.root == value.root && !entry.second.view;
      });
      if (alias != before.end()) {
        frame->vars[name] = alias->second;
        continue;
      }
    }
    if (toGlobal && !value.isShaped()) {
      invalid(at,
              "'" + name + "' is " + describe(value) +
                  " computed inside a kernel and used after it",
              "a kernel gives tensors only: pl.write it into a tensor and pl.read it outside");
      frame->vars[name] = Val();
      continue;
    }
    if (op == "spmd") {
      invalid(at, "'" + name + "' is computed by every block of pl.spmd and used after it",
              "write it into a window of a tensor made outside");
      frame->vars[name] = Val();
      continue;
    }
    if (value.kind == Val::Tuple) {
      typeError(at, "the tuple '" + name + "' cannot leave this scope",
                "bind its elements to names");
      continue;
    }
    Val result = value;
    if (toGlobal) {
      result.kind = Val::Tensor;
      result.space = MemorySpace::None;
      result.gm = true;
      result.view = false;
      result.transposed = false;
      result.valid = result.shape; // memory is all there; the rest is undefined
      result.root = newRoot();
    }
    yields.push_back(materialise(value, loc));
    results.emplace_back(name, result);
  }
  b.create(loc, b.getStringAttr("pypto.yield"), yields);
  b.restoreInsertionPoint(place);
  llvm::SmallVector<Type> types;
  for (auto &[name, value] : results)
    types.push_back(typeOf(value));
  if (hasTask)
    types.push_back(TaskIdType::get(m.context));
  llvm::SmallVector<std::unique_ptr<Region>> regions;
  regions.push_back(std::move(owned));
  Operation *created = create(op, loc, parts, types, std::move(regions));
  for (auto [entry, value] : llvm::zip(results, created->getResults())) {
    Val v = like(entry.second, value);
    frame->vars[entry.first] = v;
  }
  return created;
}

bool Walker::nameHint(const Node &node, std::string &hint) {
  auto *text = node.kind == "Constant" ? std::get_if<std::string>(&node.constant) : nullptr;
  static const std::set<std::string> pythonKeywords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  bool good = text && !text->empty() && !llvm::isDigit((*text)[0]) &&
              !pythonKeywords.count(*text) &&
              llvm::all_of(*text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!good) {
    syntax(node, "name_hint is a string literal that is an identifier and no keyword of Python");
    return false;
  }
  hint = *text;
  return true;
}

bool Walker::literalBool(const Node &node, llvm::StringRef keyword, bool &value) {
  auto *flag = node.kind == "Constant" ? std::get_if<bool>(&node.constant) : nullptr;
  if (!flag) {
    syntax(node, keyword + " is True or False, written out");
    return false;
  }
  value = *flag;
  return true;
}

bool Walker::parseOptimizations(const Node &list, OpParts &parts) {
  if (list.kind != "List" && list.kind != "Tuple") {
    syntax(list, "optimizations is a list, written out",
           "write optimizations=[pl.split(pl.SplitMode.UP_DOWN)]");
    return false;
  }
  bool hasSplit = false, hasSlots = false;
  for (const auto &item : list.list("elts")) {
    if (isCallOf(item.get(), "split")) {
      const Node *mode = item->list("args").empty() ? nullptr : item->list("args")[0].get();
      for (const auto &k : item->list("keywords")) {
        if (k->str("arg") == "mode")
          mode = k->get("value");
        else if (k->str("arg") == "slot_num")
          warning(*k, "slot_num of pl.split is deprecated", "use pl.cross_core_slot(slot_num=N)");
        else {
          syntax(*k, "pl.split: unknown keyword '" + k->str("arg") + "'", "accepted: mode");
          return false;
        }
      }
      if (!mode || hasSplit) {
        syntax(*item, hasSplit ? "pl.split is given twice" : "pl.split needs a mode",
               "write pl.split(pl.SplitMode.UP_DOWN)");
        return false;
      }
      Val value = expr(*mode);
      if (value.isUnknown())
        return false;
      auto member = enumArgument(value, "SplitMode", *mode, "mode");
      if (!member)
        return false;
      parts.attributes.push_back(b.getNamedAttr("split", b.getStringAttr(*member)));
      hasSplit = true;
    } else if (isCallOf(item.get(), "cross_core_slot")) {
      const Node *count = item->list("args").empty() ? nullptr : item->list("args")[0].get();
      for (const auto &k : item->list("keywords"))
        if (k->str("arg") == "slot_num")
          count = k->get("value");
      Val value = count ? expr(*count) : Val();
      if (!count || hasSlots || !value.integer() || *value.integer() < 1) {
        syntax(*item, "pl.cross_core_slot takes slot_num, a positive constant, once");
        return false;
      }
      parts.attributes.push_back(b.getNamedAttr("slot_num", b.getI64IntegerAttr(*value.integer())));
      hasSlots = true;
    } else {
      syntax(*item, "this is no optimization",
             "known are pl.split(mode) and pl.cross_core_slot(slot_num=N)");
      return false;
    }
  }
  return true;
}

void Walker::withStatement(const Node &node) {
  const auto &items = node.list("items");
  if (items.size() != 1) {
    syntax(node, "a with statement has one item", "nest the with statements");
    return;
  }
  const Node &call = *items[0]->get("context_expr");
  const Node *as = items[0]->get("optional_vars");
  std::string path = call.kind == "Call" ? dottedName(*call.get("func")) : std::string();
  if (as && path != "pl.at" && path != "pl.spmd") {
    syntax(*as, "`as` is for pl.at and pl.spmd: it names the id of the task");
    return;
  }
  if (as && as->kind != "Name") {
    syntax(*as, "the target of `as` is a plain name");
    return;
  }
  if (path == "pl.at")
    atScope(node, call, as);
  else if (path == "pl.spmd")
    spmdScope(node, call, as, nullptr);
  else if (path == "pl.scope" || path == "pl.manual_scope")
    runtimeScope(node, call, path == "pl.manual_scope");
  else if (path == "pl.cluster")
    clusterScope(node, call);
  else
    syntax(call, (path.empty() ? std::string("this") : path) + " is no scope",
           path == "pl.incore" ? "write with pl.at(level=pl.Level.CORE_GROUP):"
                               : "known are pl.at, pl.spmd, pl.scope, pl.manual_scope, pl.cluster");
}

void Walker::atScope(const Node &node, const Node &call, const Node *as) {
  const auto &args = call.list("args");
  const Node *level = args.size() > 0 ? args[0].get() : nullptr,
             *role = args.size() > 1 ? args[1].get() : nullptr;
  if (args.size() > 2) {
    syntax(*args[2], "pl.at takes level and role by position, the rest by keyword");
    return;
  }
  OpParts parts;
  std::string hint;
  const Node *optimizations = nullptr, *deps = nullptr, *noDep = nullptr;
  bool early = false, flag = false;
  std::set<std::string> seen;
  for (const auto &k : call.list("keywords")) {
    const std::string &key = k->str("arg");
    const Node &value = *k->get("value");
    if (!seen.insert(key).second || (key == "level" && !args.empty()) ||
        (key == "role" && args.size() > 1)) {
      syntax(*k, "pl.at: '" + key + "' is given twice");
      return;
    }
    if (key == "level")
      level = &value;
    else if (key == "role")
      role = &value;
    else if (key == "optimizations")
      optimizations = &value;
    else if (key == "deps")
      deps = &value;
    else if (key == "no_dep_args")
      noDep = &value;
    else if (key == "dumps") {
      llvm::SmallVector<Value> ignored;
      if (value.kind != "Constant" && !tensorList(value, "dumps", ignored))
        return;
    } else if (key == "name_hint") {
      auto *text = std::get_if<std::string>(&value.constant);
      if (!(text && text->empty()) && !nameHint(value, hint))
        return;
    } else if (key == "allow_early_resolve") {
      if (!literalBool(value, key, early))
        return;
    } else if (key == "windowize") {
      if (!literalBool(value, key, flag)) // windows are made by nobody here: permission not needed
        return;
    } else {
      syntax(*k, "pl.at: unknown keyword '" + key + "'",
             "accepted: level, role, optimizations, deps, no_dep_args, dumps, allow_early_resolve, "
             "name_hint, windowize");
      return;
    }
  }
  if (!level) {
    syntax(call, "pl.at needs a level", "write pl.at(level=pl.Level.CORE_GROUP)");
    return;
  }
  Val levelValue = expr(*level);
  if (levelValue.isUnknown())
    return;
  if (levelValue.kind != Val::Py || levelValue.python->kind != PyValue::Enum ||
      levelValue.python->text.rfind("Level.", 0) != 0) {
    syntax(*level, "the level is a member of pl.Level, like pl.Level.CORE_GROUP");
    return;
  }
  std::string levelName = levelValue.python->text.substr(6);
  bool core = levelName == "CORE_GROUP";
  if (core && role) {
    syntax(*role, "pl.at(CORE_GROUP) takes no role");
    return;
  }
  if (!core && optimizations) {
    syntax(*optimizations, "optimizations are for level CORE_GROUP");
    return;
  }
  if (context.inKernel) {
    syntax(call, "pl.at inside a kernel",
           "a kernel cannot launch another one; leave the inner pl.at out");
    return;
  }
  bool hasSplit =
      optimizations && findIn(*optimizations, [](const Node &n) { return isCallOf(&n, "split"); });
  if (const Node *manual = hasSplit ? find(node.list("body"),
                                           [](const Node &n) { return isCallOf(&n, "split_aiv"); })
                                    : nullptr) {
    syntax(*manual, "pl.split_aiv in a scope with pl.split",
           "split by hand or let the compiler do it, not both");
    return;
  }
  if (optimizations && !parseOptimizations(*optimizations, parts))
    return;
  if (deps && !(deps->kind == "Constant" && deps->constantType == "NoneType")) {
    llvm::SmallVector<Value> list;
    if (!dependencies(*deps, list))
      return;
    parts.groups["deps"] = list;
  }
  if (noDep && !(noDep->kind == "Constant" && noDep->constantType == "NoneType")) {
    llvm::SmallVector<Value> list;
    if (!tensorList(*noDep, "no_dep_args", list))
      return;
    parts.groups["no_dep_args"] = list;
  }
  parts.attributes.push_back(b.getNamedAttr("name_hint", b.getStringAttr(hint)));
  if (early && core)
    parts.attributes.push_back(b.getNamedAttr("allow_early_resolve", b.getBoolAttr(true)));
  Context saved = context;
  Operation *op;
  if (core) {
    context.inKernel = true;
    context.loops.push_back("$function");
    op = region(node, "incore", parts, true, true, {}, [&](Block &) { block(node.list("body")); });
  } else {
    std::string roleName;
    if (role) {
      Val value = expr(*role);
      if (value.kind == Val::Py)
        roleName = value.python->text.substr(value.python->text.find('.') + 1);
    }
    if (roleName == "SubWorker") {
      syntax(*role, "a SubWorker is a function of its own, not a scope");
      return;
    }
    parts.attributes.push_back(b.getNamedAttr("level", b.getStringAttr(levelName)));
    parts.attributes.push_back(b.getNamedAttr("role", b.getStringAttr(roleName)));
    op = region(node, "hierarchy", parts, true, false, {},
                [&](Block &) { block(node.list("body")); });
  }
  context = saved;
  if (as) {
    Val task;
    task.kind = Val::TaskId;
    task.value = op->getResults().back();
    bindName(*as, as->str("id"), task);
  }
}

void Walker::spmdScope(const Node &node, const Node &call, const Node *as, const Node *index) {
  const auto &args = call.list("args");
  OpParts parts;
  std::string hint;
  const Node *count = args.size() == 1 ? args[0].get() : nullptr, *optimizations = nullptr,
             *deps = nullptr, *predicateNode = nullptr;
  bool early = false, sync = false;
  for (const auto &k : call.list("keywords")) {
    const std::string &key = k->str("arg");
    const Node &value = *k->get("value");
    if (key == "core_num" && !count)
      count = &value;
    else if (key == "sync_start") {
      if (!literalBool(value, key, sync))
        return;
    } else if (key == "allow_early_resolve") {
      if (!literalBool(value, key, early))
        return;
    } else if (key == "name_hint") {
      auto *text = std::get_if<std::string>(&value.constant);
      if (!(text && text->empty()) && !nameHint(value, hint))
        return;
    } else if (key == "optimizations")
      optimizations = &value;
    else if (key == "deps")
      deps = &value;
    else if (key == "predicate")
      predicateNode = &value;
    else {
      syntax(*k, "pl.spmd: unknown keyword '" + key + "'",
             "accepted: core_num, sync_start, name_hint, optimizations, deps, allow_early_resolve, "
             "predicate");
      return;
    }
  }
  if (!count || args.size() > 1) {
    syntax(call, "pl.spmd takes the number of blocks", "write pl.spmd(n)");
    return;
  }
  if (index && index->kind != "Name") {
    syntax(*index, "the loop variable of pl.spmd is a plain name");
    return;
  }
  if (context.inKernel) {
    syntax(call, "pl.spmd inside a kernel", "a kernel cannot launch another one");
    return;
  }
  auto isNone = [](const Node *n) {
    return !n || (n->kind == "Constant" && n->constantType == "NoneType");
  };
  if (!isNone(deps) && !as) {
    syntax(*deps, "deps belongs to the form with pl.spmd(n, deps=[…]) as tid:");
    return;
  }
  if (context.inCluster && (as || !isNone(deps) || !isNone(predicateNode) || early)) {
    syntax(call, "pl.spmd inside pl.cluster takes no deps, predicate, allow_early_resolve or `as`");
    return;
  }
  Val cores = expr(*count);
  if (cores.isUnknown()) {
    return;
  }
  if (!cores.isScalar() || !isInteger(cores.dtype)) {
    syntax(*count, "the number of blocks is an integer, not " + describe(cores));
    return;
  }
  if (cores.integer() && *cores.integer() <= 0) {
    syntax(*count, "the number of blocks must be positive, it is " + llvm::Twine(*cores.integer()));
    return;
  }
  if (cores.integer() && *cores.integer() > maxExtent) {
    syntax(*count, "the number of blocks is at most " + llvm::Twine(maxExtent) + ", it is " +
                       llvm::Twine(*cores.integer()));
    return;
  }
  const auto &body = node.list("body");
  // `for b in pl.spmd(n)` makes a kernel of its body, in which calls of kernels are expanded;
  // `with pl.spmd(n)` may launch one.
  auto isDispatch = [&](const Node &n) {
    if (!index && n.kind == "Call")
      if (const Function *f = resolveFunction(*n.get("func")))
        return isKernel(*f);
    return n.kind == "With" && isCallOf(n.list("items")[0]->get("context_expr"), "at");
  };
  bool dispatches = find(body, isDispatch) != nullptr;
  int launches = 0;
  find(body, [&](const Node &n) {
    bool second = isDispatch(n) && ++launches == 2;
    if (second)
      syntax(n, "the body of pl.spmd launches more than one kernel",
             "one pl.spmd per kernel, or one pl.spmd whose body is the kernel");
    return second;
  });
  if (launches > 1)
    return;
  if (!index && !dispatches) {
    bool reads = find(body, [&](const Node &n) {
      if (n.kind != "Call")
        return false;
      std::string path = dottedName(*n.get("func"));
      return path.ends_with("get_block_idx") || path.rfind("pl.", 0) != 0; // a helper may read it
    });
    if (!reads) {
      syntax(call, "the body of pl.spmd neither reads the block index nor launches a kernel",
             "read pl.tile.get_block_idx(), or write for b in pl.spmd(n):");
      return;
    }
  }
  Location loc = locationOf(node);
  parts.groups["core_num"].push_back(materialise(castScalar(cores, DType::Index, loc), loc));
  if (optimizations && !isNone(optimizations) && !parseOptimizations(*optimizations, parts))
    return;
  if (!isNone(deps)) {
    llvm::SmallVector<Value> list;
    if (!dependencies(*deps, list))
      return;
    parts.groups["deps"] = list;
  }
  if (!isNone(predicateNode)) {
    Launch launch;
    if (!predicate(*predicateNode, launch))
      return;
    parts.groups["predicate_tensor"].push_back(launch.predicateTensor);
    parts.groups["predicate_indices"] = launch.predicateIndices;
    parts.attributes.push_back(b.getNamedAttr("predicate_op", b.getStringAttr(launch.predicateOp)));
    parts.attributes.push_back(
        b.getNamedAttr("predicate_target", b.getI64IntegerAttr(launch.predicateTarget)));
  }
  parts.attributes.push_back(b.getNamedAttr("name_hint", b.getStringAttr(hint)));
  if (sync)
    parts.attributes.push_back(b.getNamedAttr("sync_start", b.getBoolAttr(true)));
  if (early)
    parts.attributes.push_back(b.getNamedAttr("allow_early_resolve", b.getBoolAttr(true)));
  Context saved = context;
  context.inKernel = !dispatches;
  context.inSpmd = true;
  context.loops.push_back("spmd");
  Operation *op = region(node, "spmd", parts, true, true, b.getIndexType(), [&](Block &inner) {
    if (index) {
      Bounds high = symbols.bounds(cores.affine);
      frame->vars[index->str("id")] = scalar(
          inner.getArgument(0), DType::Index,
          symbols.fresh({0, high.high ? std::optional<int64_t>(*high.high - 1) : std::nullopt}));
    }
    block(body);
  });
  context = saved;
  if (as) {
    Val task;
    task.kind = Val::TaskId;
    task.value = op->getResults().back();
    bindName(*as, as->str("id"), task);
  }
}

void Walker::runtimeScope(const Node &node, const Node &call, bool manual) {
  std::string name = manual ? "pl.manual_scope" : "pl.scope";
  if (!call.list("args").empty()) {
    syntax(*call.list("args")[0], name + " takes no positional arguments");
    return;
  }
  for (const auto &k : call.list("keywords")) {
    if (manual || k->str("arg") != "mode") {
      syntax(*k, name + ": unknown keyword '" + k->str("arg") + "'",
             manual ? "it takes none" : "accepted: mode");
      return;
    }
    Val value = expr(*k->get("value"));
    if (value.isUnknown())
      return;
    auto member = enumArgument(value, "ScopeMode", *k->get("value"), "mode");
    if (!member)
      return;
    manual = *member == "manual";
  }
  if (context.inKernel) {
    syntax(call, name + " belongs into an orchestration, not into a kernel");
    return;
  }
  bool placedByHand = false;
  for (Frame *f = frame; f; f = f->outer)
    if (auto it = f->function->options.find("auto_scope"); it != f->function->options.end())
      placedByHand |= it->second.kind == PyValue::Bool && !it->second.boolean;
  if (!manual && !placedByHand && m.options.autoScope) {
    syntax(call, "an AUTO scope can be placed by hand only in a function with auto_scope=False");
    return;
  }
  if (context.manual) {
    syntax(call,
           manual ? "a MANUAL scope inside a MANUAL scope" : "an AUTO scope inside a MANUAL scope");
    return;
  }
  OpParts parts;
  parts.attributes.push_back(b.getNamedAttr("mode", b.getStringAttr(manual ? "manual" : "auto")));
  Context saved = context;
  context.manual = manual;
  region(node, "runtime_scope", parts, false, false, {},
         [&](Block &) { block(node.list("body")); });
  context = saved;
}

void Walker::clusterScope(const Node &node, const Node &call) {
  std::string hint;
  if (!call.list("args").empty()) {
    syntax(*call.list("args")[0], "pl.cluster takes no positional arguments");
    return;
  }
  for (const auto &k : call.list("keywords")) {
    if (k->str("arg") != "name_hint") {
      syntax(*k, "pl.cluster: unknown keyword '" + k->str("arg") + "'", "accepted: name_hint");
      return;
    }
    if (!nameHint(*k->get("value"), hint))
      return;
  }
  if (context.inKernel || context.inCluster) {
    syntax(call, context.inKernel ? "pl.cluster belongs into an orchestration"
                                  : "pl.cluster inside pl.cluster");
    return;
  }
  OpParts parts;
  parts.attributes.push_back(b.getNamedAttr("name_hint", b.getStringAttr(hint)));
  Context saved = context;
  context.inCluster = true;
  region(node, "cluster", parts, true, false, {}, [&](Block &) { block(node.list("body")); });
  context = saved;
}

void Walker::splitAivLoop(const Node &node, const Node &call) {
  const auto &args = call.list("args");
  const Node *mode = nullptr;
  for (const auto &k : call.list("keywords")) {
    if (k->str("arg") == "mode") {
      mode = k->get("value");
    } else {
      syntax(*k, "pl.split_aiv: unknown keyword '" + k->str("arg") + "'", "accepted: mode");
      return;
    }
  }
  Val lanes = args.size() == 1 ? expr(*args[0]) : Val();
  if (args.size() != 1 || lanes.integer() != 2) {
    syntax(call, "pl.split_aiv has 2 lanes",
           "write for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):");
    return;
  }
  if (!mode) {
    syntax(call, "pl.split_aiv needs a mode",
           "write mode=pl.SplitMode.UP_DOWN, LEFT_RIGHT or NONE");
    return;
  }
  if (context.inSplitAiv) {
    syntax(call, "pl.split_aiv inside pl.split_aiv");
    return;
  }
  if (!context.inKernel) {
    syntax(call, "pl.split_aiv belongs into a kernel",
           "put it into a pl.at(level=pl.Level.CORE_GROUP) block");
    return;
  }
  if (node.get("target")->kind != "Name") {
    syntax(*node.get("target"), "the loop variable of pl.split_aiv is a plain name");
    return;
  }
  Val value = expr(*mode);
  if (value.isUnknown())
    return;
  auto member = enumArgument(value, "SplitMode", *mode, "mode");
  if (!member)
    return;
  LoopForm form;
  form.node = &node;
  form.kind = LoopForm::SplitAiv;
  form.index = node.get("target")->str("id");
  form.low = constantInt(0);
  form.high = constantInt(2);
  form.step = constantInt(1);
  form.splitMode = *member;
  buildLoop(form);
}

} // namespace pypto::importer
