//===- TestMain.cpp - main() of all C++ test programs ---------------------===//
//
// Prints failures only, since logs of test runs are cut: --gtest_brief=0 shows every test. A test
// that takes longer than any of ours should is taken for one that hangs: its name and the stacks of
// all threads are printed, and the program ends. PTO_TEST_SECONDS sets another limit, 0 none.
//
//===----------------------------------------------------------------------===//
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

// The C library's own: what a sanitizer puts in its place keeps signals back from threads that
// wait.
extern "C" int __sigaction(int, const struct sigaction *, struct sigaction *);

namespace {

constexpr int kThreads = 256, kFrames = 40;
constexpr const char *kSymbolizer = "/usr/lib/llvm-22/bin/llvm-symbolizer";

unsigned limitSeconds = 240;
char running[512]; // name of the test

struct Stack {
  long thread;
  int frames;
  void *at[kFrames];
};
Stack stacks[kThreads];
std::atomic<int> begun{0}, taken{0};

void takeStack(int) {
  int slot = begun.fetch_add(1);
  if (slot < kThreads) {
    stacks[slot].thread = syscall(SYS_gettid);
    stacks[slot].frames = backtrace(stacks[slot].at, kFrames);
  }
  taken.fetch_add(1);
}

void print(const Stack &stack) {
  std::fprintf(stderr, "thread %ld:\n", stack.thread);
  std::fflush(stderr);
  char command[200];
  std::snprintf(command, sizeof(command),
                "%s --pretty-print --demangle --relativenames | grep . >&2", kSymbolizer);
  FILE *symbols = access(kSymbolizer, X_OK) == 0 ? popen(command, "w") : nullptr;
  if (!symbols) {
    backtrace_symbols_fd(stack.at, stack.frames, STDERR_FILENO);
    return;
  }
  for (int i = 0; i < stack.frames; ++i) {
    Dl_info place;
    auto *address = static_cast<char *>(stack.at[i]) - 1; // of the call, not of what follows it
    if (dladdr(address, &place) && place.dli_fname)
      std::fprintf(symbols, "CODE \"%s\" %#tx\n", place.dli_fname,
                   address - static_cast<char *>(place.dli_fbase));
  }
  pclose(symbols);
}

void hangs(int) {
  char text[700];
  int length =
      std::snprintf(text, sizeof(text), "\n%s has not ended after %u s: it hangs. All threads:\n",
                    running, limitSeconds);
  (void)!write(STDERR_FILENO, text, static_cast<size_t>(length));
  // What follows is more than a signal handler may do: if it stands still, that is the end, too.
  signal(SIGALRM, SIG_DFL);
  alarm(60);
  takeStack(0);
  int asked = 1;
  if (DIR *threads = opendir("/proc/self/task")) {
    while (dirent *entry = readdir(threads)) {
      long thread = std::atol(entry->d_name);
      if (thread > 0 && thread != syscall(SYS_gettid) &&
          syscall(SYS_tgkill, getpid(), thread, SIGUSR2) == 0)
        ++asked;
    }
    closedir(threads);
  }
  for (int i = 0; i < 200 && taken < asked; ++i)
    usleep(10000);
  for (int i = 0; i < taken && i < kThreads; ++i)
    print(stacks[i]);
  signal(SIGABRT, SIG_DFL);
  std::abort();
}

/// Without this the name of the test would be in no log.
void crashes(int number) {
  char text[700];
  int length = std::snprintf(text, sizeof(text), "\n%s: signal %d\n", running, number);
  (void)!write(STDERR_FILENO, text, static_cast<size_t>(length));
  signal(number, SIG_DFL);
  raise(number);
}

class Limit : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo &info) override {
    std::snprintf(running, sizeof(running), "%s.%s", info.test_suite_name(), info.name());
    alarm(limitSeconds);
  }
  void OnTestEnd(const testing::TestInfo &) override { alarm(0); }
};

void handle(int number, void (*handler)(int), bool ifFree = false) {
  struct sigaction action{}, before{};
  if (ifFree && sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_DFL)
    return; // a sanitizer says more
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  __sigaction(number, &action, nullptr);
}

} // namespace

int main(int argc, char **argv) {
  GTEST_FLAG_SET(brief, true);
  testing::InitGoogleTest(&argc, argv);
  if (const char *seconds = std::getenv("PTO_TEST_SECONDS"))
    limitSeconds = static_cast<unsigned>(std::atoi(seconds));
  void *first;
  backtrace(&first, 1); // loads what it needs, which a handler must not do
  handle(SIGALRM, hangs);
  handle(SIGUSR2, takeStack);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    handle(number, crashes, /*ifFree=*/true);
  testing::UnitTest::GetInstance()->listeners().Append(new Limit);
  return RUN_ALL_TESTS();
}
