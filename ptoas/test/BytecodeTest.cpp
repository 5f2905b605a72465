//===- BytecodeTest.cpp - .ptobc: same module, and damage is reported -----===//
#include "ptoas/Driver/Bytecode.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "ptoas/Driver/Assembler.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace {
struct BytecodeTest : testing::Test {
  BytecodeTest() {
    DialectRegistry registry;
    ptoas::registerPtoDialects(registry);
    context.appendDialectRegistry(registry);
    context.allowUnregisteredDialects();
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os, OpPrintingFlags().enableDebugInfo());
    return text;
  }

  static std::vector<std::string> texts() {
    std::vector<std::string> paths;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator file(PTOAS_TEST_DIR "/IR/text", error), end;
         !error && file != end; file.increment(error))
      paths.push_back(file->path());
    llvm::sort(paths);
    return paths;
  }

  std::string problemOf(StringRef bytes) {
    std::string problem;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
      problem = diag.str();
      return success();
    });
    OwningOpRef<ModuleOp> module = ptoas::readBytecode(bytes, "x.ptobc", context);
    EXPECT_EQ(bool(module), problem.empty()) << problem;
    return problem;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};
} // namespace

TEST_F(BytecodeTest, EveryOpSurvives) {
  ASSERT_GT(texts().size(), 8u);
  for (const std::string &path : texts()) {
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
    ASSERT_TRUE(module) << path;
    std::string bytes = ptoas::writeBytecode(*module);
    ASSERT_TRUE(ptoas::isBytecode(bytes));
    OwningOpRef<ModuleOp> again = ptoas::readBytecode(bytes, path, context);
    ASSERT_TRUE(again) << path;
    EXPECT_TRUE(succeeded(verify(*again)));
    EXPECT_EQ(print(*module), print(*again));
    EXPECT_EQ(bytes, ptoas::writeBytecode(*again)) << "the bytes depend on more than the module";
  }
}

TEST_F(BytecodeTest, SaysWhatIsWrong) {
  std::string header("PTOBC\0\1\0\0\0", 10);
  EXPECT_EQ(problemOf(header.substr(0, 7)), "bytecode: the file ends inside its header");
  EXPECT_EQ(problemOf(header), "bytecode: section 1 is missing");
  EXPECT_EQ(problemOf(header + '\1' + '\x05'),
            "bytecode: 5 bytes of a section do not fit into the rest of the file");
  std::string empty = header + std::string("\1\1\0\2\1\0\3\1\0\6\1\0", 12);
  EXPECT_EQ(problemOf(empty), "bytecode: the file ends inside a number or holds one of more than "
                              "64 bits");
  std::string type = header + std::string("\1\1\0\2\5\1\3i77\3\1\0\6\1\0", 16);
  EXPECT_EQ(problemOf(type).substr(0, 17), "bytecode: the fil");
  std::string badType = header + std::string("\1\1\0\2\5\1\3f77\3\1\0\6\1\0", 16);
  EXPECT_EQ(problemOf(badType).substr(0, 17), "bytecode: type 0:");
}

// Bytes that are changed, left out or cut off give a message or another module, never more.
TEST_F(BytecodeTest, DamageIsReported) {
  std::mt19937 random(7);
  unsigned refused = 0;
  for (const std::string &path : texts()) {
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
    ASSERT_TRUE(module) << path;
    const std::string bytes = ptoas::writeBytecode(*module);
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    for (unsigned round = 0; round < 150; ++round) {
      std::string damaged = bytes;
      size_t at = 10 + random() % (bytes.size() - 10);
      switch (random() % 4) {
      case 0:
        damaged[at] = static_cast<char>(random());
        break;
      case 1:
        damaged[at] = static_cast<char>(damaged[at] + 1);
        break;
      case 2:
        damaged.erase(at, 1 + random() % 4);
        break;
      case 3:
        damaged.resize(at);
        break;
      }
      OwningOpRef<ModuleOp> read = ptoas::readBytecode(damaged, path, context);
      if (!read || failed(verify(*read)))
        ++refused;
    }
  }
  EXPECT_GT(refused, 500u);
}
