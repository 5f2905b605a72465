//===- Callable.cpp - checking and linking a callable image ---------------===//
#include "Callable.h"
#include "CallableImage.h"
#include "FaultPoint.h"
#include "PipeState.h"

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace simpler;

LoadedObject::~LoadedObject() {
  if (handle_)
    dlclose(handle_);
}

static bool nativeObject(const void *bytes, size_t size, std::string &error) {
  if (size < sizeof(Elf64_Ehdr) || std::memcmp(bytes, ELFMAG, SELFMAG) != 0) {
    error = "is no shared object (ELF file)";
    return false;
  }
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof(header));
#if defined(__x86_64__)
  constexpr uint16_t machine = EM_X86_64;
#elif defined(__aarch64__)
  constexpr uint16_t machine = EM_AARCH64;
#endif
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != machine) {
    error = "was built for another architecture (ELF machine " + std::to_string(header.e_machine) +
            ", this host is " + std::to_string(machine) + ")";
    return false;
  }
  if (header.e_type != ET_DYN) {
    error = "is an ELF file but no shared object; link it with -shared";
    return false;
  }
  // dlopen maps what the headers promise: a cut file would end in SIGBUS.
  if (header.e_phoff > size || header.e_phentsize != sizeof(Elf64_Phdr) ||
      (size - header.e_phoff) / sizeof(Elf64_Phdr) < header.e_phnum) {
    error = "is truncated";
    return false;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, static_cast<const char *>(bytes) + header.e_phoff + i * sizeof(segment),
                sizeof(segment));
    if (segment.p_type == PT_LOAD &&
        (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)) {
      error = "is truncated";
      return false;
    }
  }
  return true;
}

bool LoadedObject::load(const void *bytes, size_t size, const char *name, std::string &error) {
  if (!nativeObject(bytes, size, error))
    return false;
  int file =
      refused(FaultPoint::MemoryFile) ? (errno = EMFILE, -1) : memfd_create(name, MFD_CLOEXEC);
  if (file < 0) {
    error = std::string("cannot be put into memory: ") + std::strerror(errno);
    return false;
  }
  for (size_t done = 0; done < size;) {
    ssize_t n = refused(FaultPoint::MemoryFileWrite)
                    ? (errno = ENOSPC, -1)
                    : write(file, static_cast<const char *>(bytes) + done, size - done);
    if (n <= 0) {
      error = std::string("cannot be put into memory: ") + std::strerror(errno);
      close(file);
      return false;
    }
    done += static_cast<size_t>(n);
  }
  // dlopen takes equal paths for one object, and descriptors are used again: "./" and "/" spell a
  // serial number that keeps paths apart.
  static std::atomic<uint32_t> serial{0};
  std::string path = "/proc/self/fd/";
  for (uint32_t rest = serial.fetch_add(1) + 1; rest; rest >>= 1)
    path += rest & 1 ? "./" : "/";
  path += std::to_string(file);
  bool refusal = refused(FaultPoint::ObjectLoad);
  handle_ = refusal ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_)
    error = std::string("cannot be loaded: ") + (refusal ? "refused" : dlerror());
  close(file);
  return handle_ != nullptr;
}

void *LoadedObject::symbol(const char *name) const { return dlsym(handle_, name); }

const char *LoadedObject::soname() const {
  link_map *map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0)
    return nullptr;
  const char *strings = nullptr;
  for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_STRTAB)
      strings = reinterpret_cast<const char *>(d->d_un.d_ptr);
  for (const ElfW(Dyn) *d = map->l_ld; strings && d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_SONAME)
      return strings + d->d_un.d_val;
  return nullptr;
}

uint64_t SimplerCallable::nextSerial() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

