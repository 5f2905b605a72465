//===- Run.cpp - begin, end, scopes, errors of a run ----------------------===//
#include "Run.h"
#include "Gang.h"
#include "KernelCall.h"

#include <algorithm>
#include <cstdarg>
#include <cstdlib>

using namespace simpler;

SimplerRun::SimplerRun(Device &device, Executor &executor)
    : device_(device), executor_(executor), window_(1024) {
  signal_.kind = TaskKind::Signal;
  signal_.run = this;
  signal_.edgeBlocks = nullptr;
  signal_.extra = nullptr;
  scopes_.reserve(64);
  message_.reserve(sizeof(char[1024])); // an error must find room
}

SimplerRun::~SimplerRun() {
  for (TaskExtra *extra : spareExtras_)
    delete extra;
}

void SimplerRun::begin(const RunOptions &options, const Executor *outer) {
  options_ = options;
  firstSequence_ = sequence_ + 1;
  submitted_ = retired_ = 0;
  edgesTotal_ = heapTotal_ = 0;
  recorder = nullptr;
  evaluating_ = nullptr;
  graphDepth_ = 0;
  stillSince_ = 0;
  holding_ = options.recordFirst;
  fatal_.store(0, std::memory_order_relaxed);
  interruptsSeen_ = options.interrupts.value_or(device_.interrupts());
  cancelled_ = options.cancelled ? options.cancelled : &kNever;
  buffers_.resetPeak();
  executor_.own(this, outer);
  executor_.restEnd();
  scopes_.clear();
  scopes_.push_back({0, nullptr, 0, 0});
}

int32_t SimplerRun::end() {
  if (scopes_.size() > 1 && fatal() == 0)
    fail(SIMPLER_INVALID_ARGS, "the orchestration ended with %zu scope(s) still open",
         scopes_.size() - 1);
  holding_ = false;
  for (Task *task : held_)
    executor_.makeReady(task);
  held_.clear();
  executor_.workUntil(this, [this] { return allDone(); });
  scopes_.resize(1);
  for (Buffer *buffer : scopeBuffers_)
    buffers_.release(buffer);
  scopeBuffers_.clear();
  graphs_.trim(GraphStore::kIdleBytes);
  buffers_.trim(256u << 20);
  executor_.disown();
  cancelled_ = &kNever; // the caller's word may go now
  return fatal();
}

void SimplerRun::scopeBegin(int32_t mode, const char *site) {
  if (fatal())
    return;
  if (mode != 0 && mode != 1) {
    fail(SIMPLER_INVALID_ARGS, "scope mode is %d; it must be 0 (AUTO) or 1 (MANUAL)", mode);
    return;
  }
  if (scopes_.size() > 64) {
    fail(SIMPLER_INVALID_ARGS, "scopes are nested deeper than 64%s%s", site ? " at " : "",
         site ? site : "");
    return;
  }
  scopes_.push_back({mode, site, scopeBuffers_.size(), 0});
  if (recorder) [[unlikely]]
    recordScope(true);
}

void SimplerRun::scopeEnd() {
  if (scopes_.size() == 1) {
    if (!fatal())
      fail(SIMPLER_INVALID_ARGS, "a scope is ended that was not begun");
    return;
  }
  if (recorder) [[unlikely]]
    recordScope(false);
  if (!evaluating_) { // tasks that are only collected hold no buffers yet: the graph's scope does
    for (size_t i = scopes_.back().firstBuffer; i < scopeBuffers_.size(); ++i)
      buffers_.release(scopeBuffers_[i]);
    scopeBuffers_.resize(scopes_.back().firstBuffer);
  }
  scopes_.pop_back();
}

void SimplerRun::recordScope(bool begin) {
  drainReturned();
  recorder->scope(scopes_.back().site, begin, static_cast<uint32_t>(scopes_.size() - 1),
                  {retired_, submitted_, heapTotal_ - buffers_.liveBytes(), heapTotal_, edgesTotal_,
                   edgesTotal_, map_.size()});
}

void SimplerRun::fail(int32_t code, const char *format, ...) {
  char few[1024];
  std::unique_ptr<char[]> many;
  const char *text = few;
  va_list arguments;
  va_start(arguments, format);
  auto length = static_cast<size_t>(std::vsnprintf(few, sizeof(few), format, arguments));
  va_end(arguments);
  if (length >= sizeof(few)) {
    many.reset(new (std::nothrow) char[length + 1]);
    if (many) {
      va_start(arguments, format);
      std::vsnprintf(many.get(), length + 1, format, arguments);
      va_end(arguments);
      text = many.get();
    }
  }
  std::lock_guard lock(messageMutex_);
  if (fatal_.load() != 0)
    return; // the first error explains the others
  try {
    message_ = text;
  } catch (const std::bad_alloc &) {
    message_.assign(text, message_.capacity());
  }
  fatal_.store(code, std::memory_order_release);
}

void SimplerRun::leavesOut(const Task *task) {
  if (fatal() == 0)
    fail(SIMPLER_INTERRUPTED, "the run was interrupted before task %s was complete",
         taskName(task).text);
}

std::string SimplerRun::message() const {
  std::lock_guard lock(messageMutex_);
  return fatal_.load() ? message_ : std::string();
}

//===-- Completed tasks come back -----------------------------------------===//

void SimplerRun::giveBack(Task *first, Task *last) {
  Task *head = returned_.load(std::memory_order_relaxed);
  do
    last->freeNext = head;
  while (!returned_.compare_exchange_weak(head, first));
  wakeOwner();
}

void SimplerRun::wakeOwner() {
  // Sequentially consistent after the store it announces; the owner does the opposite order.
  if (ownerAsleep_.load())
    executor_.parking().unpark();
}

void SimplerRun::drainReturned() {
  // Sequentially consistent, like what the giver does: the owner may just have said that it sleeps.
  if (!returned_.load())
    return;
  Task *task = returned_.exchange(nullptr);
  while (task) {
    Task *following = task->freeNext;
    recycle(task);
    task = following;
  }
}

void SimplerRun::recycle(Task *task) {
  if (task->kind == TaskKind::Graph)
    recycleGraph(task);
  for (uint32_t i = 0; i < task->numBuffers; ++i)
    buffers_.release(task->buffers()[i]);
  while (EdgeBlock *block = task->edgeBlocks) {
    task->edgeBlocks = block->next;
    pool_.recycle(block);
  }
  if (TaskExtra *extra = task->extra) [[unlikely]] {
    delete extra->gang;
    extra->gang = nullptr;
    for (Buffer *buffer : extra->retained)
      buffers_.release(buffer);
    extra->retained.clear();
    spareExtras_.push_back(extra);
    task->extra = nullptr;
  }
  liveTaskBytes_ -= TaskPool::bytesOf(task->sizeClass);
  ++retired_;
  pool_.recycle(task);
}
