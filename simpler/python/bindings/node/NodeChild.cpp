//===- NodeChild.cpp - serving tasks in a forked process ------------------===//
#include "NodeChild.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace simpler::py {

// What the signal of an interruption looks at: the process is one child.
static const Mailbox *ownMailbox = nullptr;
static std::atomic<SimplerWorker *> ownDevice{nullptr};

static void onStopSignal(int) {
  SimplerWorker *worker = ownDevice.load();
  uint64_t current = ownMailbox ? ownMailbox->current.load() : 0;
  if (worker && current && ownMailbox->interrupt.load() == current)
    simpler_worker_interrupt(worker);
}

/// Ends the process when the parent closes its side or dies, also in the midst of a task.
static void watchParent(int socket, pid_t parent) {
  int process = -1;
#ifdef SYS_pidfd_open
  process = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));
#endif
  if (getppid() != parent)
    _exit(1); // it died before we could look
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    pollfd watched[2] = {{socket, 0, 0}, {process, POLLIN, 0}};
    if (poll(watched, process >= 0 ? 2 : 1, -1) < 0 && errno != EINTR)
      return;
    if ((watched[0].revents & (POLLHUP | POLLERR)) || (watched[1].revents & POLLIN))
      _exit(1);
  }
}

NodeChild::NodeChild(int socket, Mailbox *mailbox, pid_t parent)
    : socket_(socket), mailbox_(mailbox) {
  ownMailbox = mailbox;
  std::thread(watchParent, socket, parent).detach();
}

bool NodeChild::shouldStop() const {
  uint64_t current = mailbox_->current.load();
  return current != 0 && mailbox_->interrupt.load() == current;
}

void NodeChild::hello() { sendNote(socket_, {NoteKind::Hello, 0, 0, 0, 0}); }

void NodeChild::refuse(const std::string &why) {
  answer({NoteKind::Hello, 0, 0, 0, 0}, SIMPLER_WORKER_LOST, why);
}

void NodeChild::answer(const Note &note, int32_t status, const std::string &text) {
  // Of a text that is too long the end matters: the exception stands there.
  uint64_t bytes = std::min<uint64_t>(text.size(), Mailbox::kReplyBytes);
  std::memcpy(mailbox_->reply, text.data() + text.size() - bytes, bytes);
  NoteKind kind = note.kind == NoteKind::Task ? NoteKind::Done : note.kind;
  sendNote(socket_, {kind, status, note.id, 0, bytes});
}

bool NodeChild::receiveTask(const Note &note, WireTask &task, std::string &problem) {
  std::string_view text(reinterpret_cast<const char *>(static_cast<uintptr_t>(note.address)),
                        note.bytes);
  if (task.decode(text))
    return attach(task, problem);
  problem = "the task in the mailbox is damaged";
  return false;
}

/// Tensors in segments get this process's addresses.
bool NodeChild::attach(WireTask &task, std::string &problem) {
  for (const Segment &segment : task.segments) {
    if (segments_.count(segment.id))
      continue;
    int file = shm_open(("/" + segment.name).c_str(), O_RDWR | O_CLOEXEC, 0);
    void *base = MAP_FAILED;
    if (file >= 0) {
      base = mmap(nullptr, segment.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      close(file);
    }
    if (base == MAP_FAILED) {
      problem = "shared memory '" + segment.name + "' cannot be attached: " + std::strerror(errno);
      return false;
    }
    segments_[segment.id] = {static_cast<char *>(base), segment.bytes};
  }
  for (size_t i = 0; i < task.tensors.size(); ++i)
    if (int32_t s = task.segmentOf[i]; s >= 0) {
      const Segment &segment = task.segments[static_cast<size_t>(s)];
      uint64_t here = reinterpret_cast<uintptr_t>(segments_[segment.id].base);
      task.tensors[i].buffer.addr += here - segment.base;
    }
  return true;
}

void NodeChild::detach(uint64_t segment) {
  auto found = segments_.find(segment);
  if (found == segments_.end())
    return;
  munmap(found->second.base, found->second.bytes);
  segments_.erase(found);
}

template <typename Perform, typename Define> void NodeChild::serve(Perform perform, Define define) {
  hello();
  Note note;
  while (receiveNote(socket_, note) == 1) {
    std::string_view contents(reinterpret_cast<const char *>(static_cast<uintptr_t>(note.address)),
                              note.bytes);
    if (note.kind == NoteKind::Stop)
      return;
    if (note.kind == NoteKind::Define || note.kind == NoteKind::Forget) {
      define(note.id, note.kind == NoteKind::Define, contents);
    } else if (note.kind == NoteKind::Unmap) {
      detach(note.id);
    } else if (note.kind == NoteKind::Task) {
      WireTask task;
      std::string text;
      int32_t status = SIMPLER_INVALID_ARGS;
      if (receiveTask(note, task, text)) {
        mailbox_->current.store(task.id);
        // The wish to stop may have come before the task did.
        status = shouldStop() ? SIMPLER_INTERRUPTED : perform(task, text);
        mailbox_->current.store(0);
      }
      answer(note, status, text);
    }
  }
}

void NodeChild::serveDevice(RunLane &lane, std::map<uint64_t, std::shared_ptr<Loaded>> callables) {
  std::map<uint64_t, std::string> broken;
  ownDevice.store(lane.worker());
  struct sigaction action{};
  action.sa_handler = onStopSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  GilRelease release;
  serve(
      [&](WireTask &task, std::string &text) -> int32_t {
        auto found = callables.find(task.callable);
        if (found == callables.end()) {
          text = broken.count(task.callable) ? broken[task.callable] : "the callable is not known";
          return SIMPLER_INVALID_ARGS;
        }
        return lane.runHere(*found->second, task.tensors, task.scalars, task.config, text);
      },
      [&](uint64_t id, bool added, std::string_view image) {
        callables.erase(id);
        if (!added)
          return;
        SimplerCallable *loaded = simpler_callable_load(image.data(), image.size());
        if (loaded)
          callables[id] = std::make_shared<Loaded>(loaded, "");
        else
          broken[id] = simpler_last_error();
      });
  ownDevice.store(nullptr);
}

void NodeChild::servePython(nb::object call, nb::object define) {
  GilRelease release;
  serve(
      [&](WireTask &task, std::string &text) -> int32_t {
        GilAcquire gil;
        TaskArgs args;
        for (size_t i = 0; i < task.tensors.size(); ++i) {
          args.tensors.push_back({task.tensors[i], nb::none(), 0});
          args.tags.push_back(task.tags[i]);
        }
        args.scalars = task.scalars;
        try {
          nb::object result = call(task.callable, nb::cast(std::move(args)));
          if (result.is_none())
            return 0;
          text = nb::cast<std::string>(result);
        } catch (nb::python_error &error) {
          text = error.what(); // of the caller's own code: an interruption between two lines
        }
        return shouldStop() ? SIMPLER_INTERRUPTED : SIMPLER_KERNEL_FAILED;
      },
      [&](uint64_t id, bool added, std::string_view contents) {
        GilAcquire gil;
        try {
          define(id, added ? nb::object(nb::bytes(contents.data(), contents.size())) : nb::none());
        } catch (nb::python_error &error) {
          error.discard_as_unraisable("simpler sub-worker");
        }
      });
}

} // namespace simpler::py
