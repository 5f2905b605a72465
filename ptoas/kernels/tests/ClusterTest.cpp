//===- ClusterTest.cpp - FIFOs, meetings and faults of a cluster ----------===//
#include "ptoas/Target/Native/Cluster.h"
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

using ptoas::Cluster;
using ptoas::Place;

extern "C" Place *pto_place();

namespace {
// Calls each body as a member of the cluster on a thread of its own. True: none had a fault.
bool runAll(Cluster &cluster,
            std::vector<std::pair<int64_t, std::function<void(Place *)>>> members) {
  std::vector<std::thread> threads;
  std::atomic<int> ended{0};
  for (auto &[lane, body] : members)
    threads.emplace_back([&cluster, &ended, lane = lane, body = body]() mutable {
      ended += cluster.run(
          0, lane,
          [](void *argument) {
            (*static_cast<std::function<void(Place *)> *>(argument))(pto_place());
          },
          &body);
    });
  for (std::thread &thread : threads)
    thread.join();
  return ended == static_cast<int>(members.size());
}

const Cluster::Shape shape{8, 2, 1, 2};
} // namespace

// One producer, two consumers, two slots: every value arrives once at each lane, in order.
TEST(ClusterTest, SplitsBetweenTwoLanes) {
  constexpr int kCount = 1000;
  Cluster cluster(2, 1);
  std::vector<int64_t> got[2];
  auto consume = [&](Place *place) {
    for (int i = 0; i < kCount; ++i) {
      int64_t value = -1;
      std::memcpy(&value, cluster.consume(place, 0, shape), 8);
      got[place->lane].push_back(value);
      cluster.release(place, 0);
    }
  };
  auto produce = [&](Place *place) {
    for (int64_t i = 0; i < kCount; ++i) {
      std::memcpy(cluster.produce(place, 0, shape), &i, 8);
      cluster.publish(place, 0);
    }
  };
  EXPECT_TRUE(runAll(cluster, {{0, produce}, {0, consume}, {1, consume}}));
  for (int lane = 0; lane < 2; ++lane)
    for (int64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(got[lane][i], i);
}

// Lane 1 starts behind what lane 0 takes of the same slot.
TEST(ClusterTest, UnevenHalves) {
  Cluster cluster(2, 1);
  int64_t offsets[2][3];
  auto consume = [&](Place *place) {
    for (int i = 0; i < 3; ++i) {
      cluster.consume(place, 0, shape);
      offsets[place->lane][i] = cluster.laneOffset(place, 0, place->lane == 0 ? i + 3 : 1);
      cluster.release(place, 0);
    }
  };
  auto produce = [&](Place *place) {
    for (int i = 0; i < 3; ++i) {
      cluster.produce(place, 0, shape);
      cluster.publish(place, 0);
    }
  };
  EXPECT_TRUE(runAll(cluster, {{0, produce}, {0, consume}, {1, consume}}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(offsets[0][i], 0);
    EXPECT_EQ(offsets[1][i], i + 3);
  }
}

// Nobody passes a meeting before all of its kind have come, any number of times.
TEST(ClusterTest, Meetings) {
  Cluster cluster(2, 1);
  std::atomic<int> arrived{0};
  auto body = [&](Place *place) {
    for (int round = 1; round <= 100; ++round) {
      ++arrived;
      cluster.meet(place, 2);
      EXPECT_GE(arrived, 3 * round);
    }
  };
  EXPECT_TRUE(runAll(cluster, {{0, body}, {0, body}, {1, body}}));
}

// The cube starts both lanes, which meet, write, and let it go on; once a turn, in every turn.
TEST(ClusterTest, Signals) {
  using Signal = Cluster::Signal;
  constexpr int kTurns = 500;
  Cluster cluster(2, 1);
  int given = 0, written[2] = {0, 0}, seen[2] = {0, 0};
  auto cube = [&](Place *place) {
    for (int turn = 1; turn <= kTurns; ++turn) {
      given = turn;
      cluster.set(place, 3, false, Signal::OtherKind);
      cluster.await(place, 4, false);
      EXPECT_EQ(written[0], turn);
      EXPECT_EQ(written[1], turn);
    }
  };
  auto vector = [&](Place *place) {
    for (int turn = 1; turn <= kTurns; ++turn) {
      cluster.await(place, 3, true);
      written[place->lane] = given;
      cluster.set(place, 5, true, turn % 2 ? Signal::Lanes : Signal::AllBlocks);
      cluster.await(place, 5, true);
      seen[place->lane] += written[1 - place->lane] == turn;
      cluster.set(place, 4, true, Signal::OtherKind);
    }
  };
  EXPECT_TRUE(runAll(cluster, {{0, cube}, {0, vector}, {1, vector}}));
  EXPECT_EQ(seen[0], kTurns);
  EXPECT_EQ(seen[1], kTurns);
}

// Sixteen numbers of the cube for each lane.
TEST(ClusterTest, SignalsOfOneLane) {
  using Signal = Cluster::Signal;
  Cluster cluster(2, 1);
  int turn = 0, of[2] = {0, 0};
  auto cube = [&](Place *place) {
    for (int64_t lane : {1, 0}) {
      cluster.set(place, 3 + 16 * lane, false, Signal::OneLane);
      cluster.await(place, 4 + 16 * lane, false);
    }
  };
  auto vector = [&](Place *place) {
    cluster.await(place, 3, true);
    of[place->lane] = ++turn;
    cluster.set(place, 4, true, Signal::OneLane);
  };
  EXPECT_TRUE(runAll(cluster, {{0, cube}, {0, vector}, {1, vector}}));
  EXPECT_EQ(of[1], 1);
  EXPECT_EQ(of[0], 2);
}

TEST(ClusterTest, DeadlockIsAFault) {
  Cluster cluster(1, 1);
  auto consume = [&](Place *place) {
    cluster.consume(place, static_cast<int>(place->lane), shape);
  };
  EXPECT_FALSE(runAll(cluster, {{0, consume}, {1, consume}}));
  EXPECT_NE(cluster.fault().find("deadlock: every function of the cluster waits"),
            std::string::npos);
}

// A member that ends early leaves nobody waiting for ever, and the first fault is kept.
TEST(ClusterTest, FaultEndsTheOthers) {
  Cluster cluster(1, 1);
  auto consume = [&](Place *place) { cluster.consume(place, 0, {8, 2, 1, 1}); };
  auto fail = [&](Place *place) { Cluster::fail(place, "out of bounds"); };
  EXPECT_FALSE(runAll(cluster, {{0, consume}, {0, fail}}));
  EXPECT_EQ(cluster.fault(), "out of bounds");
}

TEST(ClusterTest, WaitingMemberYields) {
  static int yields;
  yields = 0;
  Cluster cluster(1, 0);
  auto body = [](void *) {
    Place *place = pto_place();
    place->cluster->consume(place, 0, {8, 2, 1, 1});
  };
  EXPECT_FALSE(cluster.run(0, 0, body, nullptr, [] { ++yields; }));
  EXPECT_EQ(pto_place(), nullptr);
}
