//===- NestEmitter.cpp - a group of NestOps to loops ----------------------===//
//
// One loop over rows; inside it the levels one after the other, each with a loop
// over columns. A column step handles a vector that is wider than a register, so
// that LLVM splits it into several independent ones: the loop is unrolled without
// being written twice. What remains of a row is one masked step.
//
// Row reductions always accumulate in the same number of lanes and combine them
// in the same tree, whatever else is in the loop: fusion does not change a bit.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
namespace ptoas::native {

class NestEmitter {
public:
  NestEmitter(FunctionEmitter &function, RowGroup &group)
      : fn(function), b(function.b), group(group) {}
  void run();

private:
  struct Step { // one column step being emitted
    const VecBuilder *vb;
    Value *col;
    Value *mask = nullptr;  // null: all lanes
    Value *count = nullptr; // lanes in use, with a mask
    unsigned level;
    LoopKey key;
    DenseMap<int, Value *> results; // node -> register form
    struct Loaded {
      const Access *access;
      Value *value;
    };
    SmallVector<Loaded, 8> loads; // from memory, until something may overwrite it
  };
  struct Accumulator {
    int node;
    AllocaInst *value, *index = nullptr;
  };

  void keepGmSources();
  void reduceNothing();
  bool flatten();
  void emitRow();
  void emitColumnLoop(unsigned level, LoopKey key, ArrayRef<int> members);
  void emitStep(ArrayRef<int> members, Step &step, ArrayRef<Accumulator> accumulators);
  unsigned laneCount(ArrayRef<int> members, LoopKey key, bool reduces) const;
  Value *operand(int node, unsigned input, Step &step);
  Value *loadVector(const Access &access, Step &step);
  void storeVector(const Access &access, Value *v, Step &step);
  Value *loadBytes(Value *pointer, Type *type, unsigned elemBytes, Step &step, bool mayOverread);
  Value *rowPointer(const Access &access);
  Value *pointerAt(const Access &access, Value *col);
  Value *rowBuffer(int node);
  Value *scalarOf(int node);
  void accumulate(const NestOp &op, const Accumulator &acc, Value *x, Step &step);
  void finish(const Accumulator &acc, const VecBuilder &vb);
  Value *combine(const VecBuilder &vb, Reduction r, Elem e, Value *x, Value *y);
  Constant *identity(const VecBuilder &vb, Reduction r, Elem e);
  static Elem sumElem(Elem e) { return e == Elem::F16 || e == Elem::BF16 ? Elem::F32 : e; }

  FunctionEmitter &fn;
  IRBuilder<> &b;
  RowGroup &group;
  Value *row = nullptr;
  DenseMap<const Access *, Value *> rowPointers;
  DenseMap<int, Value *> scalars; // node -> one value per row, register form
  DenseMap<int, Value *> rowBuffers;
};

void emitGroup(FunctionEmitter &function, RowGroup &group) { NestEmitter(function, group).run(); }

static std::optional<uint64_t> constant(Value *v) {
  if (auto *c = dyn_cast<ConstantInt>(v))
    return c->getZExtValue();
  return std::nullopt;
}

/// A counted loop; `body` gets the counter. Emits nothing around a single iteration.
template <typename Body>
static void loop(IRBuilder<> &b, Value *from, Value *to, Value *step, const char *name, Body body) {
  auto cf = constant(from), ct = constant(to), cs = constant(step);
  if (cf && ct && cs) {
    if (*cf >= *ct)
      return;
    if (*cf + *cs >= *ct) {
      body(from);
      return;
    }
  }
  Function *f = b.GetInsertBlock()->getParent();
  BasicBlock *before = b.GetInsertBlock();
  auto *head = BasicBlock::Create(f->getContext(), name, f);
  auto *after = BasicBlock::Create(f->getContext(), Twine(name) + ".end", f);
  if (cf && ct)
    b.CreateBr(head);
  else
    b.CreateCondBr(b.CreateICmpSLT(from, to), head, after);
  b.SetInsertPoint(head);
  PHINode *counter = b.CreatePHI(from->getType(), 2, name);
  counter->addIncoming(from, before);
  body(counter);
  Value *next = b.CreateAdd(counter, step, "", /*NUW=*/true, /*NSW=*/true);
  counter->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, to), head, after);
  b.SetInsertPoint(after);
}

