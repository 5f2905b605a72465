//===- Link.cpp - objects to a shared object, in memory -------------------===//
//
// lld reads and writes paths. A memory file has a path in /proc and serves as the
// input. It cannot be the output (lld renames a temporary file over a regular one),
// a pipe can: lld writes its buffer into it in one go, and a thread drains it.
//
//===----------------------------------------------------------------------===//
#include "Link.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;
namespace ptoas::native {

namespace {
struct Descriptor {
  explicit Descriptor(int fd = -1) : fd(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  void reset() {
    if (fd >= 0)
      close(fd);
    fd = -1;
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  int fd;
};

bool writeAll(int fd, ArrayRef<char> bytes) {
  while (!bytes.empty()) {
    ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n <= 0)
      return false;
    bytes = bytes.drop_front(n);
  }
  return true;
}
} // namespace

Expected<std::vector<char>> linkSharedObject(ArrayRef<char> object) {
  static std::mutex linkerMutex;
  static bool usable = true;
  Descriptor input(memfd_create("pto-object", MFD_CLOEXEC)), readEnd, writeEnd;
  int ends[2];
  if (input.fd < 0 || !writeAll(input.fd, object) || pipe2(ends, O_CLOEXEC) != 0)
    return createStringError("no memory file for the linker");
  readEnd.fd = ends[0];
  writeEnd.fd = ends[1];

  std::string inputPath = input.path(), outputPath = writeEnd.path();
  const char *args[] = {"ld.lld",
                        "-shared",
                        "--threads=1",
                        "-Bsymbolic",
                        "--hash-style=gnu",
                        "--build-id=none",
                        "-z",
                        "norelro",
                        "-z",
                        "noseparate-code",
                        "--eh-frame-hdr",
                        "-o",
                        outputPath.c_str(),
                        inputPath.c_str()};
  std::vector<char> bytes;
  std::thread drain([&] {
    char block[16384];
    for (ssize_t n; (n = read(readEnd.fd, block, sizeof(block))) > 0;)
      bytes.insert(bytes.end(), block, block + n);
  });
  std::string messages;
  bool failed;
  {
    std::lock_guard<std::mutex> lock(linkerMutex);
    if (usable) {
      raw_string_ostream errors(messages);
      raw_null_ostream quiet;
      lld::Result result = lld::lldMain(args, quiet, errors, {{lld::Gnu, &lld::elf::link}});
      usable = result.canRunAgain;
      failed = result.retCode != 0;
    } else {
      messages = "it failed earlier in this process";
      failed = true;
    }
  }
  writeEnd.reset(); // the drain sees the end of the pipe
  drain.join();
  if (failed || bytes.empty())
    return createStringError("linker: " + messages);
  return bytes;
}

} // namespace ptoas::native
