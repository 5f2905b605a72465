//===- Callable.h - a loaded orchestration and its kernels ----------------===//
#ifndef SIMPLER_CALLABLE_H
#define SIMPLER_CALLABLE_H

#include "simpler/callable_api.h"
#include "simpler/orchestration_abi.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace simpler {

/// A shared object that lives in memory only; closed on destruction.
class LoadedObject {
public:
  LoadedObject() = default;
  LoadedObject(LoadedObject &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  LoadedObject &operator=(LoadedObject &&) = delete;
  ~LoadedObject();
  /// False with a reason. `name` is what debuggers and profilers show.
  bool load(const void *bytes, size_t size, const char *name, std::string &error);
  void *symbol(const char *name) const;
  /// The object's DT_SONAME, or null.
  const char *soname() const;

private:
  void *handle_ = nullptr;
};

} // namespace simpler

struct SimplerCallable {
  using BindFn = void (*)(PTO2Runtime *);
  using CallFn = void (*)(void *, const ChipTensor *, int32_t, const uint64_t *, int32_t);
  using ConfigFn = int32_t (*)(void *, const ChipTensor *, int32_t, const uint64_t *, int32_t);

  bool load(const void *image, size_t bytes, std::string &error);
  const SimplerKernel *kernel(int32_t id) const {
    return id >= 0 && static_cast<size_t>(id) < kernels.size() && kernels[id].fn ? &kernels[id]
                                                                                 : nullptr;
  }
  int32_t kernelId(const SimplerKernel *kernel) const {
    bool own = kernel >= kernels.data() && kernel < kernels.data() + kernels.size();
    return own ? static_cast<int32_t>(kernel - kernels.data()) : -1;
  }
  /// What does not fit `direct`, or "".
  std::string mismatch(const ChipTensor *tensors, int32_t numTensors, int32_t numScalars) const;

  /// Tells callables apart that were loaded at one address, one after the other.
  const uint64_t serial = nextSerial();
  static uint64_t nextSerial();
  simpler::LoadedObject orchestration;
  std::vector<simpler::LoadedObject> objects;
  std::vector<SimplerKernel> kernels; // by func_id; fn null where there is none
  std::vector<std::unique_ptr<std::string>> names;
  std::vector<int32_t> signature; // ArgDirection by tensor position
  std::string entryName;
  void *entry = nullptr, *config = nullptr;
  BindFn bind = nullptr;
  CallFn call = nullptr;
  ConfigFn callConfig = nullptr;
  const SimplerOrchestration *direct = nullptr; // machine code; the entries above are null
};

#endif // SIMPLER_CALLABLE_H