//===----------------------------------------------------------------------===//
// The group
//===----------------------------------------------------------------------===//

void NestEmitter::run() {
  flatten();
  keepGmSources();
  reduceNothing();
  NestOp &first = *group.nodes.front().op;
  loop(b, fn.index(0), first.rows, fn.index(1), "row", [&](Value *i) {
    row = i;
    rowPointers.clear();
    scalars.clear();
    emitRow();
  });
}

/// A load and a later store of the group may name overlapping memory. Equal windows are fine: row
/// by row, the load comes first. Otherwise the loaded window is copied before the loop starts.
void NestEmitter::keepGmSources() {
  auto byteEnd = [&](const Access &a, Value *rows, Value *cols) {
    Value *one = fn.index(1);
    Value *span = b.CreateMul(b.CreateSub(cols, one), a.colStride);
    if (a.rowDims.empty())
      span = b.CreateAdd(span, b.CreateMul(b.CreateSub(rows, one), a.rowStride));
    for (auto [size, stride] : a.rowDims)
      span = b.CreateAdd(span, b.CreateMul(b.CreateSub(size, one), stride));
    return fn.elementPointer(a.base, b.CreateAdd(span, one), bytesOf(a.elem));
  };
  for (GroupNode &loadNode : group.nodes) {
    NestOp &load = *loadNode.op;
    if (!load.isGmLoad())
      continue;
    Access &from = load.in[0];
    Value *clash = nullptr;
    bool after = false;
    for (GroupNode &storeNode : group.nodes) {
      if (&storeNode == &loadNode)
        after = true;
      NestOp &store = *storeNode.op;
      if (!after || !store.isGmStore() || &store == &load)
        continue;
      const Access &to = store.out;
      Value *apart = b.CreateOr(b.CreateICmpULE(byteEnd(from, load.rows, load.cols), to.base),
                                b.CreateICmpULE(byteEnd(to, store.rows, store.cols), from.base));
      Value *fine = apart;
      if (from.rowDims.empty() && to.rowDims.empty() && from.elem == to.elem) {
        Value *same = b.CreateICmpEQ(from.base, to.base);
        same = b.CreateAnd(same, b.CreateICmpEQ(from.rowStride, to.rowStride));
        same = b.CreateAnd(same, b.CreateICmpEQ(from.colStride, to.colStride));
        fine = b.CreateOr(apart, same);
      }
      Value *bad = b.CreateNot(fine);
      clash = clash ? b.CreateOr(clash, bad) : bad;
    }
    if (!clash || constant(clash))
      continue;
    const TileInfo *tile = load.out.tile;
    int64_t capacity = tile ? tile->rows * tile->cols : 0;
    if (!capacity)
      continue;
    Value *copy = fn.privateStorage(capacity * bytesOf(from.elem));
    Value *pitch = fn.index(tile->cols);
    BasicBlock *before = b.GetInsertBlock();
    Function *f = before->getParent();
    auto *keep = BasicBlock::Create(f->getContext(), "keep", f);
    auto *go = BasicBlock::Create(f->getContext(), "go", f);
    b.CreateCondBr(clash, keep, go);
    b.SetInsertPoint(keep);
    if (from.rowDims.empty()) {
      fn.callRuntime("pto_copy_2d",
                     {copy, pitch, fn.index(1), from.base, from.rowStride, from.colStride,
                      load.rows, load.cols, b.getInt32(bytesOf(from.elem))});
    } else {
      // Up to four row dimensions, innermost last.
      SmallVector<Value *, 16> args{copy,
                                    pitch,
                                    from.base,
                                    from.colStride,
                                    load.rows,
                                    load.cols,
                                    b.getInt32(bytesOf(from.elem))};
      for (unsigned d = 0; d < 4; ++d) {
        unsigned have = from.rowDims.size();
        bool present = d + have >= 4;
        args.push_back(present ? from.rowDims[d + have - 4].first : fn.index(1));
        args.push_back(present ? from.rowDims[d + have - 4].second : fn.index(0));
      }
      fn.callRuntime("pto_copy_rows", args);
    }
    b.CreateBr(go);
    b.SetInsertPoint(go);
    auto choose = [&](Value *original, Value *copied) -> Value * {
      if (original == copied)
        return original;
      PHINode *phi = b.CreatePHI(original->getType(), 2);
      phi->addIncoming(original, before);
      phi->addIncoming(copied, keep);
      return phi;
    };
    if (from.rowDims.empty()) {
      Value *base = choose(from.base, copy);
      Value *rowStride = choose(from.rowStride, pitch);
      Value *colStride = choose(from.colStride, fn.index(1));
      from.base = base;
      from.rowStride = rowStride;
      from.colStride = colStride;
    } else {
      // One form for both: the copy's rows as strides of the same dimensions.
      SmallVector<Value *, 3> strides(from.rowDims.size());
      Value *stride = pitch;
      for (unsigned d = from.rowDims.size(); d-- > 0;) {
        strides[d] = stride;
        stride = b.CreateMul(stride, from.rowDims[d].first);
      }
      Value *took = clash;
      from.base = b.CreateSelect(took, copy, from.base);
      for (unsigned d = 0; d < from.rowDims.size(); ++d)
        from.rowDims[d].second = b.CreateSelect(took, strides[d], from.rowDims[d].second);
      from.colStride = b.CreateSelect(took, fn.index(1), from.colStride);
    }
  }
}

