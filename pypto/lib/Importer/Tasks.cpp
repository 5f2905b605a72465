//===- Tasks.cpp - submit, dependencies, predicates -----------------------===//
#include "Extents.h"
#include "Walker.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

bool Walker::dependencies(const Node &list, llvm::SmallVectorImpl<Value> &deps) {
  std::vector<std::pair<const Node *, Val>> entries;
  if (list.kind == "ListComp" || list.kind == "GeneratorExp") {
    // [expr for name in <constants> if condition]
    const auto &generators = list.list("generators");
    if (generators.size() != 1 || generators[0]->get("target")->kind != "Name") {
      syntax(list, "a comprehension of deps has one `for` over constants");
      return false;
    }
    const Node &g = *generators[0];
    std::string why;
    const Node &source = *g.get("iter");
    Val range;
    if (isCompileTime(source)) {
      if (auto value = evaluatePython(source, &why))
        range = fromPython(*value);
    } else {
      range = expr(source);
    }
    if (range.kind != Val::Tuple) {
      syntax(source,
             "a comprehension of deps runs over constants" + llvm::Twine(why.empty() ? "" : ": ") +
                 why,
             "write for i in range(4)");
      return false;
    }
    const std::string &name = g.get("target")->str("id");
    std::optional<Val> saved;
    if (auto it = frame->vars.find(name); it != frame->vars.end())
      saved = it->second;
    bool good = true;
    for (const Val &item : range.items) {
      frame->vars[name] = item;
      bool take = true;
      for (const auto &condition : g.list("ifs")) {
        Val c = expr(*condition);
        if (!c.boolean()) {
          if (!c.isUnknown())
            syntax(*condition, "the condition of the comprehension is not constant");
          good = false;
        } else {
          take &= *c.boolean();
        }
      }
      if (good && take)
        entries.emplace_back(list.get("elt"), expr(*list.get("elt")));
      if (!good)
        break;
    }
    frame->vars.erase(name);
    if (saved)
      frame->vars[name] = *saved;
    if (!good)
      return false;
  } else if (list.kind == "List" || list.kind == "Tuple") {
    for (const auto &item : list.list("elts"))
      entries.emplace_back(item.get(), expr(*item));
  } else {
    syntax(list, "deps is a list of task ids", "write deps=[tid]");
    return false;
  }
  for (auto &[node, value] : entries) {
    if (value.isUnknown())
      return false;
    if (value.kind == Val::None)
      continue;
    if (value.kind == Val::Array && value.dtype == DType::TaskId) {
      if (entries.size() > 1) {
        typeError(*node, "an array of task ids must be alone in deps",
                  "list single elements: ids[0], ids[1]");
        return false;
      }
    } else if (value.kind != Val::TaskId) {
      typeError(*node, "deps takes task ids and arrays of them, not " + describe(value),
                "bind one with `as tid` or pl.submit");
      return false;
    }
    deps.push_back(value.value);
  }
  return true;
}

bool Walker::tensorList(const Node &list, llvm::StringRef keyword,
                        llvm::SmallVectorImpl<Value> &tensors) {
  if (list.kind != "List" && list.kind != "Tuple") {
    typeError(list, keyword + " is a list of tensor names");
    return false;
  }
  std::set<std::string> seen;
  for (const auto &item : list.list("elts")) {
    Val value = item->kind == "Name" ? expr(*item) : Val();
    if (item->kind == "Name" && value.isUnknown())
      return false;
    if (item->kind != "Name" || value.kind != Val::Tensor || !seen.insert(item->str("id")).second) {
      typeError(*item, keyword + " is a list of distinct tensor names");
      return false;
    }
    tensors.push_back(value.value);
  }
  return true;
}

