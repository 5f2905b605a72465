//===- PipeState.h - what cube and vector kernels of a block share --------===//
//
// The tile library asks for its sub-block and for storage that the cores of one
// cluster share (spec 4.4). The storage belongs to one block of one task and is
// released with the gang.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_PIPE_STATE_H
#define SIMPLER_PIPE_STATE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace simpler {

class PipeStates {
public:
  /// Zeroed on first use; later calls with the key give the same storage.
  void *get(int32_t block, uint64_t key, size_t bytes);

private:
  struct Free {
    void operator()(void *memory) const;
  };
  std::mutex mutex_;
  std::map<std::pair<int32_t, uint64_t>, std::unique_ptr<void, Free>> states_;
};

/// Where the kernel that runs on this thread (or fiber) stands.
struct CallPlace {
  PipeStates *states;
  int32_t block;
  uint32_t subBlock;
};
void setCallPlace(const CallPlace &place);
CallPlace callPlace();

extern "C" uint32_t pipeSubBlockId();
extern "C" void *pipeSharedState(uint64_t key, size_t bytes);

} // namespace simpler

#endif // SIMPLER_PIPE_STATE_H
