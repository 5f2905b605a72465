//===- PipeState.cpp - shared storage of a block's cores ------------------===//
#include "PipeState.h"
#include "FaultPoint.h"

#include <cstdlib>
#include <cstring>

namespace simpler {

// Set before a kernel is called and before its fiber is resumed, maybe on another thread.
static thread_local CallPlace place{};
[[gnu::noinline]] void setCallPlace(const CallPlace &value) { place = value; }
[[gnu::noinline]] CallPlace callPlace() { return place; }

void PipeStates::Free::operator()(void *memory) const { std::free(memory); }

void *PipeStates::get(int32_t block, uint64_t key, size_t bytes) {
  std::lock_guard lock(mutex_);
  auto &state = states_[{block, key}];
  if (!state) {
    size_t rounded = (bytes + 63) / 64 * 64;
    state.reset(refused(FaultPoint::Memory) ? nullptr
                                            : std::aligned_alloc(64, rounded ? rounded : 64));
    if (state)
      std::memset(state.get(), 0, rounded);
  }
  return state.get();
}

uint32_t pipeSubBlockId() { return callPlace().subBlock; }

void *pipeSharedState(uint64_t key, size_t bytes) {
  CallPlace at = callPlace();
  return at.states ? at.states->get(at.block, key, bytes) : nullptr;
}

} // namespace simpler
