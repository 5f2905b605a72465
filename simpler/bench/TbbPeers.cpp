//===- TbbPeers.cpp - the same graphs with oneTBB -------------------------===//
//
// The flow graph gets its edges from the program (it infers nothing); building it is part of
// the time, as submission is part of ours.
//
//===----------------------------------------------------------------------===//
#include "Bench.h"

#include <memory>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <vector>

namespace flow = oneapi::tbb::flow;
using Node = flow::continue_node<flow::continue_msg>;

namespace bench {

template <typename F> static double inArena(int threads, F &&body) {
  oneapi::tbb::task_arena arena(threads);
  double seconds = 0;
  arena.execute([&] { seconds = best(15, body); });
  return seconds;
}

double tbbFlowGraphWave(int side, int threads) {
  return inArena(threads, [&] {
    flow::graph graph;
    std::vector<std::unique_ptr<Node>> nodes;
    nodes.reserve(side * side);
    for (int i = 0; i < side * side; ++i) {
      nodes.push_back(std::make_unique<Node>(graph, [](const flow::continue_msg &) {}));
      if (i % side)
        flow::make_edge(*nodes[i - 1], *nodes[i]);
      if (i >= side)
        flow::make_edge(*nodes[i - side], *nodes[i]);
    }
    nodes[0]->try_put(flow::continue_msg());
    graph.wait_for_all();
  });
}

double tbbFlowGraphChains(int chains, int length, int threads) {
  return inArena(threads, [&] {
    flow::graph graph;
    flow::broadcast_node<flow::continue_msg> start(graph);
    std::vector<std::unique_ptr<Node>> nodes;
    nodes.reserve(chains * length);
    for (int k = 0; k < length; ++k)
      for (int c = 0; c < chains; ++c) {
        nodes.push_back(std::make_unique<Node>(graph, [](const flow::continue_msg &) {}));
        if (k)
          flow::make_edge(*nodes[nodes.size() - 1 - chains], *nodes.back());
        else
          flow::make_edge(start, *nodes.back());
      }
    start.try_put(flow::continue_msg());
    graph.wait_for_all();
  });
}

double tbbTaskGroup(int tasks, int threads) {
  return inArena(threads, [&] {
    oneapi::tbb::task_group group;
    for (int i = 0; i < tasks; ++i)
      group.run([] {});
    group.wait();
  });
}

} // namespace bench
