#include "support/SharedObject.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using pto::SharedObject;

namespace {

using Add = int (*)(int, int);

std::string fileBytes(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SharedObject, LoadsAFile) {
  std::string error;
  SharedObject object = SharedObject::fromFile(SUPPORT_TEST_OBJECT, error);
  ASSERT_TRUE(object) << error;
  EXPECT_EQ(reinterpret_cast<Add>(object.symbol("support_test_add"))(20, 22), 42);
  EXPECT_EQ(object.symbol("no_such_symbol"), nullptr);
}

TEST(SharedObject, LoadsBytesManyTimes) {
  std::string bytes = fileBytes(SUPPORT_TEST_OBJECT), error;
  SharedObject first = SharedObject::fromBytes(bytes.data(), bytes.size(), "first", error);
  SharedObject second = SharedObject::fromBytes(bytes.data(), bytes.size(), "second", error);
  ASSERT_TRUE(first && second) << error;
  // Two loads are two objects, although both came through the same descriptor number.
  EXPECT_NE(first.symbol("support_test_add"), second.symbol("support_test_add"));
}

TEST(SharedObject, SaysWhyNot) {
  std::string error;
  EXPECT_FALSE(SharedObject::fromFile("/nonexistent/object.so", error));
  EXPECT_NE(error.find("/nonexistent/object.so"), std::string::npos) << error;
  error.clear();
  EXPECT_FALSE(SharedObject::fromBytes("not ELF", 7, "broken", error));
  EXPECT_FALSE(error.empty());
}

TEST(SharedObject, MovesKeepTheObjectLoaded) {
  std::string error;
  SharedObject source = SharedObject::fromFile(SUPPORT_TEST_OBJECT, error);
  SharedObject target = std::move(source);
  EXPECT_FALSE(source);
  EXPECT_EQ(reinterpret_cast<Add>(target.symbol("support_test_add"))(1, 2), 3);
}

} // namespace