/// Columns without rows: sums are zero, the others what changes nothing.
void NestEmitter::reduceNothing() {
  VecBuilder one(b, 1, fn.owner.avx512());
  Value *isEmpty = b.CreateICmpSLE(group.nodes.front().op->rows, fn.index(0));
  auto *known = dyn_cast<ConstantInt>(isEmpty);
  if ((known && known->isZero()) || none_of(group.nodes, [](const GroupNode &node) {
        return node.op->kind == NestKind::ColReduce;
      }))
    return;
  Function *f = b.GetInsertBlock()->getParent();
  auto *empty = BasicBlock::Create(f->getContext(), "no.rows", f);
  auto *go = BasicBlock::Create(f->getContext(), "go", f);
  b.CreateCondBr(isEmpty, empty, go);
  b.SetInsertPoint(empty);
  for (GroupNode &node : group.nodes) {
    const NestOp &op = *node.op;
    if (op.kind != NestKind::ColReduce)
      continue;
    Elem e = op.out.elem;
    Value *nothing =
        op.reduction == Reduction::Sum ? one.constant(e, 0.0) : identity(one, op.reduction, e);
    Value *raw = one.toMemory(nothing, e);
    loop(b, fn.index(0), op.cols, fn.index(1), "col", [&](Value *j) {
      Value *pointer = fn.elementPointer(op.out.base, b.CreateMul(j, op.out.colStride), bytesOf(e));
      b.CreateAlignedStore(raw, pointer, Align(bytesOf(e)));
    });
  }
  b.CreateBr(go);
  b.SetInsertPoint(go);
}

/// Pointwise work on rows that lie end to end, or on single columns, is one long row.
bool NestEmitter::flatten() {
  NestOp &first = *group.nodes.front().op;
  if (constant(first.rows) == 1u)
    return false;
  Value *cols = first.cols;
  bool column = constant(cols) == 1u, joined = true;
  for (GroupNode &node : group.nodes) {
    NestOp &op = *node.op;
    if (op.kind != NestKind::Map || op.cols != cols || node.level != 0 || node.key.strided)
      return false;
    auto fits = [&](const Access &a) {
      if (!a.rowDims.empty() || a.mask || (a.spread != Spread::Full && !column))
        return false;
      column &= constant(a.rowStride) == 1u;
      joined &= a.rowStride == cols && constant(a.colStride) == 1u;
      return column || joined;
    };
    for (Access &in : op.in)
      if (!fits(in))
        return false;
    if (!fits(op.out))
      return false;
    if (op.usesPosition)
      return false;
  }
  if (!column && !joined)
    return false;
  Value *total = b.CreateMul(first.rows, cols);
  for (GroupNode &node : group.nodes) {
    NestOp &op = *node.op;
    op.rows = fn.index(1);
    op.cols = total;
    node.key = {total, false};
    for (Access &in : op.in) {
      in.colStride = fn.index(1);
      in.spread = Spread::Full;
    }
    op.out.colStride = fn.index(1);
    op.out.spread = Spread::Full;
  }
  return true;
}

