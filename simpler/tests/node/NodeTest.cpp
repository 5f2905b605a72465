// Level 3 without Python: the graph of a node against all pairs, its messages, its shared memory.
#include "../../python/bindings/node/NodeGraph.h"
#include "../../python/bindings/node/NodeWire.h"
#include "../../python/bindings/node/SharedHeap.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace simpler;
using namespace simpler::py;

namespace {

constexpr int32_t kIn = 0, kInOut = 2, kOut = 3, kNoDep = 4;

ChipTensor matrix(char *base, uint32_t row, uint32_t column, uint32_t rows, uint32_t columns) {
  uint32_t extents[2] = {rows, columns}, strides[2] = {16, 1};
  ChipTensor tensor = make_tensor_strided(base, extents, strides, 2, DataType::INT8);
  tensor.start_offset = row * 16 + column;
  return tensor;
}

NodeMember member(std::vector<ChipTensor> tensors, std::vector<int32_t> tags) {
  NodeMember result;
  result.name = "f";
  result.tensors = std::move(tensors);
  result.tags = std::move(tags);
  return result;
}

std::unique_ptr<NodeTask> taskOf(std::vector<NodeMember> members) {
  auto task = std::make_unique<NodeTask>();
  task->members = std::move(members);
  return task;
}

//===-- Graph -------------------------------------------------------------===//

// Tasks end in a random order among those that are ready; a task may only be ready when all earlier
// ones that touch a common byte, one of them writing, have ended.
TEST(NodeGraph, ReadyMeansThatNothingEarlierTouchesItsBytes) {
  static char memory[16 * 16];
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](uint32_t n) { return random() % n; };
    struct Touched {
      std::vector<bool> reads = std::vector<bool>(256), writes = std::vector<bool>(256);
    };
    NodeGraph graph;
    std::map<NodeTask *, Touched> live;
    std::map<NodeTask *, size_t> order;
    size_t submitted = 0, ended = 0;
    while (ended < 120) {
      if (submitted < 120 && pick(2)) {
        std::vector<ChipTensor> tensors;
        std::vector<int32_t> tags;
        Touched touched;
        for (uint32_t i = 0, n = 1 + pick(3); i < n; ++i) {
          uint32_t row = pick(16), column = pick(16);
          uint32_t rows = 1 + pick(16 - row), columns = 1 + pick(16 - column);
          bool writes = pick(2);
          tensors.push_back(matrix(memory, row, column, rows, columns));
          tags.push_back(writes ? (pick(2) ? kInOut : kOut) : kIn);
          for (uint32_t r = row; r < row + rows; ++r)
            for (uint32_t c = column; c < column + columns; ++c)
              (writes ? touched.writes : touched.reads)[r * 16 + c] = true;
        }
        NodeTask *task = graph.add(taskOf({member(tensors, tags)}));
        live[task] = touched;
        order[task] = submitted++;
        continue;
      }
      if (graph.ready.empty())
        continue;
      size_t which = pick(static_cast<uint32_t>(graph.ready.size()));
      NodeTask *task = graph.ready[which];
      const Touched &mine = live[task];
      for (const auto &[other, touched] : live)
        if (order[other] < order[task])
          for (size_t byte = 0; byte < 256; ++byte)
            ASSERT_FALSE((mine.writes[byte] && (touched.reads[byte] || touched.writes[byte])) ||
                         (mine.reads[byte] && touched.writes[byte]))
                << "seed " << seed << ": task " << order[task] << " did not wait for "
                << order[other];
      graph.ready.erase(graph.ready.begin() + static_cast<ptrdiff_t>(which));
      live.erase(task);
      graph.remove(task);
      ++ended;
    }
    EXPECT_EQ(graph.size(), 0u);
    EXPECT_TRUE(graph.isQuiet(0, UINT64_MAX));
  }
}

TEST(NodeGraph, TilesThatShareNoByteDoNotWait) {
  static char memory[256];
  NodeGraph graph;
  for (uint32_t column = 0; column < 16; column += 4)
    graph.add(taskOf({member({matrix(memory, 0, column, 16, 4)}, {kOut})}));
  EXPECT_EQ(graph.ready.size(), 4u);
  graph.add(taskOf({member({matrix(memory, 3, 0, 1, 16)}, {kNoDep})}));
  EXPECT_EQ(graph.ready.size(), 5u);
  NodeTask *row = graph.add(taskOf({member({matrix(memory, 3, 2, 1, 4)}, {kIn})}));
  EXPECT_EQ(row->waitsFor, 2u);
}

TEST(NodeGraph, TwoWritersOfOneByteInOneTaskAreNamed) {
  static char memory[256];
  ChipTensor a = matrix(memory, 0, 0, 4, 4), b = matrix(memory, 3, 3, 2, 2);
  EXPECT_EQ(NodeGraph::problem(*taskOf({member({a, b}, {kOut, kIn})})), "");
  EXPECT_EQ(NodeGraph::problem(*taskOf({member({a, b}, {kOut, kInOut})})),
            "argument 0 and argument 1 both write some of the same bytes");
  EXPECT_EQ(NodeGraph::problem(*taskOf({member({a}, {kOut}), member({b}, {kOut})})),
            "argument 0 of member 0 and argument 0 of member 1 both write some of the same bytes");
}

//===-- Messages ----------------------------------------------------------===//

