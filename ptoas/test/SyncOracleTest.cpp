//===- SyncOracleTest.cpp - inserted order is sufficient and minimal ------===//
//
// For every program of this tree, and of the conformance cases where they are beside it:
// the oracle finds no hazard after insertion, and finds one as soon as any inserted flag
// or barrier is taken away, moved behind its instruction, or given another event.
//
//===----------------------------------------------------------------------===//
#include "SyncOracle.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include "ptoas/Driver/Assembler.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::pto;
namespace fs = std::filesystem;

namespace {
struct Program {
  explicit Program(const std::string &text, bool insert = true)
      : context(registry(), MLIRContext::Threading::DISABLED),
        handler(&context, [](Diagnostic &) { return success(); }) {
    context.allowUnregisteredDialects();
    context.loadAllAvailableDialects();
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "program.pto"),
                               llvm::SMLoc());
    ptoas::AssemblerOptions options;
    module = ptoas::parseModule(sources, context, options);
    if (!module || !insert)
      return;
    bool hasAddresses = false;
    module->walk([&](AllocTileOp op) { hasAddresses |= bool(op.getAddr()); });
    options.level = hasAddresses ? 3 : 2;
    options.insertSync = true;
    assembled = succeeded(ptoas::checkModule(*module, options));
  }

  static DialectRegistry registry() {
    DialectRegistry registry;
    ptoas::registerPtoDialects(registry);
    return registry;
  }

  MLIRContext context;
  ScopedDiagnosticHandler handler;
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module;
  bool assembled = false;
};

// What insertion adds together: a set_flag with its wait_flag, those of a flag carried around a
// loop, or a barrier.
using Unit = SmallVector<Operation *, 4>;

template <typename A, typename B> bool isSameFlag(A a, B b) {
  return a.getSrcPipe() == b.getSrcPipe() && a.getDstPipe() == b.getDstPipe() &&
         a.getEventId() == b.getEventId();
}

// The wait for a flag, further on in its block.
Operation *waitOf(SetFlagOp set) {
  for (Operation *op = set->getNextNode(); op; op = op->getNextNode())
    if (auto wait = dyn_cast<WaitFlagOp>(op))
      if (isSameFlag(wait, set))
        return op;
  return nullptr;
}

SmallVector<Unit> unitsOf(func::FuncOp function) {
  SmallVector<Unit> units;
  llvm::DenseSet<Operation *> taken;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<BarrierOp>(op))
      units.push_back({op});
    auto set = dyn_cast<SetFlagOp>(op);
    if (!set || taken.contains(op))
      return;
    Operation *wait = waitOf(set);
    units.push_back({op, wait});
    // Where it is waited for and set inside of a loop between the two, it is carried around it.
    for (Operation *between = op; wait && between != wait; between = between->getNextNode())
      if (between->getNumRegions())
        between->walk([&](Operation *inner) {
          auto flag = dyn_cast<SetFlagOp>(inner);
          auto waits = dyn_cast<WaitFlagOp>(inner);
          if ((flag && isSameFlag(flag, set)) || (waits && isSameFlag(waits, set))) {
            units.back().push_back(inner);
            taken.insert(inner);
          }
        });
  });
  return units;
}

bool hasOrderOfItsOwn(ModuleOp module) {
  bool found = false;
  module.walk([&](Operation *op) {
    found |= isa<SetFlagOp, WaitFlagOp, SetFlagDynOp, WaitFlagDynOp, RecordEventOp, WaitEventOp,
                 GetBufOp, RlsBufOp, BarrierOp, BarrierSyncOp>(op);
  });
  return found;
}