void NestEmitter::emitRow() {
  unsigned levels = 0;
  for (GroupNode &node : group.nodes)
    levels = std::max(levels, node.level + 1);
  for (unsigned level = 0; level < levels; ++level) {
    SmallVector<LoopKey, 4> keys;
    for (GroupNode &node : group.nodes)
      if (node.level == level && !is_contained(keys, node.key))
        keys.push_back(node.key);
    for (LoopKey key : keys) {
      SmallVector<int, 16> members;
      for (int i = 0, e = group.nodes.size(); i < e; ++i)
        if (group.nodes[i].level == level && group.nodes[i].key == key)
          members.push_back(i);
      emitColumnLoop(level, key, members);
    }
  }
}

//===----------------------------------------------------------------------===//
// Column loops
//===----------------------------------------------------------------------===//

unsigned NestEmitter::laneCount(ArrayRef<int> members, LoopKey key, bool reduces) const {
  if (key.strided || constant(key.cols) == 1u)
    return 1;
  unsigned widest = 1;
  auto see = [&](const Access &a) {
    if (a.valid() && !a.mask)
      widest = std::max(widest, a.elem == Elem::BF16 ? 4u : bytesOf(a.elem));
  };
  for (int m : members) {
    for (const Access &in : group.nodes[m].op->in)
      see(in);
    see(group.nodes[m].op->out);
  }
  bool wide = fn.owner.avx512();
  unsigned registerBytes = wide ? 64 : 32;
  // Reductions: the same number on every instruction set, so that all give the same bits.
  unsigned lanes = reduces ? 32 : 2 * registerBytes / widest;
  lanes = std::min(lanes, 64u);
  if (auto cols = constant(key.cols)) {
    unsigned least = std::max(registerBytes / 4, 8u);
    if (*cols < lanes) {
      // Masks are read and written in whole bytes.
      lanes = std::max<unsigned>(PowerOf2Ceil(std::max<uint64_t>(*cols, 1)), 8u);
    } else if (*cols % lanes && !reduces) {
      unsigned half = lanes / 2;
      if (*cols % half == 0 && half >= least)
        lanes = half;
    }
  }
  return lanes;
}

void NestEmitter::emitColumnLoop(unsigned level, LoopKey key, ArrayRef<int> members) {
  bool reduces = any_of(members, [&](int m) {
    NestKind kind = group.nodes[m].op->kind;
    return kind == NestKind::RowReduce || kind == NestKind::RowArg;
  });
  unsigned lanes = laneCount(members, key, reduces);
  VecBuilder vb(b, lanes, fn.owner.avx512());

  SmallVector<Accumulator, 2> accumulators;
  for (int m : members) {
    const NestOp &op = *group.nodes[m].op;
    if (op.kind == NestKind::RowReduce) {
      Elem e = sumElem(op.in[0].elem);
      Accumulator acc{m, fn.stackSlot(vb.regType(e), "acc")};
      b.CreateStore(identity(vb, op.reduction, e), acc.value);
      accumulators.push_back(acc);
    } else if (op.kind == NestKind::RowArg) {
      Elem e = op.in[0].elem;
      Accumulator acc{m, fn.stackSlot(vb.regType(e), "best"), fn.stackSlot(vb.iN(32), "best.at")};
      b.CreateStore(identity(vb, op.reduction, e), acc.value);
      b.CreateStore(vb.iota(32), acc.index);
      accumulators.push_back(acc);
    }
  }
  // Values that hold for the whole row are made before the loop.
  for (int m : members) {
    GroupNode &node = group.nodes[m];
    for (unsigned i = 0; i < node.op->in.size(); ++i)
      if (node.op->in[i].spread == Spread::PerRow || node.op->in[i].spread == Spread::One)
        if (node.sources[i] < 0)
          rowPointer(node.op->in[i]);
    for (Access &in : node.op->in)
      rowPointer(in);
    if (node.op->kind == NestKind::Map || node.op->kind == NestKind::ColReduce)
      rowPointer(node.op->out);
  }

  auto makeStep = [&](Value *col, Value *mask, Value *count) {
    Step step;
    step.vb = &vb;
    step.col = col;
    step.mask = mask;
    step.count = count;
    step.level = level;
    step.key = key;
    return step;
  };
  if (lanes == 1) {
    loop(b, fn.index(0), key.cols, fn.index(1), "col", [&](Value *j) {
      Step step = makeStep(j, nullptr, nullptr);
      emitStep(members, step, accumulators);
    });
  } else {
    Value *width = fn.index(lanes);
    Value *full = b.CreateAnd(key.cols, fn.index(-int64_t(lanes)));
    loop(b, fn.index(0), full, width, "col", [&](Value *j) {
      Step step = makeStep(j, nullptr, nullptr);
      emitStep(members, step, accumulators);
    });
    Value *rest = b.CreateSub(key.cols, full);
    auto tail = [&] {
      Value *count32 = b.CreateTrunc(rest, b.getInt32Ty());
      Value *mask = b.CreateICmpULT(vb.iota(32), vb.splat(count32));
      Step step = makeStep(full, mask, rest);
      emitStep(members, step, accumulators);
    };
    if (auto known = constant(rest)) {
      if (*known)
        tail();
    } else {
      Function *f = b.GetInsertBlock()->getParent();
      auto *some = BasicBlock::Create(f->getContext(), "tail", f);
      auto *done = BasicBlock::Create(f->getContext(), "tail.end", f);
      b.CreateCondBr(b.CreateICmpNE(rest, fn.index(0)), some, done);
      b.SetInsertPoint(some);
      tail();
      b.CreateBr(done);
      b.SetInsertPoint(done);
    }
  }
  for (const Accumulator &acc : accumulators)
    finish(acc, vb);
}

