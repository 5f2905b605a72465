//===- EmissionTest.cpp - what must hold for the C++ of every op ----------===//
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Driver/CppOutput.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace mlir;

namespace {
struct EmissionTest : testing::Test {
  EmissionTest() {
    DialectRegistry registry;
    ptoas::registerPtoDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

std::string readFile(const std::filesystem::path &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
} // namespace

// Names come from the module, never from addresses: a second context has other ones.
TEST_F(EmissionTest, SameInputSameBytes) {
  unsigned files = 0;
  std::vector<std::unique_ptr<MLIRContext>> kept;
  for (const auto &file : std::filesystem::directory_iterator(PTOAS_EMISSION_DIR)) {
    if (file.path().extension() != ".pto" ||
        file.path().stem().string().find("errors") != std::string::npos)
      continue;
    std::string text = readFile(file.path());
    auto emit = [&](MLIRContext &where) {
      ParserConfig config(&where);
      OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, config);
      FailureOr<std::string> cpp = failure();
      if (module)
        cpp = ptoas::cpp::emitModule(*module);
      EXPECT_TRUE(succeeded(cpp)) << file.path();
      return succeeded(cpp) ? *cpp : std::string();
    };
    std::string first = emit(context);
    DialectRegistry registry;
    ptoas::registerPtoDialects(registry);
    kept.push_back(std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED));
    EXPECT_EQ(first, emit(context));
    EXPECT_EQ(first, emit(*kept.back()));
    ++files;
  }
  EXPECT_GT(files, 10u);
}

// A program with a line too few gets a message or C++, never neither and never a crash.
TEST_F(EmissionTest, DamagedProgramsAreReported) {
  unsigned refused = 0, accepted = 0;
  for (const auto &file : std::filesystem::directory_iterator(PTOAS_EMISSION_DIR)) {
    if (file.path().extension() != ".pto")
      continue;
    std::vector<std::string> lines;
    std::stringstream text(readFile(file.path()));
    for (std::string line; std::getline(text, line);)
      if (line.find("//") == std::string::npos)
        lines.push_back(line + "\n");
    for (size_t without = 0; without < lines.size(); without += 2) {
      std::string damaged;
      for (size_t i = 0; i < lines.size(); ++i)
        if (i != without)
          damaged += lines[i];
      ptoas::CppRequest request;
      request.insertSync = without % 4 == 0;
      ptoas::CppText out = ptoas::assembleToCpp(damaged, "damaged.pto", request);
      EXPECT_EQ(out.ok, !out.source.empty());
      EXPECT_TRUE(out.ok || out.messages.find("error:") != std::string::npos)
          << file.path() << " without " << lines[without] << out.messages;
      ++(out.ok ? accepted : refused);
    }
  }
  EXPECT_GT(refused, 50u);
  EXPECT_GT(accepted, 50u);
}

TEST_F(EmissionTest, TextInTextOut) {
  const char *text = R"(module attributes {pto.target_arch = "a2a3"} {
  func.func @fill(%s: f32) {
    %a = arith.constant 0 : i64
    %t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x64xf32>
    pto.texpands ins(%s : f32) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
    return
  }
})";
  ptoas::CppText good = ptoas::assembleToCpp(text, "fill.pto", {});
  EXPECT_TRUE(good.ok) << good.messages;
  EXPECT_NE(good.source.find("TEXPANDS(t, s);"), std::string::npos) << good.source;
  EXPECT_EQ(good.messages, "");
  ptoas::CppRequest level2;
  level2.level = 2;
  ptoas::CppText bad = ptoas::assembleToCpp(text, "fill.pto", level2);
  EXPECT_FALSE(bad.ok);
  EXPECT_EQ(bad.source, "");
  EXPECT_NE(bad.messages.find("fill.pto:4:10: error: 'pto.alloc_tile' op unexpected 'addr'"),
            std::string::npos)
      << bad.messages;
  ptoas::CppRequest other;
  other.arch = "a7";
  EXPECT_NE(ptoas::assembleToCpp(text, "fill.pto", other).messages.find("invalid arch 'a7'"),
            std::string::npos);
}