std::vector<std::string> programs() {
  std::vector<std::string> found;
  for (const char *root : {PTOAS_TEST_DIR, PTOAS_TEST_DIR "/../tests/kernels",
                           PTOAS_CASES_DIR "/pto", PTOAS_CASES_DIR "/pto-from-pypto"}) {
    std::error_code code;
    for (auto &entry : fs::recursive_directory_iterator(root, code)) {
      std::string name = entry.path().filename().string();
      // The other spelling of the same module; programs that are wrong on purpose.
      if (name.find(".bridged.") != std::string::npos || name.find("errors") != std::string::npos)
        continue;
      if (entry.path().extension() == ".pto" || entry.path().extension() == ".mlir")
        found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}
} // namespace

// Judges what was inserted into `program`; the number of orders. Where the oracle tries too few
// ways to see each order at work, it only looks for hazards.
static unsigned judge(Program &program, const std::string &name, bool seesAll = true) {
  const oracle::Limits limits;
  unsigned units = 0;
  for (auto function : program.module->getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    std::string hazard = oracle::findHazard(function, limits);
    EXPECT_EQ(hazard, "") << name << " @" << function.getName().str();
    for (const Unit &unit : unitsOf(function)) {
      ++units;
      if (!seesAll)
        continue;
      llvm::DenseSet<Operation *> without(unit.begin(), unit.end());
      EXPECT_NE(oracle::findHazard(function, limits, without), "")
          << name << " @" << function.getName().str() << ": nothing needs "
          << unit.front()->getName().getStringRef().str() << " in front of "
          << unit.back()->getNextNode()->getName().getStringRef().str()
          << (unit.size() > 2 ? ", carried around a loop" : "");
    }
  }
  return units;
}

TEST(SyncOracleTest, InsertedOrderIsSufficientAndMinimal) {
  unsigned checked = 0, units = 0;
  for (const std::string &path : programs()) {
    std::string text = read(path);
    Program before(text, /*insert=*/false);
    if (!before.module || hasOrderOfItsOwn(*before.module))
      continue;
    Program program(text);
    if (!program.assembled)
      continue;
    ++checked;
    units += judge(program, path);
  }
  EXPECT_GE(checked, 20u);
  EXPECT_GE(units, 60u);
  std::printf("%u programs, %u orders\n", checked, units);
}

namespace {
// Loops and branches of loads, vector instructions and stores over a few tiles.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {}

  std::string text() {
    std::string body = block(2, 0);
    std::string tiles;
    for (unsigned i = 0; i < kTiles; ++i) {
      std::string number = std::to_string(i);
      tiles += "  %a" + number + " = arith.constant " + std::to_string(4096 * i) + " : i64\n  %t" +
               number + " = pto.alloc_tile addr = %a" + number + " : !V\n";
    }
    return "!V = !pto.tile_buf<vec, 16x64xf32>\n!P = !pto.partition_tensor_view<16x64xf32>\n"
           "module attributes {pto.target_arch = \"a2a3\"} {\n"
           "func.func @f(%x: !P, %y: !P, %g: !pto.ptr<f32>, %n: index, %c: i1) {\n"
           "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
           "  %c2 = arith.constant 2 : index\n  %c3 = arith.constant 7 : index\n"
           "  %c64 = arith.constant 64 : index\n  %c16 = arith.constant 16 : index\n"
           "  %w = pto.make_tensor_view %g, shape = [%n, %c64], strides = [%c64, %c1] : "
           "!pto.tensor_view<?x64xf32>\n" +
           tiles + body + "  return\n} }\n";
  }

private:
  static constexpr unsigned kTiles = 4;
  unsigned below(unsigned limit) { return random() % limit; }

  // A part of a tensor: some rows ahead of a counter of a loop around it, or of the start.
  std::string window(std::string &code) {
    std::string number = std::to_string(windows++), row = "%c" + std::to_string(below(3));
    if (!counters.empty() && below(3) != 0) {
      code += "%m" + number + " = arith.muli " + counters[below(counters.size())] + ", %c" +
              (below(2) ? "16" : "1") + " : index\n";
      code += "%r" + number + " = arith.addi %m" + number + ", " + (below(2) ? row : "%c16") +
              " : index\n";
      row = "%r" + number;
    }
    code += "%w" + number + " = pto.partition_view %w, offsets = [" + row +
            ", %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x64xf32> -> !P\n";
    return "%w" + number;
  }
  std::string loop(unsigned depth, const std::string &limit) {
    std::string counter = "%i" + std::to_string(loops++);
    counters.push_back(counter);
    std::string code =
        "scf.for " + counter + " = %c0 to " + limit + " step %c1 {\n" + block(1, depth + 1) + "}\n";
    counters.pop_back();
    return code;
  }
  std::string tile() { return "%t" + std::to_string(below(kTiles)); }

  std::string block(unsigned length, unsigned depth) {
    std::string code;
    for (unsigned i = 0, count = length + below(5); i < count; ++i)
      code += statement(depth);
    return code;
  }

  std::string statement(unsigned depth) {
    unsigned choice = below(depth < 3 ? 10 : 6);
    switch (choice) {
    case 0:
    case 1:
    case 2: {
      std::string code, part = below(2) ? window(code) : choice == 2 ? "%y" : "%x";
      return code + (choice == 2 ? "pto.tstore ins(" + tile() + " : !V) outs(" + part + " : !P)\n"
                                 : "pto.tload ins(" + part + " : !P) outs(" + tile() + " : !V)\n");
    }
    case 3:
    case 4:
      return "pto.tadd ins(" + tile() + ", " + tile() + " : !V, !V) outs(" + tile() + " : !V)\n";
    case 5:
      return "pto.texp ins(" + tile() + " : !V) outs(" + tile() + " : !V)\n";
    case 6:
      return loop(depth, "%n");
    case 7: // runs once, twice, or more often
      return loop(depth, "%c" + std::to_string(1 + below(3)));
    case 8:
      return below(2) == 0
                 ? statement(depth)
                 : "scf.while : () -> () {\n" + block(0, depth + 1) +
                       "scf.condition(%c)\n} do {\n" + block(0, depth + 1) + "scf.yield\n}\n";
    default:
      return "scf.if %c {\n" + block(0, depth + 1) + "} else {\n" + block(0, depth + 1) + "}\n";
    }
  }

  std::mt19937 random;
  unsigned loops = 0, windows = 0;
  std::vector<std::string> counters; // of the loops around
};
} // namespace