WireTask sample() {
  static char memory[256];
  WireTask task;
  task.id = 7;
  task.callable = 3;
  task.tensors = {matrix(memory, 0, 0, 2, 3), matrix(memory, 4, 4, 1, 1)};
  task.tags = {kIn, kOut};
  task.segmentOf = {-1, 0};
  task.scalars = {1, UINT64_MAX};
  task.segments = {{5, "simpler-name", 4096, 64}};
  task.config.swimlane = 4;
  task.config.depGen = true;
  task.config.env.heap = {1, 2, 3, 4};
  task.config.outputPrefix = "out/x";
  return task;
}

TEST(NodeWire, TasksArriveAsTheyWereSent) {
  WireTask sent = sample(), got;
  std::string text = sent.encode();
  ASSERT_TRUE(got.decode(text));
  EXPECT_EQ(got.encode(), text);
  EXPECT_EQ(got.segments[0].name, "simpler-name");
  EXPECT_EQ(got.scalars, sent.scalars);
  EXPECT_EQ(got.config.outputPrefix, "out/x");
  EXPECT_EQ(std::memcmp(&got.tensors[1], &sent.tensors[1], sizeof(ChipTensor)), 0);
}

TEST(NodeWire, DamagedTasksAreRefused) {
  std::string text = sample().encode();
  WireTask got;
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(got.decode(std::string_view(text).substr(0, length))) << length;
  for (size_t at = 16; at < text.size(); at += 7) { // any answer but a crash
    std::string damaged = text;
    damaged[at] = static_cast<char>(0xff);
    got.decode(damaged);
  }
}

TEST(NodeWire, OnlyTheElementsOfAViewAreCopied) {
  char from[256], to[256], want[256];
  for (int i = 0; i < 256; ++i)
    from[i] = static_cast<char>(i), to[i] = want[i] = 77;
  uint32_t extents[3] = {2, 3, 4}, strides[3] = {100, 7, 1};
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 4; ++c)
        want[100 * a + 7 * b + c] = from[100 * a + 7 * b + c];
  copyElements(make_tensor_strided(from, extents, strides, 3, DataType::INT8), to, from);
  EXPECT_EQ(std::memcmp(to, want, 256), 0);
  uint32_t none[3] = {2, 0, 4};
  copyElements(make_tensor_strided(from, none, strides, 3, DataType::INT8), to, from);
  EXPECT_EQ(std::memcmp(to, want, 256), 0);
}

TEST(NodeWire, AClosedSideIsNoticed) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  EXPECT_TRUE(sendNote(ends[0], {NoteKind::Task, 1, 2, 3, 4}));
  Note note;
  ASSERT_EQ(receiveNote(ends[1], note), 1);
  EXPECT_EQ(note.bytes, 4u);
  close(ends[0]);
  EXPECT_EQ(receiveNote(ends[1], note), 0);
  EXPECT_FALSE(sendNote(ends[1], note)); // no signal either
  close(ends[1]);
}

//===-- Heap --------------------------------------------------------------===//

TEST(SharedHeap, BlocksAreApartZeroedAndComeBack) {
  SharedHeap heap(64 * 4096);
  ASSERT_EQ(heap.error(), nullptr);
  std::mt19937 random(1);
  std::map<char *, uint64_t> blocks;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 2) {
      uint64_t bytes = 1 + random() % (5 * 4096);
      char *block = heap.allocate(bytes);
      if (!block)
        continue;
      ASSERT_TRUE(std::all_of(block, block + bytes, [](char c) { return c == 0; }));
      auto after = blocks.lower_bound(block);
      ASSERT_TRUE(after == blocks.end() || block + bytes <= after->first);
      if (after != blocks.begin())
        ASSERT_LE(std::prev(after)->first + std::prev(after)->second, block);
      std::memset(block, 1, bytes);
      blocks[block] = bytes;
    } else if (!blocks.empty()) {
      auto victim = std::next(blocks.begin(), random() % blocks.size());
      heap.free(victim->first);
      blocks.erase(victim);
    }
  }
  for (const auto &block : blocks)
    heap.free(block.first);
  EXPECT_EQ(heap.used(), 0u);
  EXPECT_NE(heap.allocate(64 * 4096), nullptr); // the gaps have joined
  EXPECT_EQ(heap.allocate(1), nullptr);
}

TEST(SharedHeap, AChildSeesWhatItsParentWrites) {
  SharedHeap heap(4096);
  auto *word = reinterpret_cast<std::atomic<int> *>(heap.allocate(64));
  pid_t child = fork();
  if (child == 0) {
    while (word->load() != 1)
      usleep(100);
    word->store(2);
    _exit(0);
  }
  word->store(1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(word->load(), 2);
}

TEST(SharedHeap, ThreadsMayAllocateAtOnce) {
  SharedHeap heap(1 << 20);
  auto use = [&](char mark) {
    for (int i = 0; i < 500; ++i)
      if (char *block = heap.allocate(5000)) {
        std::memset(block, mark, 5000);
        EXPECT_TRUE(std::all_of(block, block + 5000, [=](char c) { return c == mark; }));
        heap.free(block);
      }
  };
  std::thread one(use, 'a'), two(use, 'b');
  one.join();
  two.join();
  EXPECT_EQ(heap.used(), 0u);
}

} // namespace
