//===- EventTest.cpp - points in streams ----------------------------------===//
#include "npu_runtime/Device.h"

#include <gtest/gtest.h>

#include <future>

using namespace npu;

namespace {

TEST(Event, OrdersTwoStreams) {
  Stream &a = device(0).streamFromPool(0), &b = device(0).streamFromPool(0);
  std::promise<void> open;
  int value = 0, seen = -1;
  a.push("gate", [opened = open.get_future().share()] { opened.wait(); });
  launch(a, "write", [&] { value = 42; });
  Event event;
  event.record(a);
  event.wait(b);
  launch(b, "read", [&] { seen = value; });
  EXPECT_FALSE(event.query());
  open.set_value();
  b.synchronize();
  EXPECT_EQ(seen, 42);
  EXPECT_TRUE(event.query());
}

TEST(Event, RecordingAgainDoesNotMoveAWaitUnderWay) {
  Stream &a = device(0).streamFromPool(0), &b = device(0).streamFromPool(0),
         &c = device(0).streamFromPool(0);
  std::promise<void> openA, openC;
  a.push("gate", [opened = openA.get_future().share()] { opened.wait(); });
  c.push("gate", [opened = openC.get_future().share()] { opened.wait(); });
  Event event;
  event.record(a);
  event.wait(b);
  event.record(c); // still behind its gate: must not hold b up
  openA.set_value();
  b.synchronize();
  EXPECT_FALSE(event.query());
  openC.set_value();
  event.synchronize();
  EXPECT_TRUE(event.query());
}

TEST(Event, WithoutRecordIsComplete) {
  Event event;
  EXPECT_TRUE(event.query());
  event.synchronize();
  event.wait(device(0).defaultStream());
}

TEST(Event, TimeNeedsTimingAndRecords) {
  Stream &s = device(0).streamFromPool(0);
  Event plain, start(true), end(true);
  plain.record(s);
  start.record(s);
  EXPECT_THROW(start.elapsedTo(end), DeviceError);
  launch(s, "sleep", [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  end.record(s);
  end.synchronize();
  EXPECT_GE(start.elapsedTo(end), 4.9);
  EXPECT_THROW(plain.elapsedTo(end), DeviceError);
}

TEST(Event, SurvivesFailedWorkBeforeIt) {
  Stream &s = device(1).streamFromPool(0);
  Event event;
  s.push("bad", [] { throw std::runtime_error("broken"); });
  event.record(s);
  EXPECT_THROW(event.synchronize(), DeviceError);
  EXPECT_TRUE(event.query());
  device(1).synchronize();
}

} // namespace
