//===- TaskQueueTest.cpp - the launch queue in front of the streams -------===//
#include "npu_runtime/Device.h"

#include <gtest/gtest.h>

#include <future>

using namespace npu;

namespace {

TEST(TaskQueue, LaunchesRunInOrderOnTheConsumer) {
  Device &d = device(0);
  Stream &s = d.streamFromPool(0);
  std::vector<int> order;
  std::promise<void> open;
  d.taskQueue(s).enqueue("gate", [opened = open.get_future().share()] { opened.wait(); });
  d.taskQueue(s).enqueue("op", [&] { launch(s, "kernel", [&] { order.push_back(1); }); });
  launch(s, "later", [&] { order.push_back(2); }); // must not overtake the queue
  Event event;
  event.record(s);
  EXPECT_FALSE(event.query()); // its record has not been launched
  EXPECT_TRUE(order.empty());
  open.set_value();
  s.synchronize();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_TRUE(event.query());
}

TEST(TaskQueue, SyncLaunchStreamGoesRoundTheQueue) {
  Device &d = device(0);
  Stream &s = d.syncLaunchStream();
  std::promise<void> open;
  d.taskQueue(d.defaultStream()).enqueue("gate", [opened = open.get_future().share()] {
    opened.wait();
  });
  bool ran = false;
  launch(s, "now", [&] { ran = true; });
  EXPECT_TRUE(ran);
  open.set_value();
  d.synchronize();
}

TEST(TaskQueue, FailureNamesTheOperator) {
  Device &d = device(1);
  TaskQueue &queue = d.taskQueue(d.defaultStream());
  queue.enqueue("aclnnAdd", [] { throw std::runtime_error("returned error code 161002"); });
  queue.drain();
  EXPECT_THROW(queue.enqueue("next", [] {}), DeviceError);
  try {
    d.synchronize();
    FAIL();
  } catch (const DeviceError &e) {
    EXPECT_NE(
        std::string(e.what()).find("'aclnnAdd' failed on device 1: returned error code 161002"),
        std::string::npos);
  }
  queue.enqueue("usable", [] {});
  d.synchronize();
}

TEST(TaskQueue, FullRingBlocksTheProducer) {
  Device &d = device(0);
  TaskQueue &queue = d.taskQueue(d.defaultStream());
  std::promise<void> open;
  std::atomic<size_t> ran{0};
  queue.enqueue("gate", [opened = open.get_future().share()] { opened.wait(); });
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(ran.load(), 0u);
    open.set_value();
  });
  for (size_t i = 0; i < TaskQueue::Capacity + 100; ++i)
    queue.enqueue("n", [&] { ++ran; });
  opener.join();
  queue.drain();
  EXPECT_EQ(ran.load(), TaskQueue::Capacity + 100);
}

} // namespace
