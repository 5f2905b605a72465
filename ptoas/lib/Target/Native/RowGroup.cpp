//===- RowGroup.cpp - which NestOps may share one row loop ----------------===//
#include "RowGroup.h"

using namespace llvm;
namespace ptoas::native {

static bool isConstant(Value *v, uint64_t c) {
  auto *k = dyn_cast<ConstantInt>(v);
  return k && k->getZExtValue() == c;
}

static bool isStrided(const Access &a, Value *cols) {
  if (!a.valid() || a.mask || a.spread == Spread::PerRow || a.spread == Spread::One)
    return false;
  return !isConstant(a.colStride, 1) && !isConstant(cols, 1);
}

Overlap RowGroup::overlap(const Access &a, const Access &b) const {
  if (!a.tile || !b.tile)
    return Overlap::None;
  Overlap rel = TileModel::overlap(*a.tile, *b.tile);
  if (rel == Overlap::None)
    return rel;
  auto crossesRows = [](const Access &x) {
    return x.spread == Spread::PerCol || x.spread == Spread::One;
  };
  if (crossesRows(a) || crossesRows(b) || a.mask != b.mask)
    return Overlap::Unknown;
  if (rel == Overlap::Same && a.spread != b.spread && a.tile->cols != 1)
    return Overlap::Rows; // one value per row against the whole row
  return rel;
}

/// Whether nothing after `after` sees the producer's bytes, and nothing in the group needs them in
/// the tile: then it will live in registers or a private row, and others may overwrite the tile.
bool RowGroup::isHidden(int producer, mlir::Operation *after) const {
  const GroupNode &node = nodes[producer];
  return !node.inMemory && node.op->out.tile &&
         !model.isLiveAfter(*node.op->out.tile, after, node.op->source);
}

bool RowGroup::dependencies(GroupNode &node) const {
  NestOp &op = *node.op;
  for (int p = 0, e = nodes.size(); p < e; ++p) {
    const GroupNode &other = nodes[p];
    const NestOp &before = *other.op;
    // Copies of global memory: loads after stores may see them; stores over earlier loads are
    // checked when the code runs.
    if (op.isGmLoad() && before.isGmStore())
      return false;
    if (op.isGmStore() && before.isGmStore() && op.out.gmRoot == before.out.gmRoot)
      return false;
    if (op.isGmStore() && (before.isGmStore() || before.isGmLoad()))
      node.level = std::max(node.level, other.level + (node.key == other.key ? 0 : 1));
    auto order = [&](bool sameLoop) {
      node.level = std::max(node.level, other.level + (sameLoop && node.key == other.key ? 0 : 1));
    };
    bool perLane = before.kind == NestKind::Map;
    for (const Access &in : op.in) {
      Overlap rel = overlap(before.out, in);
      if (rel == Overlap::Unknown)
        return false;
      if (rel != Overlap::None)
        order(rel == Overlap::Same && perLane && in.spread == before.out.spread);
    }
    Overlap rel = overlap(before.out, op.out);
    if (rel == Overlap::Unknown) {
      if (!isHidden(p, op.source))
        return false;
    } else if (rel != Overlap::None) {
      order(rel == Overlap::Same && perLane && op.kind == NestKind::Map);
    }
    for (unsigned i = 0; i < before.in.size(); ++i) {
      Overlap war = overlap(before.in[i], op.out);
      if (war == Overlap::Unknown) {
        if (other.sources[i] < 0 || !isHidden(other.sources[i], op.source))
          return false;
      } else if (war != Overlap::None) {
        order(war == Overlap::Same && perLane && op.kind == NestKind::Map);
      }
    }
  }
  return true;
}

/// The read takes bytes that are not exactly one earlier result: all that may have written them
/// keep their results in the tile.
void RowGroup::forceMemory(const Access &read, int before) {
  for (int p = before; p >= 0; --p)
    if (overlap(nodes[p].op->out, read) != Overlap::None)
      nodes[p].inMemory = true;
}

// Longer bodies gain nothing, and scheduling one takes time with the square of its length.
static constexpr size_t kMaxNodes = 256;

bool RowGroup::tryAdd(std::unique_ptr<NestOp> &op) {
  if (nodes.size() == kMaxNodes)
    return false;
  if (!nodes.empty() && nodes.front().op->rows != op->rows)
    return false;
  if (isConstant(op->rows, 1))
    for (Access &in : op->in) { // one row: broadcasts down the rows are plain reads
      if (in.spread == Spread::PerCol)
        in.spread = Spread::Full;
      else if (in.spread == Spread::One)
        in.spread = Spread::PerRow;
    }
  GroupNode node;
  bool strided = isStrided(op->out, op->cols) && op->kind == NestKind::Map;
  for (const Access &in : op->in)
    strided |= isStrided(in, op->cols);
  node.key = {op->cols, strided};
  node.op = std::move(op);
  if (!dependencies(node)) {
    op = std::move(node.op);
    return false;
  }
  for (const Access &in : node.op->in) {
    int source = -1;
    for (int p = static_cast<int>(nodes.size()) - 1; p >= 0 && in.tile; --p) {
      Overlap rel = overlap(nodes[p].op->out, in);
      if (rel == Overlap::None)
        continue;
      const NestOp &before = *nodes[p].op;
      bool oneValue = before.kind == NestKind::RowReduce || before.kind == NestKind::RowArg ||
                      isConstant(before.cols, 1);
      bool wholeRow = in.spread == Spread::Full && !oneValue && before.cols == node.op->cols;
      bool wholeValue = oneValue && (in.spread == Spread::PerRow || isConstant(node.op->cols, 1));
      if (rel == Overlap::Same && (wholeRow || wholeValue) && before.kind != NestKind::ColReduce)
        source = p;
      else
        forceMemory(in, p);
      break;
    }
    node.sources.push_back(source);
  }
  node.inMemory = node.op->isGmStore() || node.op->kind == NestKind::ColReduce;
  hasGmStore |= node.op->isGmStore();
  nodes.push_back(std::move(node));
  return true;
}

void RowGroup::place() {
  mlir::Operation *last = nodes.back().op->source;
  int count = nodes.size();
  for (int p = 0; p < count; ++p) {
    GroupNode &node = nodes[p];
    NestOp &op = *node.op;
    if (op.out.tile && !node.inMemory) {
      bool overwritten = false;
      for (int k = p + 1; k < count && !overwritten; ++k)
        overwritten = overlap(op.out, nodes[k].op->out) == Overlap::Same &&
                      nodes[k].op->cols == op.cols && nodes[k].op->kind == op.kind &&
                      nodes[k].op->kind == NestKind::Map;
      node.inMemory = !overwritten && model.isLiveAfter(*op.out.tile, last, op.source);
    }
  }
  for (int k = 0; k < count; ++k)
    for (unsigned i = 0; i < nodes[k].sources.size(); ++i) {
      int p = nodes[k].sources[i];
      if (p < 0)
        continue;
      GroupNode &from = nodes[p];
      bool oneValue = from.op->kind != NestKind::Map || isConstant(from.op->cols, 1);
      if (oneValue || (from.level == nodes[k].level && from.key == nodes[k].key))
        continue;
      // A plain load can be read from where it came from, unless a store may come first.
      bool plain = from.op->isGmLoad() && !from.op->compute && !from.key.strided;
      for (int s = 0; s < count && plain; ++s)
        if (nodes[s].op->isGmStore())
          plain = nodes[s].level > nodes[k].level ||
                  (nodes[s].level == nodes[k].level && nodes[s].key == nodes[k].key && s > k);
      if (plain) {
        from.forwarded = true;
        continue;
      }
      if (!from.inMemory)
        from.rowBuffer = true;
      else {
        // The tile still holds this result when the reader runs, unless a later op of the group
        // took its place: then keep a private copy.
        for (int w = p + 1; w < count; ++w)
          if (nodes[w].inMemory && overlap(nodes[w].op->out, from.op->out) != Overlap::None)
            from.rowBuffer = true;
      }
    }
}

} // namespace ptoas::native
