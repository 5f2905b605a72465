//===- GuardedMemory.cpp - arrays whose bounds the hardware watches -------===//
#include "GuardedMemory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

static constexpr size_t kGuard = size_t(256) << 20;
static constexpr size_t kAlignment = 64;

static ptoas::GuardedMemory *first = nullptr;
static struct sigaction previous;

namespace ptoas {
// Runs in a signal handler: no allocation, nothing but write and _exit.
struct GuardReport {
  static void say(llvm::StringRef text) {
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }

  static void say(size_t number) {
    char digits[20];
    size_t at = sizeof(digits);
    do
      digits[--at] = static_cast<char>('0' + number % 10);
    while (number /= 10);
    say(llvm::StringRef(digits + at, sizeof(digits) - at));
  }

  static void handle(int, siginfo_t *info, void *) {
    auto *address = static_cast<char *>(info->si_addr);
    for (GuardedMemory *memory = first; memory; memory = memory->next) {
      if (address < memory->mapping || address >= memory->mapping + memory->mappedBytes)
        continue;
      bool before = address < memory->start;
      say("Error: the kernel touches memory ");
      say(static_cast<size_t>(before ? memory->start - address : address - memory->start));
      say(before ? " bytes before the start of " : " bytes behind the start of ");
      say(memory->name);
      say(", which has ");
      say(memory->bytes);
      say(" bytes\n");
      _exit(1);
    }
    // Not ours: the faulting code runs again, into the handler that was there before.
    sigaction(SIGSEGV, &previous, nullptr);
  }
};
} // namespace ptoas

ptoas::GuardedMemory::GuardedMemory(std::string name, llvm::ArrayRef<char> contents)
    : name(std::move(name)), bytes(contents.size()), next(first) {
  size_t aligned = llvm::alignTo(bytes, kAlignment);
  size_t pages = llvm::alignTo(aligned, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  void *found = mmap(nullptr, pages + 2 * kGuard, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!first) {
    struct sigaction action = {};
    action.sa_sigaction = GuardReport::handle;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &previous);
  }
  first = this;
  if (found == MAP_FAILED)
    return;
  mapping = static_cast<char *>(found);
  mappedBytes = pages + 2 * kGuard;
  if (pages && mprotect(mapping + kGuard, pages, PROT_READ | PROT_WRITE))
    return;
  start = mapping + kGuard + pages - aligned;
  if (bytes)
    std::memcpy(start, contents.data(), bytes);
}

ptoas::GuardedMemory::~GuardedMemory() {
  GuardedMemory **link = &first;
  while (*link != this)
    link = &(*link)->next;
  *link = next;
  if (!first)
    sigaction(SIGSEGV, &previous, nullptr);
  if (mapping)
    munmap(mapping, mappedBytes);
}