bool SimplerCallable::load(const void *image, size_t bytes, std::string &error) {
  CallableImage header;
  if (bytes < sizeof(header)) {
    error = "callable image of " + std::to_string(bytes) + " bytes is shorter than its header";
    return false;
  }
  std::memcpy(&header, image, sizeof(header));
  const char *storage = static_cast<const char *>(image) + sizeof(header);
  size_t room = bytes - sizeof(header);
  if (header.signatureCount < 0 ||
      header.signatureCount > static_cast<int32_t>(CallableImage::kMaxSignature) ||
      header.childCount > CallableImage::kMaxChildren || header.binarySize > room ||
      header.entryLength > CallableImage::kNameBytes ||
      header.configLength > CallableImage::kNameBytes) {
    error = "callable image is damaged: its header names more than it holds";
    return false;
  }
  signature.assign(header.signature, header.signature + header.signatureCount);
  entryName.assign(header.entry, header.entryLength);
  std::string configName(header.config, header.configLength);

  std::string why;
  if (!orchestration.load(storage, header.binarySize, entryName.c_str(), why)) {
    error = "the orchestration object " + why;
    return false;
  }
  direct = static_cast<const SimplerOrchestration *>(
      orchestration.symbol((entryName + "__orchestration").c_str()));
  if (direct && direct->version != SIMPLER_ORCHESTRATION_VERSION) {
    error = "the orchestration '" + entryName + "' is of version " +
            std::to_string(direct->version) + ", this runtime takes " +
            std::to_string(SIMPLER_ORCHESTRATION_VERSION) + "; compile it again";
    return false;
  }
  if (direct) // its kernels are in the same object
    return true;
  auto need = [&](const std::string &name, const char *hint) -> void * {
    void *address = name.empty() ? nullptr : orchestration.symbol(name.c_str());
    if (!address && error.empty())
      error = "the orchestration object has no symbol '" + name + "'" + hint;
    return address;
  };
  entry = need(entryName, "; it must be extern \"C\" with default visibility");
  bind = reinterpret_cast<BindFn>(
      need("framework_bind_runtime", "; build it with KernelCompiler.compile_orchestration"));
  call = reinterpret_cast<CallFn>(
      need("simpler_call_entry", "; build it with KernelCompiler.compile_orchestration"));
  if (!configName.empty()) {
    config = need(configName, "; it must be extern \"C\" with default visibility");
    callConfig = reinterpret_cast<ConfigFn>(need("simpler_call_config", ""));
  }
  if (!error.empty())
    return false;

  kernels.reserve(CallableImage::kMaxChildren); // addresses are given to tasks
  for (uint32_t i = 0; i < header.childCount; ++i) {
    int32_t id = header.childIds[i];
    std::string label = "kernel " + std::to_string(id);
    CoreImage core;
    uint64_t offset = header.childOffsets[i];
    if (offset > room || room - offset < sizeof(core)) {
      error = label + " lies outside the callable image";
      return false;
    }
    std::memcpy(&core, storage + offset, sizeof(core));
    uint64_t body = offset + alignImage(sizeof(core));
    if (id < 0 || id >= static_cast<int32_t>(CallableImage::kMaxChildren)) {
      error = label + ": func_id must be in 0..1023";
      return false;
    }
    if (body > room || core.binarySize > room - body) {
      error = label + " lies outside the callable image";
      return false;
    }
    if (kernel(id)) {
      error = label + ": func_id is used twice";
      return false;
    }
    LoadedObject object;
    if (!object.load(storage + body, core.binarySize, label.c_str(), why)) {
      error = "the object of " + label + " " + why;
      return false;
    }
    void *function = object.symbol("kernel_entry");
    if (!function) {
      error = "the object of " + label + " has no symbol 'kernel_entry'";
      return false;
    }
    if (void *hooks = object.symbol("pto_sim_register_hooks"))
      reinterpret_cast<void (*)(void *, void *)>(hooks)(reinterpret_cast<void *>(&pipeSubBlockId),
                                                        reinterpret_cast<void *>(&pipeSharedState));
    const char *soname = object.soname();
    names.push_back(std::make_unique<std::string>(soname ? soname : label));
    if (kernels.size() <= static_cast<size_t>(id))
      kernels.resize(id + 1);
    kernels[id] = {reinterpret_cast<SimplerKernelFn>(function), names.back()->c_str(), nullptr, 0,
                   SIMPLER_AIV};
    objects.push_back(std::move(object));
  }
  return true;
}

std::string SimplerCallable::mismatch(const ChipTensor *tensors, int32_t numTensors,
                                      int32_t numScalars) const {
  if (numTensors != direct->num_tensors || numScalars != direct->num_scalars)
    return "'" + entryName + "' expects " + std::to_string(direct->num_tensors) + " tensors and " +
           std::to_string(direct->num_scalars) + " scalars, the call gives " +
           std::to_string(numTensors) + " and " + std::to_string(numScalars);
  for (int32_t i = 0; i < numTensors; ++i) {
    const ChipTensor &t = tensors[i];
    const SimplerParam &p = direct->params[i];
    auto wrong = [&](const std::string &what) {
      return "'" + entryName + "': tensor " + std::to_string(i) + " " + what;
    };
    if (t.ndims != p.ndims)
      return wrong("has rank " + std::to_string(t.ndims) + ", expected is " +
                   std::to_string(p.ndims));
    if (static_cast<int64_t>(t.dtype) != p.dtype)
      return wrong(std::string("is ") + get_dtype_name(t.dtype) + ", expected is " +
                   get_dtype_name(static_cast<DataType>(p.dtype)));
    if (t.buffer.addr == 0 && t.numel())
      return wrong("has no memory");
    int64_t packed = 1;
    for (uint32_t d = t.ndims; d-- > 0;) {
      int64_t stride = p.strides[d] ? p.strides[d] : packed;
      if (p.shapes[d] >= 0 && t.shapes[d] != p.shapes[d])
        return wrong("has " + std::to_string(t.shapes[d]) + " elements along axis " +
                     std::to_string(d) + ", expected are " + std::to_string(p.shapes[d]));
      if (t.shapes[d] > 1 && t.strides[d] != stride)
        return wrong("has stride " + std::to_string(t.strides[d]) + " along axis " +
                     std::to_string(d) + ", expected is " + std::to_string(stride));
      packed *= t.shapes[d] ? t.shapes[d] : 1;
    }
  }
  return "";
}
