//===- GuardedBuffer.h - memory that faults right behind (or before) it ---===//
#ifndef PTOAS_KERNELS_TESTS_GUARDEDBUFFER_H
#define PTOAS_KERNELS_TESTS_GUARDEDBUFFER_H

#include <cstddef>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

/// `count` elements between two inaccessible pages, touching the upper or the lower one.
template <class T> class GuardedBuffer {
public:
  GuardedBuffer(size_t count, bool atEnd) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t body = (count * sizeof(T) + page - 1) / page * page;
    bytes_ = body + 2 * page;
    void *p = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
      std::abort();
    base_ = static_cast<char *>(p);
    if (body && mprotect(base_ + page, body, PROT_READ | PROT_WRITE))
      std::abort();
    char *first = base_ + page;
    data_ = reinterpret_cast<T *>(atEnd ? first + body - count * sizeof(T) : first);
  }
  ~GuardedBuffer() { munmap(base_, bytes_); }
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;
  T *data() { return data_; }
  T &operator[](size_t i) { return data_[i]; }

private:
  char *base_;
  size_t bytes_;
  T *data_;
};

#endif // PTOAS_KERNELS_TESTS_GUARDEDBUFFER_H
