//===- bind_callables.cpp - images of kernels and orchestrations ----------===//
#include "../../lib/CallableImage.h"
#include "Bindings.h"

#include <cstring>
#include <nanobind/stl/pair.h>

namespace simpler::py {

struct CoreCallable {
  std::string image;
};
struct ChipCallable {
  std::string image;
  CallableImage header() const {
    CallableImage header;
    std::memcpy(&header, image.data(), sizeof(header));
    return header;
  }
};

Loaded::~Loaded() {
  if (callable)
    simpler_callable_free(callable);
}

static void refuse(const std::string &text) { throw nb::value_error(text.c_str()); }

static void putName(const std::string &name, const char *what, char (&field)[64],
                    uint32_t &length) {
  if (name.size() > sizeof(field))
    refuse(std::string(what) + " '" + name + "' is longer than 64 bytes");
  std::memcpy(field, name.data(), name.size());
  length = static_cast<uint32_t>(name.size());
}

static CoreCallable buildCore(const std::vector<ArgDirection> &signature, nb::bytes binary) {
  if (signature.size() > 32)
    refuse("CoreCallable: more than 32 directions");
  CoreImage header{};
  for (size_t i = 0; i < signature.size(); ++i)
    header.signature[i] = static_cast<int32_t>(signature[i]);
  header.signatureCount = static_cast<int32_t>(signature.size());
  header.binarySize = static_cast<uint32_t>(binary.size());
  CoreCallable result;
  result.image.assign(alignImage(sizeof(header)), '\0');
  std::memcpy(result.image.data(), &header, sizeof(header));
  result.image.append(binary.c_str(), binary.size());
  return result;
}

static ChipCallable buildChip(const std::vector<ArgDirection> &signature, const std::string &entry,
                              nb::bytes binary,
                              const std::vector<std::pair<int32_t, CoreCallable>> &children,
                              const std::string &config) {
  if (signature.size() > CallableImage::kMaxSignature)
    refuse("ChipCallable: more than 256 directions");
  if (children.size() > CallableImage::kMaxChildren)
    refuse("ChipCallable: more than 1024 kernels");
  auto header = std::make_unique<CallableImage>();
  std::memset(header.get(), 0, sizeof(CallableImage));
  for (size_t i = 0; i < signature.size(); ++i)
    header->signature[i] = static_cast<int32_t>(signature[i]);
  header->signatureCount = static_cast<int32_t>(signature.size());
  header->binarySize = static_cast<uint32_t>(binary.size());
  putName(entry, "func_name", header->entry, header->entryLength);
  putName(config, "config_name", header->config, header->configLength);
  std::string storage(binary.c_str(), binary.size());
  for (const auto &[id, core] : children) {
    if (id < 0 || id >= static_cast<int32_t>(CallableImage::kMaxChildren))
      refuse("ChipCallable: func_id " + std::to_string(id) + " is not in 0..1023");
    for (uint32_t i = 0; i < header->childCount; ++i)
      if (header->childIds[i] == id)
        refuse("ChipCallable: func_id " + std::to_string(id) + " is used twice");
    storage.resize(alignImage(storage.size()), '\0');
    header->childIds[header->childCount] = id;
    header->childOffsets[header->childCount++] = static_cast<uint32_t>(storage.size());
    storage += core.image;
  }
  ChipCallable result;
  result.image.assign(reinterpret_cast<const char *>(header.get()), sizeof(CallableImage));
  result.image += storage;
  return result;
}

void bindCallables(nb::module_ &m) {
  nb::class_<CoreCallable>(m, "CoreCallable", "One compiled kernel.")
      .def_static("build", &buildCore, nb::arg("signature"), nb::arg("binary"))
      .def_prop_ro("binary_size", [](const CoreCallable &c) {
        return c.image.size() - alignImage(sizeof(CoreImage));
      });
  nb::class_<ChipCallable>(m, "ChipCallable", "A compiled orchestration with its kernels.")
      .def_static("build", &buildChip, nb::arg("signature"), nb::arg("func_name"),
                  nb::arg("binary"), nb::arg("children") = nb::list(), nb::arg("config_name") = "")
      .def_static(
          "from_bytes",
          [](nb::bytes bytes) {
            if (bytes.size() < sizeof(CallableImage))
              refuse("ChipCallable.from_bytes: shorter than the header of a callable");
            return ChipCallable{std::string(bytes.c_str(), bytes.size())};
          },
          nb::arg("data"))
      .def("to_bytes",
           [](const ChipCallable &c) { return nb::bytes(c.image.data(), c.image.size()); })
      .def_prop_ro("signature",
                   [](const ChipCallable &c) {
                     CallableImage header = c.header();
                     std::vector<ArgDirection> result;
                     for (int32_t i = 0; i < header.signatureCount && i < 256; ++i)
                       result.push_back(static_cast<ArgDirection>(header.signature[i]));
                     return result;
                   })
      .def_prop_ro("func_name",
                   [](const ChipCallable &c) {
                     CallableImage header = c.header();
                     return std::string(header.entry, std::min<uint32_t>(header.entryLength, 64));
                   })
      .def_prop_ro("child_count", [](const ChipCallable &c) { return c.header().childCount; })
      .def("child_func_id",
           [](const ChipCallable &c, uint32_t i) { return c.header().childIds[i % 1024]; })
      .def_prop_ro("binary_size", [](const ChipCallable &c) { return c.header().binarySize; })
      .def("buffer_size", [](const ChipCallable &c) { return c.image.size(); })
      .def("buffer_ptr",
           [](const ChipCallable &c) { return reinterpret_cast<uintptr_t>(c.image.data()); });
  nb::class_<Loaded>(m, "LoadedCallable", "A callable linked into this process.")
      .def(
          "__init__",
          [](Loaded *self, const ChipCallable &chip, std::string hash) {
            SimplerCallable *callable;
            {
              GilRelease release;
              callable = simpler_callable_load(chip.image.data(), chip.image.size());
            }
            if (!callable)
              throw nb::value_error(simpler_last_error());
            new (self) Loaded{callable, std::move(hash)};
          },
          nb::arg("chip"), nb::arg("hash") = "")
      .def_ro("hash", &Loaded::hash);
}

} // namespace simpler::py
