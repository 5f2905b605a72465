//===- SharedObject.cpp - loads machine code ------------------------------===//
#include "support/SharedObject.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace pto {
namespace {

std::string loaderError() {
  const char *text = dlerror();
  return text ? text : "unknown loader error";
}

bool writeAll(int fd, const char *bytes, size_t size) {
  while (size) {
    ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

/// A path to `fd` that was never used before. The loader takes two equal paths for one object, and
/// descriptor numbers come back; "x//y" and "x/./y" name the same file in different words. The
/// process's number, where others write "self", keeps these paths apart from those of other
/// libraries.
std::string uniquePath(int fd) {
  static std::atomic<unsigned> counter{0};
  std::string path = "/proc/" + std::to_string(getpid()) + "/fd/";
  for (unsigned bits = counter.fetch_add(1) + 1; bits; bits >>= 1)
    path += bits & 1 ? "./" : "/";
  return path + std::to_string(fd);
}

} // namespace

SharedObject::SharedObject(SharedObject &&other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

SharedObject &SharedObject::operator=(SharedObject &&other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

SharedObject::~SharedObject() {
  if (handle_)
    dlclose(handle_);
}

SharedObject SharedObject::fromFile(const std::string &path, std::string &error) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    error = loaderError();
  return SharedObject(handle);
}

SharedObject SharedObject::fromBytes(const void *bytes, size_t size, const std::string &name,
                                     std::string &error) {
  int fd = memfd_create(name.c_str(), MFD_CLOEXEC);
  if (fd < 0) {
    error = std::string("memfd_create: ") + std::strerror(errno);
    return {};
  }
  if (!writeAll(fd, static_cast<const char *>(bytes), size)) {
    error = std::string("writing machine code to memory: ") + std::strerror(errno);
    close(fd);
    return {};
  }
  SharedObject object = fromFile(uniquePath(fd), error);
  close(fd);
  return object;
}

bool SharedObject::makeGlobal(const void *address, std::string &error) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) {
    error = "no library holds this address";
    return false;
  }
  if (!dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD)) {
    error = loaderError();
    return false;
  }
  return true;
}

void *SharedObject::symbol(const char *name) const {
  return handle_ ? dlsym(handle_, name) : nullptr;
}

} // namespace pto
