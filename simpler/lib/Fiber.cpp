//===- Fiber.cpp - context switches with sanitizer annotations ------------===//
#include "Fiber.h"
#include "FaultPoint.h"

#include <boost/context/detail/fcontext.hpp>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMPLER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define SIMPLER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SIMPLER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define SIMPLER_TSAN 1
#endif

#ifdef SIMPLER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SIMPLER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace simpler {
namespace context = boost::context::detail;

// The fiber this thread runs. A fiber may change threads across a yield, and compilers may keep a
// thread-local's address in a register: every access goes through a function that is not inlined.
static thread_local Fiber *currentFiber = nullptr;
[[gnu::noinline]] static Fiber *current() { return currentFiber; }
[[gnu::noinline]] static void setCurrent(Fiber *fiber) { currentFiber = fiber; }

static constexpr size_t kGuard = 4096;

struct Fiber::Switch {
  static void enter(context::transfer_t from) {
    auto *self = static_cast<Fiber *>(from.data);
    self->resumer_ = from.fctx;
    arrive(self);
    self->entry_(self->argument_);
    self->finished_ = true;
    leave(self, true);
    __builtin_unreachable();
  }
  /// First thing on the fiber's stack after a switch to it.
  static void arrive(Fiber *self) {
#ifdef SIMPLER_ASAN
    __sanitizer_finish_switch_fiber(self->fakeStack_, &self->resumerBottom_, &self->resumerSize_);
#endif
  }
  /// Switches from the fiber to its resumer.
  static void leave(Fiber *self, bool forGood) {
#ifdef SIMPLER_ASAN
    __sanitizer_start_switch_fiber(forGood ? nullptr : &self->fakeStack_, self->resumerBottom_,
                                   self->resumerSize_);
#endif
#ifdef SIMPLER_TSAN
    __tsan_switch_to_fiber(self->sanitizerResumer_, 0);
#endif
    context::transfer_t back = context::jump_fcontext(self->resumer_, nullptr);
    self->resumer_ = back.fctx;
    arrive(self);
  }
};

Fiber::Fiber() {
  if (refused(FaultPoint::Memory))
    return;
  void *memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return;
  mprotect(memory, kGuard, PROT_NONE);
  stack_ = memory;
#ifdef SIMPLER_TSAN
  sanitizer_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#ifdef SIMPLER_TSAN
  if (sanitizer_)
    __tsan_destroy_fiber(sanitizer_);
#endif
  if (stack_)
    munmap(stack_, kStackBytes);
}

void Fiber::prepare(Entry entry, void *argument) {
#ifdef SIMPLER_ASAN
  __asan_unpoison_memory_region(static_cast<char *>(stack_) + kGuard, kStackBytes - kGuard);
#endif
  entry_ = entry;
  argument_ = argument;
  finished_ = false;
  fakeStack_ = nullptr;
  context_ = context::make_fcontext(static_cast<char *>(stack_) + kStackBytes, kStackBytes - kGuard,
                                    &Switch::enter);
}

bool Fiber::resume() {
  Fiber *outer = current(); // a kernel on a fiber may itself drive a run
  setCurrent(this);
#ifdef SIMPLER_ASAN
  void *fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack_, kStackBytes);
#endif
#ifdef SIMPLER_TSAN
  sanitizerResumer_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(sanitizer_, 0);
#endif
  context::transfer_t back = context::jump_fcontext(context_, this);
  context_ = back.fctx;
#ifdef SIMPLER_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  setCurrent(outer);
  return finished_;
}

bool Fiber::yield() {
  Fiber *self = current();
  if (!self)
    return false;
  Switch::leave(self, false);
  return true;
}

} // namespace simpler
