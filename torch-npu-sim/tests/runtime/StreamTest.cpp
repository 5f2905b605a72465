//===- StreamTest.cpp - order, waiting and failure of streams -------------===//
#include "npu_runtime/Device.h"

#include <gtest/gtest.h>

#include <future>

using namespace npu;

namespace {

struct Gate {
  std::promise<void> open;
  std::shared_future<void> opened = open.get_future().share();
  Work work() {
    return [opened = opened] { opened.wait(); };
  }
};

TEST(Stream, IdleStreamRunsWorkOnTheCaller) {
  Stream &stream = device(0).streamFromPool(0);
  std::thread::id where;
  launch(stream, "here", [&] { where = std::this_thread::get_id(); });
  stream.synchronize();
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(Stream, WorkBehindAGateKeepsItsOrder) {
  Stream &stream = device(0).streamFromPool(0);
  Gate gate;
  std::vector<int> order;
  stream.push("gate", gate.work());
  for (int i = 0; i < 100; ++i)
    launch(stream, "item", [&order, i] { order.push_back(i); });
  EXPECT_FALSE(stream.query());
  EXPECT_TRUE(order.empty());
  gate.open.set_value();
  stream.synchronize();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(order[size_t(i)], i);
}

TEST(Stream, RunningWorkCountsAsUnfinished) {
  Stream &stream = device(0).streamFromPool(0);
  Gate gate;
  std::promise<void> started;
  stream.push("gate", [&, opened = gate.opened] {
    started.set_value();
    opened.wait();
  });
  started.get_future().wait();
  EXPECT_FALSE(stream.query());
  gate.open.set_value();
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}

TEST(Stream, WorkLaunchedByWorkIsPartOfIt) {
  Stream &stream = device(0).streamFromPool(0);
  std::vector<int> order;
  stream.push("outer", [&] {
    order.push_back(1);
    launch(stream, "inner", [&] { order.push_back(2); });
    order.push_back(3);
  });
  stream.synchronize();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(Stream, FailureOfQueuedWorkIsReportedOnceWithItsName) {
  Device &d = device(0);
  Stream &stream = d.streamFromPool(0);
  bool ran = false;
  Gate gate;
  stream.push("gate", gate.work());
  stream.push("BadOp", [] { throw std::runtime_error("index 7 is out of range"); });
  stream.push("after", [&] { ran = true; });
  gate.open.set_value();
  stream.waitFinished();
  EXPECT_THROW(launch(stream, "next", [] {}), DeviceError); // the error is sticky for launches
  try {
    stream.synchronize();
    FAIL() << "no error";
  } catch (const DeviceError &e) {
    EXPECT_NE(std::string(e.what()).find("'BadOp' failed on device 0: index 7 is out of range"),
              std::string::npos)
        << e.what();
  }
  EXPECT_FALSE(ran);
  stream.synchronize(); // and gone after the wait that reported it
  launch(stream, "usable", [&] { ran = true; });
  stream.synchronize();
  EXPECT_TRUE(ran);
}

TEST(Stream, FailureOnTheCallerGoesToTheCaller) {
  Stream &stream = device(0).streamFromPool(0);
  EXPECT_THROW(launch(stream, "bad", [] { throw std::out_of_range("here"); }), std::out_of_range);
  EXPECT_FALSE(device(0).failed());
  stream.synchronize();
}

TEST(Device, CurrentStreamIsPerThread) {
  Stream &mine = device(1).streamFromPool(0);
  setCurrentStream(mine);
  std::thread([&] { EXPECT_EQ(&currentStream(1), &device(1).defaultStream()); }).join();
  EXPECT_EQ(&currentStream(1), &mine);
  setCurrentStream(device(1).defaultStream());
}

TEST(Device, RefusesBadIndices) {
  EXPECT_THROW(device(7), DeviceError);
  EXPECT_THROW(device(-1), DeviceError);
  EXPECT_THROW(device(0).stream(999), DeviceError);
  EXPECT_THROW(setCurrentDevice(7), DeviceError);
  EXPECT_EQ(currentDevice(), 0);
}

TEST(Stream, StopWaitsForWorkOfAnotherCaller) {
  Stream stream(device(0), 900, 0, StreamKind::Pool);
  stream.push("first", [] {}); // the stream has a thread
  stream.waitFinished();
  Gate gate;
  std::promise<void> inside;
  std::thread caller([&] {
    stream.run("here", [&] {
      inside.set_value();
      gate.opened.wait();
    });
  });
  inside.get_future().wait();
  std::thread stops([&] { stream.stop(); });
  // Only when the stream's thread has been told to end, and has seen that it cannot yet, does it
  // matter who tells it again; a few yields make that likely, and nothing depends on it.
  for (int i = 0; i < 100; ++i)
    std::this_thread::yield();
  gate.open.set_value();
  stops.join();
  caller.join();
  EXPECT_TRUE(stream.query());
}

TEST(Stream, WorkAfterTheEndIsDoneWhenTheCallReturns) {
  Stream stream(device(0), 901, 0, StreamKind::Pool);
  stream.stop();
  bool done = false;
  launchAndWaitQueued(stream, "late", [&] { done = true; });
  EXPECT_TRUE(done);
  EXPECT_TRUE(stream.query());
}

TEST(Device, PoolStreamsAreDistinctAndFoundById) {
  Device &d = device(1);
  Stream &a = d.streamFromPool(0), &b = d.streamFromPool(0), &high = d.streamFromPool(-1);
  EXPECT_NE(&a, &b);
  EXPECT_EQ(high.priority(), -1);
  EXPECT_EQ(&d.stream(high.id()), &high);
}

} // namespace
