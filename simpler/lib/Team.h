//===- Team.h - blocks of a launch on threads that the program lends ------===//
//
// A program that computes with another library as well has a pool of threads already, and such
// pools spin between two operators. Threads of our own would compete with them for the cores, so
// launches can use the same threads: simpler_worker_lend_team().
//
// Each member begins with a range of blocks of its own, always the same one: a launch that is
// repeated, or that reads what the one before has written, finds its data in the caches where it
// left them. Who is done takes from the others, so nobody waits for a thread that comes late.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_TEAM_H
#define SIMPLER_TEAM_H

#include "Task.h"

namespace simpler {

/// The blocks of one launch, claimed one by one by the members of a team.
class TeamBlocks {
public:
  static constexpr int32_t kMaxMembers = 64;

  /// `limit`: members beyond it get nothing.
  TeamBlocks(int32_t blocks, int32_t limit)
      : blocks_(blocks), limit_(limit < kMaxMembers ? limit : kMaxMembers) {}

  /// Calls run(block) until no block is left that nobody has claimed. At most once per member.
  template <typename Run> void work(int32_t member, int32_t members, Run &&run) {
    if (members > limit_)
      members = limit_;
    if (members > blocks_)
      members = blocks_;
    if (member >= members)
      return;
    for (int32_t i = 0; i < members; ++i) {
      int32_t of = member + i < members ? member + i : member + i - members;
      int32_t begin = bound(of, members), end = bound(of + 1, members);
      int32_t at;
      // Looked at first: counters of ranges that are done must not grow without end.
      while (claimed_[of].count.load(std::memory_order_relaxed) < end - begin &&
             (at = begin + claimed_[of].count.fetch_add(1, std::memory_order_relaxed)) < end)
        run(at);
    }
  }

private:
  int32_t bound(int32_t member, int32_t members) const {
    return static_cast<int32_t>(int64_t(blocks_) * member / members);
  }

  struct alignas(64) Claimed {
    Atomic<int32_t> count{0};
  };
  const int32_t blocks_, limit_;
  Claimed claimed_[kMaxMembers];
};

} // namespace simpler

#endif // SIMPLER_TEAM_H