TEST(SyncOracleTest, RandomProgramsAreOrdered) {
  unsigned units = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::string text = RandomProgram(seed).text();
    Program program(text);
    ASSERT_TRUE(program.assembled) << text;
    units += judge(program, "seed " + std::to_string(seed), /*seesAll=*/false);
    PassManager passes(&program.context);
    passes.addPass(createCheckSync());
    EXPECT_TRUE(succeeded(passes.run(*program.module))) << "seed " << seed;
    if (HasFailure()) {
      std::printf("%s\n", text.c_str());
      return;
    }
  }
  EXPECT_GE(units, 300u);
}

// A loop's loads wait for what still reads their tiles, not for the stores of the iteration before,
// which read others.
TEST(SyncOracleTest, LoadsRunBesideTheStoresOfTheIterationBefore) {
  unsigned beside = 0, loops = 0;
  for (const char *level : {"level2", "level3"})
    for (const char *name :
         {"axpy", "matmul_blocks", "prefix_rows", "rms_norm", "softmax_blocks", "top_of_32"}) {
      Program program(
          read(std::string(PTOAS_TEST_DIR "/../tests/kernels/") + level + "/" + name + ".pto"));
      ASSERT_TRUE(program.assembled) << name;
      program.module->walk([&](scf::ForOp loop) {
        ++loops;
        auto stores = llvm::to_vector(loop.getBody()->getOps<TStoreOp>());
        for (auto load : loop.getBody()->getOps<TLoadOp>())
          for (TStoreOp store : stores) {
            ++beside;
            EXPECT_TRUE(oracle::mayRunBeside(loop->getParentOfType<func::FuncOp>(), store, load))
                << level << " " << name;
          }
      });
    }
  EXPECT_EQ(loops, 12u);
  EXPECT_GE(beside, 12u);
}

namespace {
constexpr const char *kByTurns = R"(
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @f(%x: !P, %y: !P, %n: index, %c: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 4096 : i64
    %ping = pto.alloc_tile addr = %a0 : !V
    %pong = pto.alloc_tile addr = %a1 : !V
    scf.for %i = %c0 to %n step %c1 {
      FIRST
      pto.tload ins(%x : !P) outs(%ping : !V)
      pto.texp ins(%ping : !V) outs(%ping : !V)
      pto.tstore ins(%ping : !V) outs(%y : !P)
      SECOND
      pto.tload ins(%x : !P) outs(%pong : !V)
      pto.texp ins(%pong : !V) outs(%pong : !V)
      pto.tstore ins(%pong : !V) outs(%y : !P)
      LAST
    }
    return
  }
})";
} // namespace

// Two tiles by turns, in one body or in two branches: a load waits for the store of its own tile,
// not for that of the other, which comes after it or in an iteration of its own.
TEST(SyncOracleTest, TilesByTurnsWaitForThemselves) {
  for (bool inBranches : {false, true}) {
    std::string text = kByTurns;
    auto replace = [&](StringRef from, const char *to) {
      text.replace(text.find(from), from.size(), inBranches ? to : "");
    };
    replace("FIRST", "scf.if %c {");
    replace("SECOND", "} else {");
    replace("LAST", "}");
    Program program(text);
    ASSERT_TRUE(program.assembled);
    auto function = *program.module->getOps<func::FuncOp>().begin();
    SmallVector<Operation *> loads, stores;
    function.walk([&](Operation *op) {
      if (isa<TLoadOp>(op))
        loads.push_back(op);
      else if (isa<TStoreOp>(op))
        stores.push_back(op);
    });
    ASSERT_EQ(loads.size(), 2u);
    for (unsigned own : {0u, 1u}) {
      EXPECT_FALSE(oracle::mayRunBeside(function, stores[own], loads[own]));
      EXPECT_TRUE(oracle::mayRunBeside(function, stores[1 - own], loads[own])) << inBranches << own;
    }
    EXPECT_EQ(oracle::findHazard(function, {}), "");
  }
}

