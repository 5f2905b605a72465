//===- VariableNames.cpp - names of the variables of a function -----------===//
#include "VariableNames.h"
#include "CppNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ptoas::cpp {

// Longer names would push statements over the end of the line.
static constexpr size_t kLongest = 24;

// A C++ identifier with a small first letter; names with two underscores, or one in front, are the
// compiler's. Empty when nothing is left.
static std::string identifier(StringRef name) {
  std::string text;
  for (char c : name) {
    char letter = llvm::isAlnum(c) ? c : '_';
    if (letter != '_' || (!text.empty() && text.back() != '_'))
      text += letter;
  }
  if (text.size() > kLongest)
    text.resize(kLongest);
  while (!text.empty() && text.back() == '_')
    text.pop_back();
  if (text.empty())
    return text;
  if (llvm::isDigit(text[0]))
    return "v" + text;
  text[0] = llvm::toLower(text[0]);
  return text;
}

static std::string nameInText(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto named = dyn_cast<NameLoc>(argument ? argument.getLoc() : value.getDefiningOp()->getLoc());
  if (argument && !named)
    if (auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
        func && argument.getOwner()->isEntryBlock())
      if (auto name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "pypto.name"))
        return identifier(name.getValue());
  if (!named)
    return "";
  if (argument)
    return identifier(named.getName());
  SmallVector<StringRef> names;
  named.getName().getValue().split(names, ',');
  unsigned number = cast<OpResult>(value).getResultNumber();
  return number < names.size() ? identifier(names[number]) : "";
}

static bool isScratch(Value tile) {
  return !tile.use_empty() && llvm::all_of(tile.getUses(), [](OpOperand &use) {
    auto op = dyn_cast<pto::TileOpInterface>(use.getOwner());
    return op && llvm::is_contained(op.getScratch(), use.get());
  });
}

static StringRef tileName(Value tile) {
  if (isScratch(tile))
    return "tmp";
  switch (cast<pto::TileBufType>(tile.getType()).getSpace()) {
  case pto::AddressSpace::Mat:
    return "mat";
  case pto::AddressSpace::Left:
    return "left";
  case pto::AddressSpace::Right:
    return "right";
  case pto::AddressSpace::Acc:
    return "acc";
  case pto::AddressSpace::Bias:
    return "bias";
  case pto::AddressSpace::Scaling:
    return "scales";
  default:
    return "tile";
  }
}

static StringRef nameOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (argument != loop.getInductionVar())
      return "carried";
    unsigned depth = 0;
    while ((parent = parent->getParentOp()))
      depth += isa<scf::ForOp>(parent);
    static constexpr StringLiteral counters[] = {"i", "j", "k"};
    return counters[std::min(depth, 2u)];
  }
  if (isa<scf::WhileOp>(parent))
    return "carried";
  return argument.getOwner()->isEntryBlock() ? "arg" : "carried";
}

static StringRef nameOfResult(Value value) {
  return llvm::StringSwitch<StringRef>(value.getDefiningOp()->getName().getStringRef())
      .Cases({"arith.addi", "arith.addf", "arith.addui_extended"}, "sum")
      .Cases({"arith.subi", "arith.subf"}, "difference")
      .Cases({"arith.muli", "arith.mulf", "arith.mulsi_extended", "arith.mului_extended"},
             "product")
      .Cases({"arith.divsi", "arith.divui", "arith.divf", "arith.ceildivsi", "arith.ceildivui",
              "arith.floordivsi"},
             "quotient")
      .Cases({"arith.remsi", "arith.remui", "arith.remf"}, "remainder")
      .Cases({"arith.cmpi", "arith.cmpf"}, "condition")
      .Case("arith.select", "chosen")
      .Cases({"arith.maxsi", "arith.maxui", "arith.maximumf", "arith.maxnumf"}, "larger")
      .Cases({"arith.minsi", "arith.minui", "arith.minimumf", "arith.minnumf"}, "smaller")
      .Case("arith.constant", "counts")
      .Cases({"arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui"},
             "bits")
      .Cases({"scf.if", "scf.for", "scf.while", "scf.index_switch", "scf.execute_region",
              "pto.fusion_region", "func.call"},
             "result")
      .Case("pto.get_block_idx", "block")
      .Case("pto.get_block_num", "blocks")
      .Case("pto.get_subblock_idx", "lane")
      .Case("pto.get_subblock_num", "lanes")
      .Case("pto.make_tensor_view", "view")
      .Case("pto.partition_view", "window")
      .Cases({"pto.subview", "pto.subset"}, "part")
      .Case("pto.treshape", "reshaped")
      .Case("pto.bitcast", "retyped")
      .Case("pto.tassign", "moved")
      .Case("pto.multi_tile_get", "slot")
      .Cases({"pto.addptr", "pto.inttoptr", "pto.castptr"}, "pointer")
      .Case("pto.ptrtoint", "address")
      .Cases({"pto.tile_valid_rows", "pto.tile_valid_cols", "pto.get_tensor_view_dim",
              "pto.get_validshape"},
             "extent")
      .Case("pto.get_tensor_view_stride", "stride")
      .Case("pto.declare_local_array", "array")
      .Case("pto.declare_struct", "object")
      .Case("pto.declare_eventid_array", "events")
      .Case("pto.comm.build_async_session", "session")
      .Case("pto.make_prefetch_async_context", "context")
      .Cases({"pto.comm.tput_async", "pto.comm.tget_async", "pto.tprefetch_async"}, "event")
      .Cases({"pto.comm.ttest", "pto.comm.test_async_event", "pto.comm.wait_async_event"}, "done")
      .Cases({"pto.initialize_l2l_pipe", "pto.initialize_l2g2l_pipe"}, "pipe")
      .Cases({"pto.tpop_from_aic", "pto.tpop_from_aiv"}, "popped")
      .Cases({"pto.talloc_to_aic", "pto.talloc_to_aiv", "pto.declare_global"}, "entry")
      .Default(isa<pto::TileBufType>(value.getType()) ? tileName(value) : "value");
}

std::string wishedName(Value value) {
  if (std::string name = nameInText(value); !name.empty())
    return name;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    StringRef stem = nameOfArgument(argument);
    return stem == "arg" ? "arg" + std::to_string(argument.getArgNumber()) : stem.str();
  }
  // What a loop gives back is what its iterations carry.
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    return wishedName(loop.getRegionIterArg(cast<OpResult>(value).getResultNumber()));
  return nameOfResult(value).str();
}

std::string VariableNames::take(StringRef wish) {
  unsigned &next = next_.try_emplace(wish, 1).first->second;
  unsigned before = next;
  std::string name;
  do {
    name = wish.str();
    if (isTaken(wish) || functions_.contains(wish))
      name += "_";
    if (next > 1)
      name += (StringRef(name).ends_with("_") ? "" : "_") + std::to_string(next);
    ++next;
  } while (functions_.contains(name) || !known_.insert(name).second);
  taken_.push_back({name, wish.str(), before});
  return name;
}

void VariableNames::leave() {
  size_t kept = scopes_.back();
  scopes_.pop_back();
  while (taken_.size() > kept) {
    known_.erase(taken_.back().name);
    next_[taken_.back().wish] = taken_.back().next;
    taken_.pop_back();
  }
}

} // namespace ptoas::cpp
