//===- GraphTest.cpp - capture and replay ---------------------------------===//
#include "npu_runtime/Graph.h"
#include "npu_runtime/Allocator.h"
#include "npu_runtime/Device.h"

#include <gtest/gtest.h>

using namespace npu;

namespace {

template <class F> std::string messageOf(F f) {
  try {
    f();
  } catch (const DeviceError &e) {
    return e.what();
  }
  return "";
}

TEST(Graph, CapturesWithoutRunningAndReplaysInOrder) {
  Stream &s = device(0).streamFromPool(0);
  int value = 0;
  Graph graph;
  graph.begin(s, 0, CaptureMode::Global);
  launch(s, "set", [&] { value = value * 10 + 1; });
  launch(s, "add", [&] { value += 2; });
  graph.end(s);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(graph.nodeNames(), (std::vector<std::string>{"set", "add"}));
  graph.replay(s);
  graph.replay(device(0).defaultStream()); // behind the first, although on another stream
  device(0).synchronize();
  EXPECT_EQ(value, 33);
  graph.reset();
  EXPECT_FALSE(graph.finished());
}

TEST(Graph, StreamsJoinThroughEvents) {
  Stream &a = device(0).streamFromPool(0), &b = device(0).streamFromPool(0);
  std::vector<int> order;
  Graph graph;
  graph.begin(a, 0, CaptureMode::Global);
  launch(a, "1", [&] { order.push_back(1); });
  Event fork, join;
  fork.record(a);
  fork.wait(b);
  launch(b, "2", [&] { order.push_back(2); });
  join.record(b);
  join.wait(a);
  launch(a, "3", [&] { order.push_back(3); });
  graph.end(a);
  EXPECT_EQ(b.capture(), nullptr);
  EXPECT_TRUE(order.empty());
  graph.replay(a);
  a.synchronize();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(Graph, ReplacedNodesHoldForLaterReplays) {
  Stream &s = device(0).streamFromPool(0);
  std::vector<int> order;
  auto captured = [&](Graph &graph, std::vector<int> values) {
    graph.begin(s, 0, CaptureMode::Global);
    for (int value : values)
      launch(s, std::to_string(value), [&order, value] { order.push_back(value); });
    graph.end(s);
  };
  Graph graph, longer, none;
  captured(graph, {1, 2, 3});
  captured(longer, {7, 8, 9});
  captured(none, {});
  graph.replay(s);
  graph.replaceNodes(1, 1, longer); // waits: the replay has run with what it had
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(graph.nodeNames(), (std::vector<std::string>{"1", "7", "8", "9", "3"}));
  order.clear();
  graph.replay(s);
  graph.replaceNodes(0, 2, none);
  graph.replay(s);
  s.synchronize();
  EXPECT_EQ(order, (std::vector<int>{1, 7, 8, 9, 3, 8, 9, 3}));
  EXPECT_NE(messageOf([&] { graph.replaceNodes(2, 2, longer); }).find("nodes 2 to 4 are not in"),
            std::string::npos);
  Graph empty;
  EXPECT_NE(messageOf([&] { graph.replaceNodes(0, 1, empty); }).find("not finished"),
            std::string::npos);
}

TEST(Graph, IllegalUseIsNamedAndLeavesTheStreamUsable) {
  Device &d = device(0);
  Stream &s = d.streamFromPool(0);
  Graph graph;
  EXPECT_NE(messageOf([&] { graph.replay(s); }).find("without a preceding successful capture"),
            std::string::npos);
  EXPECT_NE(messageOf([&] {
              graph.begin(d.defaultStream(), 0, CaptureMode::Global);
            }).find("non-default stream"),
            std::string::npos);
  graph.begin(s, 0, CaptureMode::Global);
  EXPECT_NE(messageOf([&] { s.synchronize(); }).find("stream synchronization is not permitted"),
            std::string::npos);
  EXPECT_NE(messageOf([&] { graph.end(s); }).find("capture failed"), std::string::npos);
  bool ran = false;
  launch(s, "usable", [&] { ran = true; });
  s.synchronize();
  EXPECT_TRUE(ran);

  graph.begin(s, 0, CaptureMode::Global);
  graph.end(s);
  EXPECT_NE(messageOf([&] { graph.begin(s, 0, CaptureMode::Global); }).find("already owns"),
            std::string::npos);
  EXPECT_NE(
      messageOf([&] { graph.replay(device(1).defaultStream()); }).find("captured on device 0"),
      std::string::npos);
}

TEST(Graph, MemoryOfACaptureStaysApart) {
  Device &d = device(0);
  Stream &s = d.streamFromPool(0);
  Graph graph;
  graph.begin(s, 0, CaptureMode::Global);
  Block *inside = d.allocator().allocate(2048, s);
  void *address = Allocator::data(inside);
  d.allocator().release(inside);
  Block *again = d.allocator().allocate(2048, s);
  EXPECT_EQ(Allocator::data(again), address);
  graph.end(s);
  d.allocator().release(again);
  Block *outside = d.allocator().allocate(2048, s);
  EXPECT_NE(Allocator::data(outside), address);
  size_t reserved = d.allocator().reserved();
  graph.reset();
  EXPECT_LT(d.allocator().reserved(), reserved);
  d.allocator().release(outside);
}

TEST(Graph, FailureInAReplayNamesTheNode) {
  Device &d = device(1);
  Stream &s = d.streamFromPool(0);
  Graph graph;
  graph.begin(s, 0, CaptureMode::Global);
  launch(s, "Gather", [] { throw std::runtime_error("index out of range"); });
  graph.end(s);
  graph.replay(s);
  EXPECT_NE(messageOf([&] { s.synchronize(); }).find("graph node 'Gather': index out of range"),
            std::string::npos);
  d.synchronize();
}

} // namespace
