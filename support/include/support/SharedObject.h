//===- SharedObject.h - loads machine code --------------------------------===//
//
// A shared object from a file or from bytes. Bytes go through a memfd, so that
// nothing is written and gdb and perf still see an ordinary object.
//
//===----------------------------------------------------------------------===//
#ifndef SUPPORT_SHAREDOBJECT_H
#define SUPPORT_SHAREDOBJECT_H

#include <cstddef>
#include <string>

namespace pto {

/// Owns a loaded object; unloads it when destroyed. Movable. Not thread-safe for one
/// instance; different instances may be used from different threads.
class SharedObject {
public:
  SharedObject() = default;
  SharedObject(SharedObject &&other) noexcept;
  SharedObject &operator=(SharedObject &&other) noexcept;
  SharedObject(const SharedObject &) = delete;
  SharedObject &operator=(const SharedObject &) = delete;
  ~SharedObject();

  /// Loads the file at `path`; an empty object with `error` set when that fails.
  static SharedObject fromFile(const std::string &path, std::string &error);
  /// Loads `size` bytes of an ELF shared object. `name` is what debuggers show.
  static SharedObject fromBytes(const void *bytes, size_t size, const std::string &name,
                                std::string &error);
  /// Makes the symbols of the library that holds `address` visible to objects loaded later.
  static bool makeGlobal(const void *address, std::string &error);

  explicit operator bool() const { return handle_ != nullptr; }
  /// Null when the object has no such symbol.
  void *symbol(const char *name) const;

private:
  explicit SharedObject(void *handle) : handle_(handle) {}
  void *handle_ = nullptr;
};

} // namespace pto
#endif // SUPPORT_SHAREDOBJECT_H
