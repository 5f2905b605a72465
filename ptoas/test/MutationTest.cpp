//===- MutationTest.cpp - broken programs are reported, never fatal -------===//
//
// Takes the programs of the lit tests, damages them at random (with a fixed seed),
// and sends them through the parser, the verifier, the module checks and the
// printer. Any verdict is fine, with a message at a place when it is bad; a crash or a hang is not.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "ptoas/Driver/Assembler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace mlir;

namespace {
using Tokens = std::vector<std::string>;

// Words, numbers, strings, blanks and single signs.
Tokens tokenize(llvm::StringRef text) {
  Tokens tokens;
  while (!text.empty()) {
    size_t size = 1;
    if (llvm::isAlnum(text[0]) || text[0] == '_')
      size = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).size();
    else if (text[0] == '"')
      size = std::min(text.find('"', 1), text.size() - 1) + 1;
    tokens.push_back(text.take_front(size).str());
    text = text.drop_front(size);
  }
  return tokens;
}

std::vector<std::string> loadPrograms() {
  std::vector<std::string> programs;
  for (const char *folder : {"/IR", "/Transforms"})
    for (const auto &entry :
         std::filesystem::directory_iterator(std::string(PTOAS_TEST_DIR) + folder)) {
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      llvm::SmallVector<llvm::StringRef> parts;
      std::string all = text.str();
      llvm::StringRef(all).split(parts, "// -----");
      for (llvm::StringRef part : parts)
        programs.push_back(part.str());
    }
  std::sort(programs.begin(), programs.end());
  return programs;
}

void damage(Tokens &tokens, const Tokens &pool, std::mt19937 &random) {
  static const char *const extremes[] = {"0",
                                         "-1",
                                         "1",
                                         "?",
                                         "255",
                                         "4096",
                                         "4294967296",
                                         "9223372036854775807",
                                         "99999999999999999999",
                                         "\"\"",
                                         "{}",
                                         "<",
                                         ">",
                                         "vec",
                                         "i7",
                                         "index"};
  size_t at = random() % tokens.size();
  switch (random() % 5) {
  case 0:
    tokens.erase(tokens.begin() + at);
    break;
  case 1:
    tokens.insert(tokens.begin() + at, tokens[at]);
    break;
  case 2:
    tokens[at] = pool[random() % pool.size()];
    break;
  case 3:
    tokens[at] = extremes[random() % std::size(extremes)];
    break;
  case 4: // numbers are where limits hide
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::string &token = tokens[(at + i) % tokens.size()];
      if (llvm::isDigit(token[0])) {
        token = extremes[random() % 9];
        break;
      }
    }
    break;
  }
}
} // namespace

TEST(MutationTest, DamagedProgramsAreReported) {
  std::vector<std::string> programs = loadPrograms();
  ASSERT_GT(programs.size(), 50u);
  Tokens pool;
  for (const std::string &program : programs)
    for (const std::string &token : tokenize(program))
      pool.push_back(token);

  DialectRegistry registry;
  ptoas::registerPtoDialects(registry);
  std::mt19937 random(20);
  unsigned accepted = 0, rejected = 0;
  for (int round = 0; round < 300; ++round) {
    // A fresh context now and then, so that types made by damaged programs do not pile up.
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects();
    unsigned errors = 0;
    ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return success();
      ++errors;
      auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
      EXPECT_TRUE(place && place.getLine()) << diagnostic.str();
      // Not MLIR's way to speak: who wrote the text need not know it.
      for (const char *jargon : {"SSA", "custom op"})
        EXPECT_EQ(diagnostic.str().find(jargon), std::string::npos) << diagnostic.str();
      return success();
    });
    for (const std::string &program : programs) {
      Tokens tokens = tokenize(program);
      for (unsigned n = 1 + random() % 3; n && tokens.size() > 1; --n)
        damage(tokens, pool, random);
      std::string text = llvm::join(tokens, "");
      llvm::SourceMgr sources;
      sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text), llvm::SMLoc());
      ptoas::AssemblerOptions options;
      options.level = 2 + round % 2;
      SCOPED_TRACE(text);
      errors = 0;
      OwningOpRef<ModuleOp> module = ptoas::parseModule(sources, context, options);
      if (!module || failed(ptoas::checkModule(*module, options))) {
        ++rejected;
        EXPECT_GT(errors, 0u) << "rejected without a word";
        continue;
      }
      ++accepted;
      std::string printed;
      llvm::raw_string_ostream stream(printed);
      module->print(stream);
      // What is printed is read again.
      llvm::SourceMgr again;
      again.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(printed), llvm::SMLoc());
      EXPECT_TRUE(ptoas::parseModule(again, context, options)) << printed;
    }
  }
  EXPECT_GT(accepted, 500u);
  EXPECT_GT(rejected, 10000u);
}
