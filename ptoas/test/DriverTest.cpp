//===- DriverTest.cpp - what the tools are given: text, arrays, scalars; FIFOs ===//
#include "EntryWrapper.h"
#include "Npy.h"
#include "TextFaults.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "ptoas/Driver/Assembler.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace mlir;

namespace {
struct NpyTest : testing::Test {
  std::string path =
      (std::filesystem::temp_directory_path() /
       (std::string("ptoas_") + testing::UnitTest::GetInstance()->current_test_info()->name() +
        "_" + std::to_string(getpid()) + ".npy"))
          .string();
  ~NpyTest() override { std::filesystem::remove(path); }

  void write(const std::string &dictionary, const std::string &data) {
    std::string header("\x93NUMPY\x01\x00", 8);
    header += static_cast<char>(dictionary.size() & 0xff);
    header += static_cast<char>(dictionary.size() >> 8);
    std::ofstream(path, std::ios::binary) << header << dictionary << data;
  }
  std::string problem() {
    llvm::Expected<ptoas::NpyArray> array = ptoas::readNpy(path);
    if (array)
      return "";
    return llvm::toString(array.takeError());
  }
};

std::optional<uint64_t> word(Type type, StringRef text) {
  FailureOr<uint64_t> value = ptoas::parseScalarWord(type, text);
  return failed(value) ? std::nullopt : std::optional<uint64_t>(*value);
}
} // namespace

TEST_F(NpyTest, ReadsAndWritesBack) {
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", std::string(24, 'x'));
  llvm::Expected<ptoas::NpyArray> array = ptoas::readNpy(path);
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(array->descr, "<f4");
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
  ASSERT_EQ(array->data.size(), 24u);
  array->data[5] = 'y';
  ASSERT_FALSE(bool(ptoas::writeNpy(path, *array)));
  llvm::Expected<ptoas::NpyArray> again = ptoas::readNpy(path);
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(again->data, array->data);
  EXPECT_EQ(again->shape, array->shape);
}

TEST_F(NpyTest, ScalarAndVectorShapes) {
  write("{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", "a");
  EXPECT_EQ(problem(), "");
  write("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n", "abc");
  EXPECT_EQ(problem(), "");
}

TEST_F(NpyTest, SaysWhatIsWrong) {
  EXPECT_NE(problem().find("No such file"), std::string::npos);
  std::ofstream(path) << "hello, this is not an array";
  EXPECT_NE(problem().find("is not a .npy file"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }\n", "abcd");
  EXPECT_NE(problem().find("is in Fortran order; save numpy.ascontiguousarray(x)"),
            std::string::npos);
  write("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", "abcd");
  EXPECT_NE(problem().find("element type '>f4' is not supported"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "abcd");
  EXPECT_NE(problem().find("holds fewer elements than its shape says"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 16), }\n", "abcd");
  EXPECT_NE(problem().find("is too large"), std::string::npos);
  write("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "abcd");
  EXPECT_NE(problem().find("has no simple element type"), std::string::npos);
}

TEST(ScalarWordTest, BitsOfEachType) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Builder b(&context);
  float half = 0.5f;
  uint32_t bits = 0;
  std::memcpy(&bits, &half, 4);
  EXPECT_EQ(word(b.getF32Type(), "0.5"), uint64_t(bits));
  EXPECT_EQ(word(b.getF16Type(), "1"), uint64_t(0x3c00));
  EXPECT_EQ(word(b.getBF16Type(), "-2"), uint64_t(0xc000));
  EXPECT_EQ(word(b.getI32Type(), "-1"), ~uint64_t(0));
  EXPECT_EQ(word(b.getIndexType(), "0x20"), uint64_t(32));
  EXPECT_EQ(word(b.getIntegerType(8), "255"), uint64_t(255));
  EXPECT_EQ(word(b.getI1Type(), "True"), uint64_t(1));
}

TEST(ScalarWordTest, RejectsWhatDoesNotFit) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Builder b(&context);
  EXPECT_EQ(word(b.getIntegerType(8), "256"), std::nullopt);
  EXPECT_EQ(word(b.getIntegerType(8), "-129"), std::nullopt);
  EXPECT_EQ(word(b.getI32Type(), "1.5"), std::nullopt);
  EXPECT_EQ(word(b.getI32Type(), ""), std::nullopt);
  EXPECT_EQ(word(b.getF32Type(), "abc"), std::nullopt);
  // Larger than what fits in a signed word.
  EXPECT_EQ(word(b.getI32Type(), "18446744073709551615"), std::nullopt);
  EXPECT_EQ(word(b.getI32Type(), "9223372036854775808"), std::nullopt);
  EXPECT_EQ(word(b.getI64Type(), "18446744073709551615"), ~uint64_t(0));
  EXPECT_EQ(word(b.getI64Type(), "18446744073709551616"), std::nullopt);
  EXPECT_EQ(word(b.getF16Type(), "1e9"), std::nullopt);
  EXPECT_EQ(word(b.getF16Type(), "inf"), uint64_t(0x7c00));
}

TEST(ScalarWordTest, RejectsOtherTypes) {
  DialectRegistry registry;
  ptoas::registerPtoDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Builder b(&context);
  for (Type type :
       {Type(LLVM::LLVMPointerType::get(&context)), Type(VectorType::get({4}, b.getF32Type())),
        Type(RankedTensorType::get({4}, b.getF32Type())), Type(b.getIntegerType(128)),
        Type(b.getIntegerType(7)), Type(Float128Type::get(&context)), Type(b.getNoneType())}) {
    EXPECT_FALSE(ptoas::isScalarArgument(type));
    EXPECT_EQ(word(type, "1"), std::nullopt);
  }
}

// What checkTextFaults says about a text: "line:column: message", empty when nothing.
static std::string faultOf(const std::string &text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string said;
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    auto at = cast<FileLineColLoc>(diagnostic.getLocation());
    said = std::to_string(at.getLine()) + ":" + std::to_string(at.getColumn()) + ": " +
           diagnostic.str();
    return success();
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "x.pto"), llvm::SMLoc());
  LogicalResult result = ptoas::checkTextFaults(sources, context);
  EXPECT_EQ(failed(result), !said.empty());
  return said;
}

