//===- DialectTest.cpp - what must hold for every op of the dialect -------===//
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Driver/Assembler.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace mlir::pto;

namespace {
struct DialectTest : testing::Test {
  DialectTest() {
    DialectRegistry registry;
    ptoas::registerPtoDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};
} // namespace

// Alias analysis, dead code removal and the planner trust effects: an op without them is a bug.
TEST_F(DialectTest, EveryOpStatesItsEffects) {
  unsigned count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "pto")
      continue;
    ++count;
    EXPECT_TRUE(name.hasInterface<MemoryEffectOpInterface>() ||
                name.hasTrait<OpTrait::HasRecursiveMemoryEffects>())
        << name.getStringRef().str() << " states no memory effects";
  }
  EXPECT_GT(count, 200u);
}

TEST_F(DialectTest, EveryTileOpHasAQueue) {
  unsigned count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "pto")
      continue;
    if (!name.hasInterface<TileOpInterface>())
      continue;
    ++count;
    EXPECT_TRUE(name.hasInterface<PipeOpInterface>())
        << name.getStringRef().str() << " runs on no queue";
  }
  EXPECT_GT(count, 110u);
}

TEST_F(DialectTest, EffectsFollowTheOperandList) {
  OwningOpRef<ModuleOp> module = parse(R"(
    !V = !pto.tile_buf<vec, 16x64xf32>
    !C = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
    func.func @f(%a: !V, %tmp: !V, %c: !C) {
      pto.trowsum ins(%a, %tmp : !V, !V) outs(%c : !C)
      return
    })");
  ASSERT_TRUE(module);
  module->walk([&](TRowSumOp sum) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    sum.getEffects(effects);
    ASSERT_EQ(effects.size(), 3u);
    EXPECT_TRUE(isa<MemoryEffects::Read>(effects[0].getEffect()));
    EXPECT_EQ(effects[0].getValue(), Value(sum.getSrc()));
    EXPECT_TRUE(isa<MemoryEffects::Write>(effects[1].getEffect()));
    EXPECT_EQ(effects[1].getValue(), Value(sum.getTmp()));
    EXPECT_TRUE(isa<MemoryEffects::Write>(effects[2].getEffect()));
    EXPECT_EQ(effects[2].getValue(), Value(sum.getDst()));
    EXPECT_EQ(sum.getPipe(), PIPE::PIPE_V);
  });
}

// An accumulation that were only a write would let the planner reuse the accumulator's bytes.
TEST_F(DialectTest, AccumulatorsAreRead) {
  OwningOpRef<ModuleOp> module = parse(R"(
    !V = !pto.tile_buf<vec, 16x64xf32>
    func.func @f(%a: !V, %s: f32, %d: !V) {
      pto.taxpy ins(%a, %s : !V, f32) outs(%d : !V)
      return
    })");
  ASSERT_TRUE(module);
  module->walk([&](TAxpyOp op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    bool reads = false;
    for (auto &effect : effects)
      reads |= isa<MemoryEffects::Read>(effect.getEffect()) && effect.getValue() == op.getDst();
    EXPECT_TRUE(reads);
  });
}

// Optional operands at the end of the list are absent here.
TEST_F(DialectTest, AbsentOperandsHaveNoEffects) {
  OwningOpRef<ModuleOp> module = parse(R"(
    !V = !pto.tile_buf<vec, 16x64xf32>
    func.func @f(%a: !V, %d: !V) {
      pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0101>} : !V, "row") outs(%d : !V)
      return
    })");
  ASSERT_TRUE(module);
  module->walk([&](TGatherOp op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    ASSERT_EQ(effects.size(), 2u);
    EXPECT_EQ(effects[0].getValue(), Value(op.getSrc()));
    EXPECT_EQ(effects[1].getValue(), Value(op.getDst()));
  });
}

TEST_F(DialectTest, BoxesOfTileTypes) {
  Type f16 = Float16Type::get(&context);
  auto boxes = [&](SLayout slayout, int64_t fractal) {
    return TileBufType::get(AddressSpace::Mat, 64, 64, f16, 64, 64, BLayout::ColMajor, slayout,
                            fractal)
        .getBoxShape();
  };
  EXPECT_EQ(boxes(SLayout::RowMajor, 512), (std::pair<int64_t, int64_t>{16, 16}));
  EXPECT_EQ(boxes(SLayout::RowMajor, 1024), (std::pair<int64_t, int64_t>{16, 16}));
  EXPECT_EQ(boxes(SLayout::RowMajor, 32), (std::pair<int64_t, int64_t>{16, 2}));
  EXPECT_EQ(boxes(SLayout::NoneBox, 512), (std::pair<int64_t, int64_t>{1, 1}));
}