void NestEmitter::emitStep(ArrayRef<int> members, Step &step, ArrayRef<Accumulator> accumulators) {
  const VecBuilder &vb = *step.vb;
  for (int m : members) {
    GroupNode &node = group.nodes[m];
    NestOp &op = *node.op;
    bool oneValue = constant(op.cols) == 1u;
    if (op.kind == NestKind::Map && !op.compute && node.forwarded && !node.inMemory &&
        !node.rowBuffer &&
        none_of(members, [&](int k) { return is_contained(group.nodes[k].sources, m); }))
      continue; // every reader goes to global memory itself
    SmallVector<Value *, 4> inputs;
    for (unsigned i = 0; i < op.in.size(); ++i)
      inputs.push_back(operand(m, i, step));
    if (op.kind == NestKind::RowReduce || op.kind == NestKind::RowArg) {
      for (const Accumulator &acc : accumulators)
        if (acc.node == m)
          accumulate(op, acc, inputs[0], step);
      continue;
    }
    Value *result;
    if (op.kind == NestKind::ColReduce) {
      Value *old = loadVector(op.out, step);
      step.loads.pop_back(); // about to change
      Value *sum = combine(vb, op.reduction, op.out.elem, old, inputs[0]);
      Value *isFirst = b.CreateICmpEQ(row, fn.index(0));
      result = constant(op.rows) == 1u ? inputs[0] : b.CreateSelect(isFirst, inputs[0], sum);
      storeVector(op.out, result, step);
      continue;
    }
    result = op.compute ? op.compute(Lane{vb, row, step.col}, inputs) : inputs[0];
    step.results[m] = result;
    if (oneValue && vb.lanes() == 1)
      scalars[m] = result;
    if (node.inMemory)
      storeVector(op.out, result, step);
    if (node.rowBuffer) {
      if (op.out.mask) {
        Value *raw = b.CreateBitCast(result, b.getIntNTy(vb.lanes()));
        Value *at = b.CreateLShr(step.col, 3);
        b.CreateAlignedStore(raw, b.CreatePtrAdd(rowBuffer(m), at), Align(1));
      } else {
        Value *raw = vb.toMemory(result, op.out.elem);
        unsigned bytes = bytesOf(op.out.elem);
        b.CreateAlignedStore(raw, fn.elementPointer(rowBuffer(m), step.col, bytes), Align(bytes));
      }
    }
  }
}

Value *NestEmitter::rowBuffer(int node) {
  Value *&buffer = rowBuffers[node];
  if (!buffer) {
    const NestOp &op = *group.nodes[node].op;
    buffer = fn.privateStorage(op.out.tile->cols * std::max(1u, bytesOf(op.out.elem)) + 256);
  }
  return buffer;
}

/// The value per row that an earlier loop of this row made.
Value *NestEmitter::scalarOf(int node) { return scalars.lookup(node); }

