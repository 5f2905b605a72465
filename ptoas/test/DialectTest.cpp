//===- DialectTest.cpp - what must hold for every op of the dialect -------===//
#include "SyncModel.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Driver/Assembler.h"
#include "llvm/Support/FileSystem.h"
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

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

// ops.txt: names, `old = new` and `name ! reason`.
struct OpList {
  std::set<std::string> ops;
  std::vector<std::pair<std::string, std::string>> earlierNames;
  std::vector<std::string> leftOut;
};

static std::string debugString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static OpList readOpList() {
  OpList list;
  std::ifstream file(PTOAS_TEST_DIR "/ops.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line[0] == '[')
      continue;
    std::istringstream words(line);
    std::string word, sign, other;
    words >> word;
    if (line.find(" = ") != std::string::npos) {
      words >> sign >> other;
      list.earlierNames.push_back({"pto." + word, "pto." + other});
    } else if (line.find(" ! ") != std::string::npos) {
      list.leftOut.push_back("pto." + word);
    } else {
      do
        EXPECT_TRUE(list.ops.insert("pto." + word).second) << word << " is listed twice";
      while (words >> word);
    }
  }
  return list;
}

// That the list has the ops of the dialect, and no other, is compared for all parts of the stack in
// tests/native/test_zz_one_set_of_ops.py.
TEST_F(DialectTest, EarlierNamesAreRead) {
  OpList list = readOpList();
  std::set<std::string> registered;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == "pto")
      registered.insert(name.getStringRef().str());
  auto *dialect = context.getLoadedDialect("pto");
  for (auto &[old, name] : list.earlierNames) {
    EXPECT_TRUE(registered.count(name)) << name;
    EXPECT_TRUE(dialect->getParseOperationHook(old)) << old << " is not read";
  }
  for (const std::string &name : list.leftOut)
    EXPECT_FALSE(registered.count(name)) << name;
}

// Ops that order queues, or change handles of tiles and scalars on the stack, run on no queue.
static bool runsOnNoQueue(Operation *op) {
  return isa<SetFlagOp, WaitFlagOp, SetFlagDynOp, WaitFlagDynOp, RecordEventOp, WaitEventOp,
             BarrierOp, BarrierSyncOp, GetBufOp, RlsBufOp, GetBufDynOp, RlsBufDynOp, MemBarOp,
             SyncSetOp, SyncWaitOp, SetFftsOp, SetCrossBlockOp, WaitCrossBlockOp, SetIntraBlockOp,
             WaitIntraBlockOp, SyncAllOp, FenceBarrierAllOp, CacheInvalidOp, ReserveBufferOp,
             ImportReservedBufferOp, AicInitializePipeOp, AivInitializePipeOp, InitializeL2LPipeOp,
             InitializeL2G2LPipeOp, SetValidShapeOp, GetValidShapeOp, TileValidRowsOp,
             TileValidColsOp, EventIdArrayGetOp, EventIdArraySetOp, StructGetOp, StructSetOp>(op);
}

// Every instruction names its queue and the bytes that it reads and writes. The texts hold each op.
TEST_F(DialectTest, EveryInstructionHasAQueueAndBytes) {
  std::set<std::string> seen;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(PTOAS_TEST_DIR "/IR/text", error), end;
       !error && file != end; file.increment(error)) {
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file->path(), &context);
    ASSERT_TRUE(module) << file->path();
    module->walk([&](Operation *op) {
      if (op->getName().getDialectNamespace() != "pto")
        return;
      std::string name = op->getName().getStringRef().str();
      seen.insert(name);
      auto effects = dyn_cast<MemoryEffectOpInterface>(op);
      bool onlyAllocates = effects && !isa<PipeOpInterface>(op) && op->getNumRegions() == 0 &&
                           effects.onlyHasEffect<MemoryEffects::Allocate>();
      if (isMemoryEffectFree(op) || onlyAllocates || op->getNumRegions() || runsOnNoQueue(op))
        return;
      auto instruction = dyn_cast<PipeOpInterface>(op);
      ASSERT_TRUE(instruction) << name << " runs on no queue";
      EXPECT_NE(instruction.getPipe(), PIPE::PIPE_UNASSIGNED) << name;
      SmallVector<MemoryEffects::EffectInstance> instances;
      effects.getEffects(instances);
      std::set<void *> touched;
      for (auto &effect : instances)
        if (Value value = effect.getValue())
          touched.insert(value.getAsOpaquePointer());
      SmallVector<Value> values(op->getOperands());
      values.append(op->result_begin(), op->result_end());
      for (Value value : values) {
        auto tile = dyn_cast<TileBufType>(value.getType());
        bool memory = tile || isa<TensorViewType, PartitionTensorViewType>(value.getType());
        // A slot that is given back is touched no more.
        if (!memory || isa<TFreeFromAicOp, TFreeFromAivOp>(op))
          continue;
        EXPECT_TRUE(touched.count(value.getAsOpaquePointer()))
            << name << " has no effect on its operand of type " << debugString(value.getType());
        if (tile)
          EXPECT_GT(tile.getSizeInBytes(), 0) << name;
      }
      for (const TouchedBytes &region : getRegions(op))
        EXPECT_TRUE(region.isGlobal || region.root || region.begin >= 0)
            << name << " touches bytes that nobody can place";
    });
  }
  for (const std::string &name : readOpList().ops)
    EXPECT_TRUE(seen.count(name)) << name << " has no text in test/IR/text";
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