bool Walker::predicate(const Node &node, Launch &launch) {
  const Node *subscript = node.get("left");
  if (node.kind != "Compare" || node.list("ops").size() != 1 || !subscript ||
      subscript->kind != "Subscript") {
    syntax(node, "a predicate compares one tensor element with a number",
           "write predicate=(flags[0] > 0)");
    return false;
  }
  static const std::map<std::string, const char *> ops = {
      {"Eq", "eq"}, {"NotEq", "ne"}, {"Lt", "lt"}, {"LtE", "le"}, {"Gt", "gt"}, {"GtE", "ge"}};
  auto op = ops.find(node.list("ops")[0]->kind);
  Val tensor = expr(*subscript->get("value"));
  Val target = expr(*node.list("comparators")[0]);
  if (tensor.isUnknown() || target.isUnknown())
    return false;
  if (op == ops.end() || !target.integer() || target.dtype == DType::Bool) {
    syntax(node, "a predicate compares with an integer constant");
    return false;
  }
  if (tensor.kind != Val::Tensor || !isSigned(tensor.dtype) || tensor.dtype == DType::Index) {
    typeError(*subscript,
              "a predicate reads an element of a signed integer tensor, not " + describe(tensor));
    return false;
  }
  Window window;
  if (!parseWindow(*subscript, tensor, window))
    return false;
  if (!window.allScalar) {
    syntax(*subscript, "a predicate reads one element: give one index per axis");
    return false;
  }
  std::vector<Affine> ones(tensor.rank(), Affine(1));
  if (!checkWindow(*subscript, "predicate", tensor, window.offsets, ones))
    return false;
  Location loc = locationOf(node);
  launch.predicateTensor = tensor.value;
  for (const Val &v : window.offsets)
    launch.predicateIndices.push_back(materialise(castScalar(v, DType::Index, loc), loc));
  launch.predicateOp = op->second;
  launch.predicateTarget = *target.integer();
  return true;
}

Val Walker::submit(const Node &node, bool spmd) {
  std::string name = spmd ? "pl.spmd_submit" : "pl.submit";
  const auto &args = node.list("args");
  if (context.inKernel)
    return syntax(node, name + " belongs into an orchestration, not into a kernel");
  const Function *kernel = args.empty() ? nullptr : resolveFunction(*args[0]);
  if (!kernel)
    return syntax(args.empty() ? node : *args[0],
                  "the first argument of " + name + " is the kernel, like self.kernel");
  Launch launchParts;
  Names own = {"deps", "dumps", "allow_early_resolve", "predicate"};
  if (spmd)
    own.insert({"core_num", "sync_start"});
  for (const auto &k : node.list("keywords")) {
    const std::string &key = k->str("arg");
    const Node &value = *k->get("value");
    if (!own.count(key))
      continue; // an argument of the kernel
    bool isNone = value.kind == "Constant" && value.constantType == "NoneType";
    if (key == "deps" && !isNone) {
      if (!dependencies(value, launchParts.deps))
        return Val();
    } else if (key == "dumps" && !isNone) {
      llvm::SmallVector<Value> ignored;
      if (!tensorList(value, "dumps", ignored))
        return Val();
    } else if (key == "allow_early_resolve") {
      if (!literalBool(value, key, launchParts.allowEarlyResolve))
        return Val();
    } else if (key == "sync_start") {
      if (!literalBool(value, key, launchParts.syncStart))
        return Val();
    } else if (key == "predicate" && !isNone) {
      if (!predicate(value, launchParts))
        return Val();
    } else if (key == "core_num") {
      Val cores = expr(value);
      if (cores.integer() && *cores.integer() <= 0)
        return syntax(value, "core_num must be positive, it is " + llvm::Twine(*cores.integer()));
      if (cores.integer() && *cores.integer() > maxExtent)
        return syntax(value, "core_num is at most " + llvm::Twine(maxExtent) + ", it is " +
                                 llvm::Twine(*cores.integer()));
      launchParts.coreNum = indexOf(cores, value);
      if (!launchParts.coreNum)
        return Val();
    }
  }
  if (spmd && !launchParts.coreNum)
    return syntax(node, "pl.spmd_submit needs core_num");
  std::vector<std::pair<std::string, Val>> arguments;
  std::vector<const Node *> nodes;
  if (!bindArguments(node, *kernel, arguments, nodes, own, 1, true))
    return Val();
  Val task;
  Val result = launch(node, *kernel, std::move(arguments), nodes, launchParts, &task);
  if (result.isUnknown())
    return result;
  return tuple({result, task});
}

} // namespace pypto::importer
