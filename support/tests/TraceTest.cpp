#include "support/Trace.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>

namespace trace = pto::trace;

namespace {

size_t count(const std::string &text, const std::string &word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++n;
  return n;
}

TEST(Trace, OffRecordsNothing) {
  trace::stop();
  trace::clear();
  {
    trace::Scope scope("compile", "import");
  }
  EXPECT_EQ(count(trace::json(), "\"ph\":\"X\""), 0u);
}

TEST(Trace, EventsOfAllThreadsAppear) {
  trace::clear();
  trace::start();
  trace::add("call", "entry \"a\"", 2000, 5500);
  std::thread([] { trace::add("task", "kernel", 3000, 4000, "core 0"); }).join();
  trace::stop();
  std::string text = trace::json();
  EXPECT_EQ(count(text, "\"ph\":\"X\""), 2u);
  EXPECT_NE(text.find("entry \\\"a\\\""), std::string::npos);
  EXPECT_NE(text.find("\"ts\":2.000,\"dur\":3.500"), std::string::npos);
  EXPECT_NE(text.find("{\"name\":\"core 0\"}"), std::string::npos);
}

TEST(Trace, WritesTheFileOrSaysWhyNot) {
  std::string path = testing::TempDir() + "pto_trace_test.json", error;
  ASSERT_TRUE(trace::write(path, error)) << error;
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, trace::json());
  EXPECT_FALSE(trace::write("/nonexistent/folder/t.json", error));
  EXPECT_NE(error.find("/nonexistent"), std::string::npos);
}

} // namespace