Value *NestEmitter::operand(int m, unsigned i, Step &step) {
  GroupNode &node = group.nodes[m];
  const Access &access = node.op->in[i];
  const VecBuilder &vb = *step.vb;
  int source = node.sources[i];
  if (source < 0)
    return loadVector(access, step);
  GroupNode &from = group.nodes[source];
  if (Value *value = step.results.lookup(source))
    return access.spread == Spread::Full || vb.lanes() == 1 ? value : loadVector(access, step);
  if (Value *value = scalarOf(source))
    return vb.lanes() == 1 ? value : vb.splat(value);
  const Access &out = from.op->out;
  if (from.forwarded && !from.rowBuffer)
    return loadVector(from.op->in[0], step);
  if (from.rowBuffer) {
    if (out.mask) {
      Value *at = b.CreateLShr(step.col, 3);
      Value *raw = b.CreateAlignedLoad(b.getIntNTy(vb.lanes()),
                                       b.CreatePtrAdd(rowBuffer(source), at), Align(1));
      return b.CreateBitCast(raw, vb.vec(b.getInt1Ty()));
    }
    unsigned bytes = bytesOf(out.elem);
    Value *raw = b.CreateAlignedLoad(
        vb.memType(out.elem), fn.elementPointer(rowBuffer(source), step.col, bytes), Align(bytes));
    return vb.fromMemory(raw, out.elem);
  }
  return loadVector(access, step);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value *NestEmitter::rowPointer(const Access &access) {
  if (!access.valid())
    return nullptr;
  Value *&pointer = rowPointers[&access];
  if (pointer)
    return pointer;
  if (access.spread == Spread::PerCol || access.spread == Spread::One)
    return pointer = access.base;
  unsigned bytes = access.mask ? 1 : bytesOf(access.elem);
  if (access.rowDims.empty()) {
    Value *at = access.rowLimit ? fn.smaller(row, fn.index(access.rowLimit - 1)) : row;
    return pointer = fn.elementPointer(access.base, b.CreateMul(at, access.rowStride), bytes);
  }
  Value *rest = row, *offset = fn.index(0);
  for (unsigned d = access.rowDims.size(); d-- > 0;) {
    auto [size, stride] = access.rowDims[d];
    Value *digit = d == 0 ? rest : b.CreateURem(rest, size);
    offset = b.CreateAdd(offset, b.CreateMul(digit, stride));
    if (d)
      rest = b.CreateUDiv(rest, size);
  }
  return pointer = fn.elementPointer(access.base, offset, bytes);
}

Value *NestEmitter::pointerAt(const Access &access, Value *col) {
  Value *pointer = rowPointer(access);
  if (access.spread == Spread::PerRow || access.spread == Spread::One)
    return pointer;
  if (access.mask)
    return b.CreatePtrAdd(pointer, b.CreateLShr(col, 3));
  return fn.elementPointer(pointer, b.CreateMul(col, access.colStride), bytesOf(access.elem));
}

/// Lanes beyond the row may be read from tiles (storage has slack behind it), never from global
/// memory. AVX2 has no masked moves below 32 bits: copy through a buffer instead.
Value *NestEmitter::loadBytes(Value *pointer, Type *type, unsigned elemBytes, Step &step,
                              bool mayOverread) {
  Align align(elemBytes);
  if (!step.mask || mayOverread)
    return b.CreateAlignedLoad(type, pointer, align);
  if (fn.owner.avx512() || elemBytes >= 4)
    return b.CreateMaskedLoad(type, pointer, align, step.mask, Constant::getNullValue(type));
  AllocaInst *bounce = fn.stackSlot(type, "bounce");
  b.CreateMemCpy(bounce, bounce->getAlign(), pointer, align,
                 b.CreateMul(step.count, fn.index(elemBytes)));
  return b.CreateLoad(type, bounce);
}

Value *NestEmitter::loadVector(const Access &access, Step &step) {
  const VecBuilder &vb = *step.vb;
  for (const Step::Loaded &loaded : step.loads) {
    const Access &o = *loaded.access;
    if (o.base == access.base && o.rowStride == access.rowStride &&
        o.colStride == access.colStride && o.elem == access.elem && o.spread == access.spread &&
        o.mask == access.mask && o.rowDims.empty() && access.rowDims.empty())
      return loaded.value;
  }
  Value *pointer = pointerAt(access, step.col), *value;
  if (access.mask) {
    unsigned lanes = vb.lanes();
    if (lanes == 1) {
      Value *byte = b.CreateAlignedLoad(b.getInt8Ty(), pointer, Align(1));
      Value *bit = b.CreateTrunc(b.CreateAnd(step.col, fn.index(7)), b.getInt8Ty());
      value = b.CreateTrunc(b.CreateLShr(byte, bit), b.getInt1Ty());
    } else {
      value = b.CreateBitCast(b.CreateAlignedLoad(b.getIntNTy(lanes), pointer, Align(1)),
                              vb.vec(b.getInt1Ty()));
    }
  } else if (access.spread == Spread::PerRow || access.spread == Spread::One) {
    VecBuilder one(b, 1, fn.owner.avx512());
    unsigned bytes = bytesOf(access.elem);
    Value *raw = b.CreateAlignedLoad(one.memType(access.elem), pointer, Align(bytes));
    value = vb.splat(one.fromMemory(raw, access.elem));
  } else {
    unsigned bytes = bytesOf(access.elem);
    Value *raw = loadBytes(pointer, vb.memType(access.elem), bytes, step, access.tile != nullptr);
    value = vb.fromMemory(raw, access.elem);
  }
  step.loads.push_back({&access, value});
  return value;
}

void NestEmitter::storeVector(const Access &access, Value *v, Step &step) {
  const VecBuilder &vb = *step.vb;
  Value *pointer = pointerAt(access, step.col);
  // Whatever was read from tiles or global memory may be what is written now.
  erase_if(step.loads, [&](const Step::Loaded &loaded) {
    return (loaded.access->tile == nullptr) == (access.tile == nullptr);
  });
  if (access.mask) {
    unsigned lanes = vb.lanes();
    if (lanes == 1) {
      // Columns come one by one only where there is a single one, or strided data.
      Value *bit = b.CreateAnd(b.CreateTrunc(step.col, b.getInt8Ty()), b.getInt8(7));
      Value *set = b.CreateShl(b.getInt8(1), bit);
      Value *old = b.CreateAlignedLoad(b.getInt8Ty(), pointer, Align(1));
      Value *cleared = b.CreateAnd(old, b.CreateNot(set));
      b.CreateAlignedStore(b.CreateSelect(v, b.CreateOr(old, set), cleared), pointer, Align(1));
      return;
    }
    Value *bits = b.CreateBitCast(v, b.getIntNTy(lanes));
    if (!step.mask) {
      b.CreateAlignedStore(bits, pointer, Align(1));
      return;
    }
    AllocaInst *bounce = fn.stackSlot(bits->getType(), "bits");
    b.CreateStore(bits, bounce);
    Value *bytes = b.CreateLShr(b.CreateAdd(step.count, fn.index(7)), 3);
    b.CreateMemCpy(pointer, Align(1), bounce, bounce->getAlign(), bytes);
    return;
  }
  unsigned bytes = bytesOf(access.elem);
  Value *raw = vb.toMemory(v, access.elem);
  Align align(bytes);
  if (!step.mask) {
    b.CreateAlignedStore(raw, pointer, align);
  } else if (fn.owner.avx512() || bytes >= 4) {
    b.CreateMaskedStore(raw, pointer, align, step.mask);
  } else {
    AllocaInst *bounce = fn.stackSlot(raw->getType(), "bounce");
    b.CreateStore(raw, bounce);
    b.CreateMemCpy(pointer, align, bounce, bounce->getAlign(),
                   b.CreateMul(step.count, fn.index(bytes)));
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value *NestEmitter::combine(const VecBuilder &vb, Reduction r, Elem e, Value *x, Value *y) {
  switch (r) {
  case Reduction::Sum:
    return vb.binary(Binary::Add, e, x, y);
  case Reduction::Prod:
    return vb.binary(Binary::Mul, e, x, y);
  case Reduction::Max:
    return vb.binary(Binary::Max, e, x, y);
  case Reduction::Min:
    return vb.binary(Binary::Min, e, x, y);
  }
  llvm_unreachable("covered switch");
}

Constant *NestEmitter::identity(const VecBuilder &vb, Reduction r, Elem e) {
  bool max = r == Reduction::Max;
  if (r == Reduction::Prod)
    return vb.constant(e, 1.0);
  if (r == Reduction::Sum)
    return vb.constant(e, isFloat(e) ? -0.0 : 0.0);
  if (isFloat(e))
    return ConstantFP::getInfinity(vb.regType(e), /*Negative=*/max);
  unsigned bits = bitsOf(e);
  APInt limit = isSigned(e)
                    ? (max ? APInt::getSignedMinValue(bits) : APInt::getSignedMaxValue(bits))
                    : (max ? APInt::getMinValue(bits) : APInt::getMaxValue(bits));
  return Constant::getIntegerValue(vb.regType(e), limit);
}

void NestEmitter::accumulate(const NestOp &op, const Accumulator &acc, Value *x, Step &step) {
  const VecBuilder &vb = *step.vb;
  Elem e = op.in[0].elem;
  Type *type = acc.value->getAllocatedType();
  Value *old = b.CreateLoad(type, acc.value);
  if (op.kind == NestKind::RowReduce) {
    Elem wide = sumElem(e);
    if (e == Elem::F16)
      x = vb.widen(e, x);
    Value *next = combine(vb, op.reduction, wide, old, x);
    if (step.mask)
      next = b.CreateSelect(step.mask, next, old);
    b.CreateStore(next, acc.value);
    return;
  }
  Compare better = op.reduction == Reduction::Max ? Compare::Gt : Compare::Lt;
  Value *wins = vb.compare(better, e, x, old);
  if (step.mask)
    wins = b.CreateAnd(wins, step.mask);
  Value *oldAt = b.CreateLoad(vb.iN(32), acc.index);
  Value *at = b.CreateAdd(vb.splat(b.CreateTrunc(step.col, b.getInt32Ty())), vb.iota(32));
  b.CreateStore(b.CreateSelect(wins, x, old), acc.value);
  b.CreateStore(b.CreateSelect(wins, at, oldAt), acc.index);
}

/// Combines the lanes in a tree and hands the row's value on.
void NestEmitter::finish(const Accumulator &acc, const VecBuilder &vb) {
  const NestOp &op = *group.nodes[acc.node].op;
  Elem e = op.in[0].elem, wide = op.kind == NestKind::RowReduce ? sumElem(e) : e;
  Value *v = b.CreateLoad(acc.value->getAllocatedType(), acc.value);
  Value *at = acc.index ? b.CreateLoad(acc.index->getAllocatedType(), acc.index) : nullptr;
  for (unsigned lanes = vb.lanes(); lanes > 1; lanes /= 2) {
    VecBuilder half(b, lanes / 2, fn.owner.avx512());
    auto part = [&](Value *x, unsigned from) -> Value * {
      if (lanes == 2)
        return b.CreateExtractElement(x, from);
      SmallVector<int, 32> mask;
      for (unsigned i = 0; i < lanes / 2; ++i)
        mask.push_back(from + i);
      return b.CreateShuffleVector(x, mask);
    };
    Value *low = part(v, 0), *high = part(v, lanes / 2);
    if (!at) {
      v = combine(half, op.reduction, wide, low, high);
      continue;
    }
    Value *lowAt = part(at, 0), *highAt = part(at, lanes / 2);
    Compare better = op.reduction == Reduction::Max ? Compare::Gt : Compare::Lt;
    Value *wins = half.compare(better, e, high, low);
    Value *tie =
        b.CreateAnd(half.compare(Compare::Eq, e, high, low), b.CreateICmpULT(highAt, lowAt));
    wins = b.CreateOr(wins, tie);
    v = b.CreateSelect(wins, high, low);
    at = b.CreateSelect(wins, highAt, lowAt);
  }
  VecBuilder one(b, 1, fn.owner.avx512());
  if (op.kind == NestKind::RowReduce && op.reduction == Reduction::Sum && isFloat(wide) &&
      !constant(op.cols)) // the sum of nothing is +0
    v = b.CreateSelect(b.CreateICmpEQ(op.cols, fn.index(0)), one.constant(wide, 0.0), v);
  Value *result =
      at ? b.CreateZExtOrTrunc(at, one.regType(op.out.elem)) : one.roundTo(op.out.elem, v);
  scalars[acc.node] = result;
  if (group.nodes[acc.node].inMemory) {
    Access out = op.out;
    out.spread = Spread::PerRow;
    unsigned bytes = bytesOf(out.elem);
    Value *pointer = fn.elementPointer(out.base, b.CreateMul(row, out.rowStride), bytes);
    b.CreateAlignedStore(one.toMemory(result, out.elem), pointer, Align(bytes));
  }
}

} // namespace ptoas::native