namespace {
// A loop with two tiles, a branch, and an accumulator that is read behind it.
constexpr const char *kLoop = R"(
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @f(%x: !P, %y: !P, %n: index, %c: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0.0 : f32
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 4096 : i64
    %a2 = arith.constant 8192 : i64
    %s = pto.alloc_tile addr = %a0 : !V
    %a = pto.alloc_tile addr = %a1 : !V
    %b = pto.alloc_tile addr = %a2 : !V
    pto.texpands ins(%z : f32) outs(%s : !V)
    scf.for %i = %c0 to %n step %c1 {
      pto.tload ins(%x : !P) outs(%a : !V)
      scf.if %c {
        pto.texp ins(%a : !V) outs(%b : !V)
      } else {
        pto.tload ins(%y : !P) outs(%b : !V)
      }
      pto.tadd ins(%s, %b : !V, !V) outs(%s : !V)
    }
    pto.tstore ins(%s : !V) outs(%y : !P)
    return
  }
})";
} // namespace

// A flag with another event on one side, a wait behind its instruction, a flag in the other
// direction.
TEST(SyncOracleTest, FindsFaults) {
  unsigned faults = 0;
  for (unsigned fault = 0; fault < 3; ++fault)
    for (unsigned number = 0;; ++number) {
      Program program(kLoop);
      ASSERT_TRUE(program.assembled);
      auto function = *program.module->getOps<func::FuncOp>().begin();
      ASSERT_EQ(oracle::findHazard(function, {}), "");
      SmallVector<Unit> units;
      for (Unit &unit : unitsOf(function))
        if (unit.size() == 2)
          units.push_back(unit);
      if (number == units.size())
        break;
      auto set = cast<SetFlagOp>(units[number][0]);
      auto wait = cast<WaitFlagOp>(units[number][1]);
      OpBuilder builder(wait);
      if (fault == 0) {
        set.setEventId(EVENT::EVENT_ID7);
      } else if (fault == 1) {
        // Behind the instruction that is to wait; the next op may be another order of it.
        Operation *behind = wait->getNextNode();
        while (isa<SetFlagOp, WaitFlagOp, BarrierOp>(behind))
          behind = behind->getNextNode();
        wait->moveAfter(behind);
      } else {
        SetFlagOp::create(builder, set.getLoc(), set.getDstPipe(), set.getSrcPipe(),
                          set.getEventId());
        WaitFlagOp::create(builder, set.getLoc(), set.getDstPipe(), set.getSrcPipe(),
                           set.getEventId());
        wait.erase();
        set.erase();
      }
      ++faults;
      EXPECT_NE(oracle::findHazard(function, {}), "") << "fault " << fault << ", order " << number;
    }
  EXPECT_GE(faults, 9u);
}

// Deep nests and many instructions stay linear in what is written: each level does not double the
// work.
TEST(SyncOracleTest, DeepLoopsComeToAnEnd) {
  std::string text = "!V = !pto.tile_buf<vec, 16x64xf32>\n"
                     "func.func @f(%x: !pto.partition_tensor_view<16x64xf32>, %n: index) {\n"
                     "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
                     "  %a0 = arith.constant 0 : i64\n"
                     "  %a = pto.alloc_tile addr = %a0 : !V\n";
  constexpr int kDepth = 40;
  for (int i = 0; i < kDepth; ++i)
    text += "scf.for %i" + std::to_string(i) + " = %c0 to %n step %c1 {\n";
  text += "pto.tload ins(%x : !pto.partition_tensor_view<16x64xf32>) outs(%a : !V)\n"
          "pto.texp ins(%a : !V) outs(%a : !V)\n";
  text += std::string(kDepth, '}') + "\nreturn }\n";
  Program program(text);
  ASSERT_TRUE(program.assembled);
  auto function = *program.module->getOps<func::FuncOp>().begin();
  EXPECT_EQ(oracle::findHazard(function, {10, 1, 500}), "");
}