static std::string repeat(const std::string &text, unsigned times) {
  std::string all;
  for (unsigned i = 0; i < times; ++i)
    all += text;
  return all;
}

TEST(TextFaultsTest, RefusesOneTooMany) {
  for (const char *open : {"{", "(", "[", "<", "-"}) {
    EXPECT_EQ(faultOf("\n " + repeat(open, ptoas::kMaxNesting)), "");
    EXPECT_EQ(faultOf("\n " + repeat(open, ptoas::kMaxNesting + 1)),
              "2:258: brackets nest deeper than 256 levels");
  }
  EXPECT_EQ(faultOf(repeat("scf.if %c {\n", 20000)),
            "257:11: brackets nest deeper than 256 levels");
}

// MLIR's parser would ask the type `index` for its width.
TEST(TextFaultsTest, RefusesArraysOfIndex) {
  const char *said = "the elements of an array attribute must be integers or floats, as in "
                     "array<i32: 1, 2>";
  EXPECT_EQ(faultOf("{a = array<index: 1>}"), std::string("1:12: ") + said);
  EXPECT_EQ(faultOf("{a = array // <\n < index, 2>}"), std::string("2:4: ") + said);
  EXPECT_EQ(faultOf("!i = index\n{a = array<!i>}"), std::string("2:12: ") + said);
  EXPECT_EQ(faultOf("{a = array<i32: 1>, b = array<f32>, index = 1 : index}"), "");
  EXPECT_EQ(faultOf("!llvm.array<index> #array<index> \"array<index>\" // array<index>"), "");
}

// MLIR calls itself once for each term of a sum.
TEST(TextFaultsTest, RefusesLongAffineMaps) {
  auto map = [](const std::string &sum) { return "{a = affine_map<(d0) -> (d0" + sum + ")>}\n"; };
  EXPECT_EQ(faultOf("\n" + map(repeat(" + d0 floordiv 3", 100000))),
            "2:6: an affine map or set of more than 32768 signs");
  EXPECT_EQ(faultOf(repeat(map(repeat(" + d0 floordiv 3", 1000)), 3)), "");
  EXPECT_EQ(faultOf("affine_map = 1" + repeat(", (d0 + d0)", 10000)), "");
}

TEST(TextFaultsTest, CountsOpenBracketsOnly) {
  EXPECT_EQ(faultOf(repeat("{a = [#b<(d0) -> (d0)>]}\n", 1000)), "");
  EXPECT_EQ(faultOf(repeat("(d0 <= 3)", 1000)), "");
  EXPECT_EQ(faultOf("// " + repeat("{", 1000)), "");
  EXPECT_EQ(faultOf("\"\\\"" + repeat("{", 1000) + "\""), "");
  // Signs that close nothing do not make room.
  EXPECT_NE(faultOf(repeat(")", 1000) + repeat("(", 300)), "");
  EXPECT_NE(faultOf(repeat("(]", 300)), "");
  EXPECT_NE(faultOf(repeat("<->", 300)), "");
}
