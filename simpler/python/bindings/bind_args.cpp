//===- bind_args.cpp - tensors, task arguments, call configuration --------===//
#include "Bindings.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <nanobind/stl/optional.h>
#include <optional>

namespace simpler::py {

//===-- Tensors -----------------------------------------------------------===//

static HostTensor makeTensor(nb::object buffer, uint64_t base, uint64_t nbytes,
                             const std::vector<uint64_t> &shapes, DataType dtype,
                             const std::optional<std::vector<uint64_t>> &strides,
                             uint64_t byteOffset, bool device, bool allowEmpty) {
  uint64_t size = get_element_size(dtype);
  auto refuse = [](const std::string &text) { throw nb::value_error(text.c_str()); };
  if (shapes.empty() || shapes.size() > MAX_TENSOR_DIMS)
    refuse("Tensor: rank " + std::to_string(shapes.size()) + " is not in 1..5");
  if (strides && strides->size() != shapes.size())
    refuse("Tensor: " + std::to_string(strides->size()) + " strides for rank " +
           std::to_string(shapes.size()));
  if (byteOffset % size)
    refuse("Tensor: byte_offset " + std::to_string(byteOffset) +
           " is no multiple of the element size " + std::to_string(size));
  uint32_t extents[MAX_TENSOR_DIMS], steps[MAX_TENSOR_DIMS];
  unsigned __int128 packed = 1;
  for (size_t d = shapes.size(); d-- > 0;) {
    if (shapes[d] > UINT32_MAX)
      refuse("Tensor: extent " + std::to_string(shapes[d]) + " of axis " + std::to_string(d) +
             " does not fit in 32 bits");
    if (shapes[d] == 0 && !allowEmpty)
      refuse("Tensor: extent of axis " + std::to_string(d) + " is 0");
    uint64_t stride = strides ? (*strides)[d] : static_cast<uint64_t>(packed);
    if (stride == 0 || stride > UINT32_MAX) {
      if (!strides && shapes[d] <= 1)
        stride = 1;
      else
        refuse("Tensor: stride " + std::to_string(stride) + " of axis " + std::to_string(d) +
               " is not in 1..2^32-1");
    }
    extents[d] = static_cast<uint32_t>(shapes[d]);
    steps[d] = static_cast<uint32_t>(stride);
    packed *= shapes[d] ? shapes[d] : 1;
  }
  HostTensor result;
  result.chip = make_tensor_strided(reinterpret_cast<void *>(static_cast<uintptr_t>(base)), extents,
                                    steps, static_cast<uint32_t>(shapes.size()), dtype, false, 0,
                                    device ? AddressSpace::DEVICE : AddressSpace::HOST);
  result.chip.start_offset = byteOffset / size;
  result.chip.buffer.size = nbytes;
  if (byteOffset + result.chip.extent_elem() * size > nbytes)
    refuse("Tensor: " + std::to_string(byteOffset + result.chip.extent_elem() * size) +
           " bytes are needed, the buffer has " + std::to_string(nbytes));
  result.buffer = std::move(buffer);
  result.byteOffset = byteOffset;
  return result;
}

static nb::tuple extentsOf(const uint32_t *values, uint32_t rank) {
  nb::list list;
  for (uint32_t d = 0; d < rank; ++d)
    list.append(values[d]);
  return nb::tuple(list);
}

static void bindTensor(nb::module_ &m) {
  nb::class_<HostTensor>(m, "Tensor", "A strided view of a Buffer: what tasks take.")
      .def(
          "__init__",
          [](HostTensor *self, nb::object buffer, uint64_t base, uint64_t nbytes,
             const std::vector<uint64_t> &shapes, DataType dtype,
             const std::optional<std::vector<uint64_t>> &strides, uint64_t byteOffset,
             bool device) {
            new (self) HostTensor(makeTensor(std::move(buffer), base, nbytes, shapes, dtype,
                                             strides, byteOffset, device, true));
          },
          nb::arg("buffer").none(), nb::arg("base"), nb::arg("nbytes"), nb::arg("shapes"),
          nb::arg("dtype"), nb::arg("strides") = nb::none(), nb::arg("byte_offset") = 0,
          nb::arg("device") = false)
      .def_prop_ro("buffer", [](const HostTensor &t) { return t.buffer; })
      .def_prop_ro("byte_offset", [](const HostTensor &t) { return t.byteOffset; })
      .def_prop_ro("ndims", [](const HostTensor &t) { return t.chip.ndims; })
      .def_prop_ro("dtype", [](const HostTensor &t) { return t.chip.dtype; })
      .def_prop_ro("shapes",
                   [](const HostTensor &t) { return extentsOf(t.chip.shapes, t.chip.ndims); })
      .def_prop_ro("strides",
                   [](const HostTensor &t) { return extentsOf(t.chip.strides, t.chip.ndims); })
      .def_prop_ro("data",
                   [](const HostTensor &t) {
                     return t.chip.buffer.addr +
                            t.chip.start_offset * get_element_size(t.chip.dtype);
                   })
      .def_prop_ro("is_contiguous", [](const HostTensor &t) { return t.chip.is_contiguous; })
      .def("nbytes", [](const HostTensor &t) { return t.chip.nbytes(); })
      .def("numel", [](const HostTensor &t) { return t.chip.numel(); })
      .def(
          "span",
          [](const HostTensor &t) { return t.chip.extent_elem() * get_element_size(t.chip.dtype); },
          "Bytes from the first element to the end of the last.")
      .def("__repr__", [](const HostTensor &t) {
        std::string text = std::string("Tensor(") + get_dtype_name(t.chip.dtype) + ", [";
        for (uint32_t d = 0; d < t.chip.ndims; ++d)
          text += (d ? ", " : "") + std::to_string(t.chip.shapes[d]);
        return text + "])";
      });

  nb::class_<ChipTensor>(m, "ChipTensor", "The 128-byte descriptor that kernels see.")
      .def_static(
          "make",
          [](uint64_t data, const std::vector<uint64_t> &shapes, DataType dtype, bool childMemory) {
            uint64_t bytes = get_element_size(dtype);
            for (uint64_t extent : shapes)
              bytes *= extent;
            return makeTensor(nb::none(), data, bytes, shapes, dtype, std::nullopt, 0, childMemory,
                              true)
                .chip;
          },
          nb::arg("data"), nb::arg("shapes"), nb::arg("dtype"), nb::arg("child_memory") = false)
      .def_prop_ro("data", [](const ChipTensor &t) { return t.buffer.addr; })
      .def_prop_ro("shapes", [](const ChipTensor &t) { return extentsOf(t.shapes, t.ndims); })
      .def_prop_ro("strides", [](const ChipTensor &t) { return extentsOf(t.strides, t.ndims); })
      .def_ro("ndims", &ChipTensor::ndims)
      .def_ro("dtype", &ChipTensor::dtype)
      .def_ro("start_offset", &ChipTensor::start_offset)
      .def_ro("is_contiguous", &ChipTensor::is_contiguous)
      .def_prop_ro("child_memory", &ChipTensor::is_device_memory)
      .def("nbytes", &ChipTensor::nbytes);
}

//===-- Scalars -----------------------------------------------------------===//

/// `largest`: of the element type that the number is for.
static float narrowed(double value, double largest = std::numeric_limits<float>::max()) {
  auto result = static_cast<float>(value);
  if (std::isfinite(value) && std::abs(static_cast<double>(result)) > largest) {
    char text[96];
    std::snprintf(text, sizeof(text), "scalar: %g does not fit, the largest number is %g", value,
                  largest);
    throw nb::value_error(text);
  }
  return result;
}

static uint64_t untypedScalar(nb::handle value) {
  if (nb::hasattr(value, "value") && !PyLong_Check(value.ptr()) && !PyFloat_Check(value.ptr()))
    return untypedScalar(value.attr("value")); // ctypes
  if (PyFloat_Check(value.ptr()))
    return to_u64(narrowed(PyFloat_AS_DOUBLE(value.ptr())));
  if (!PyLong_Check(value.ptr())) { // of NumPy, perhaps
    if (PyObject *number = PyIndex_Check(value.ptr()) ? PyNumber_Index(value.ptr()) : nullptr)
      return untypedScalar(nb::steal(number));
    PyErr_Clear();
    if (nb::object kind = nb::getattr(nb::getattr(value, "dtype", nb::none()), "kind", nb::none());
        nb::isinstance<nb::str>(kind) && nb::cast<std::string>(kind) == "b")
      return PyObject_IsTrue(value.ptr()) == 1;
    PyObject *number = PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())
                           ? nullptr
                           : PyNumber_Float(value.ptr());
    if (number)
      return untypedScalar(nb::steal(number));
    PyErr_Clear();
    std::string text =
        "scalar: expected a number, got " + nb::cast<std::string>(value.type().attr("__name__"));
    throw nb::type_error(text.c_str());
  }
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0)
    return static_cast<uint64_t>(number);
  unsigned long long big = PyLong_AsUnsignedLongLong(value.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    throw nb::value_error("scalar: the integer does not fit in 64 bits");
  }
  return big;
}

uint64_t encodeScalar(nb::handle value, nb::handle type) {
  if (type.is_none())
    return untypedScalar(value);
  auto dtype = nb::cast<DataType>(type);
  auto refuse = [&](const char *why) {
    std::string text = std::string("scalar of type ") + get_dtype_name(dtype) + ": " + why;
    throw nb::value_error(text.c_str());
  };
  switch (dtype) {
  case DataType::FLOAT32:
    return to_u64(narrowed(nb::cast<double>(value)));
  case DataType::FLOAT16: {
    auto number = nb::cast<double>(value);
    auto half = static_cast<_Float16>(number);
    narrowed(std::isinf(static_cast<float>(half)) ? number : 0, 65504);
    return to_u64(half);
  }
  case DataType::BFLOAT16: {
    uint32_t bits = static_cast<uint32_t>(to_u64(narrowed(nb::cast<double>(value))));
    if ((bits & 0x7fffffff) > 0x7f800000)
      return bits >> 16 | 0x40;                      // stays a NaN
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16; // to nearest even
  }
  case DataType::BOOL:
    return nb::cast<bool>(value) ? 1 : 0;
  case DataType::FP8E4M3FN:
  case DataType::FP8E8M0:
  case DataType::FP4E2M1:
    refuse("pass the bit pattern as UINT8");
    return 0;
  default:
    break;
  }
  if (!PyLong_Check(value.ptr()))
    refuse("expected an int");
  uint64_t bits = untypedScalar(value), size = get_element_size(dtype) * 8;
  bool isSigned = dtype == DataType::INT8 || dtype == DataType::INT16 || dtype == DataType::INT32 ||
                  dtype == DataType::INT64;
  nb::object big = nb::borrow(value);
  nb::object one = nb::int_(1);
  nb::object low = isSigned ? nb::object(-(one << nb::int_(size - 1))) : nb::object(nb::int_(0));
  nb::object high =
      isSigned ? nb::object(one << nb::int_(size - 1)) : nb::object(one << nb::int_(size));
  if (big < low || big >= high)
    refuse("the value is out of range");
  return size == 64 ? bits : bits & ((1ull << size) - 1);
}

//===-- TaskArgs ----------------------------------------------------------===//

static size_t checkedIndex(int64_t i, size_t size, const char *what) {
  if (i < 0 || static_cast<size_t>(i) >= size) {
    std::string text = std::string(what) + " " + std::to_string(i) + " of " + std::to_string(size);
    throw nb::index_error(text.c_str());
  }
  return static_cast<size_t>(i);
}

static void bindTaskArgs(nb::module_ &m) {
  nb::class_<TaskArgs>(m, "TaskArgs", "Tensors, then scalars, of one call.")
      .def(nb::init<>())
      .def(
          "add_tensor",
          [](TaskArgs &self, nb::handle tensor, TensorArgType tag) {
            if (!self.scalars.empty())
              throw std::logic_error("TaskArgs.add_tensor: tensors must come before scalars");
            if (nb::isinstance<HostTensor>(tensor))
              self.tensors.push_back(nb::cast<HostTensor &>(tensor));
            else if (nb::isinstance<ChipTensor>(tensor))
              self.tensors.push_back({nb::cast<ChipTensor &>(tensor), nb::none(), 0});
            else
              throw nb::type_error("TaskArgs.add_tensor: expected a Tensor (Buffer.tensor, "
                                   "make_tensor_arg) or a ChipTensor");
            self.tags.push_back(static_cast<int32_t>(tag));
          },
          nb::arg("tensor"), nb::arg("tag") = TensorArgType::INPUT)
      .def(
          "add_scalar",
          [](TaskArgs &self, nb::handle value, nb::handle dtype) {
            self.scalars.push_back(encodeScalar(value, dtype));
          },
          nb::arg("value"), nb::arg("dtype") = nb::none(),
          "Raw 64-bit word, or a value with the element type that says how to encode it.")
      .def("tensor",
           [](TaskArgs &self, int64_t i) {
             return self.tensors[checkedIndex(i, self.tensors.size(), "tensor")];
           })
      .def("scalar",
           [](TaskArgs &self, int64_t i) {
             return self.scalars[checkedIndex(i, self.scalars.size(), "scalar")];
           })
      .def("tag",
           [](TaskArgs &self, int64_t i) {
             return static_cast<TensorArgType>(
                 self.tags[checkedIndex(i, self.tags.size(), "tensor")]);
           })
      .def("set_tag",
           [](TaskArgs &self, int64_t i, TensorArgType tag) {
             self.tags[checkedIndex(i, self.tags.size(), "tensor")] = static_cast<int32_t>(tag);
           })
      .def("tensor_count", [](const TaskArgs &self) { return self.tensors.size(); })
      .def("scalar_count", [](const TaskArgs &self) { return self.scalars.size(); })
      .def("clear", [](TaskArgs &self) { self = TaskArgs(); })
      .def("__len__",
           [](const TaskArgs &self) { return self.tensors.size() + self.scalars.size(); });
  m.def(
      "scalar_to_uint64", [](nb::handle value) { return untypedScalar(value); },
      nb::arg("value").none(), "float -> its 32-bit pattern, int -> 64 bits, ctypes -> its value.");
}

//===-- CallConfig --------------------------------------------------------===//

static std::array<uint64_t, 4> ringValues(nb::handle value, const char *name) {
  std::array<uint64_t, 4> result{};
  auto number = [&](nb::handle item) -> uint64_t {
    if (!PyLong_Check(item.ptr()) || PyBool_Check(item.ptr())) {
      std::string text = std::string(name) + ": expected an int or four ints";
      throw nb::type_error(text.c_str());
    }
    long long number = PyLong_AsLongLong(item.ptr());
    if (number < 0) {
      PyErr_Clear();
      std::string text = std::string(name) + ": negative or too large";
      throw nb::value_error(text.c_str());
    }
    return static_cast<uint64_t>(number);
  };
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    if (nb::len(value) != 4) {
      std::string text = std::string(name) + ": expected exactly four values, one for each ring";
      throw nb::value_error(text.c_str());
    }
    for (size_t i = 0; i < 4; ++i)
      result[i] = number(value[i]);
  } else {
    result.fill(number(value));
  }
  return result;
}

std::string CallConfig::problem() const {
  if ((swimlane || dumpArgs || pmu || depGen || scopeStats) && outputPrefix.empty())
    return "CallConfig: a diagnostic is on but output_prefix is empty";
  if (outputPrefix.size() >= 1024)
    return "CallConfig: output_prefix has 1024 bytes or more";
  for (int ring = 0; ring < 4; ++ring) {
    uint64_t window = env.taskWindow[ring], heap = env.heap[ring], pool = env.depPool[ring];
    if (window && (window < 4 || window > INT32_MAX || (window & (window - 1))))
      return "CallConfig: ring_task_window " + std::to_string(window) +
             " is no power of two in 4..2^31-1";
    if (heap && heap < 1024)
      return "CallConfig: ring_heap " + std::to_string(heap) + " is below 1024 bytes";
    if (pool && (pool < 4 || pool > INT32_MAX))
      return "CallConfig: ring_dep_pool " + std::to_string(pool) + " is not in 4..2^31-1";
  }
  return "";
}

SimplerCallOptions CallConfig::options(bool hostBuildGraph) const {
  SimplerCallOptions options{};
  std::memcpy(options.ring_task_window, env.taskWindow.data(), 32);
  std::memcpy(options.ring_heap, env.heap.data(), 32);
  std::memcpy(options.ring_dep_pool, env.depPool.data(), 32);
  options.host_build_graph = hostBuildGraph;
  options.swimlane = swimlane;
  options.dump_args = dumpArgs;
  options.pmu = pmu;
  options.dep_gen = depGen;
  options.scope_stats = scopeStats;
  options.output_prefix = outputPrefix.empty() ? nullptr : outputPrefix.c_str();
  return options;
}

/// A level that may also be given as a bool.
static int32_t level(nb::handle value, int32_t whenTrue, int32_t limit, const char *name) {
  if (PyBool_Check(value.ptr()))
    return value.ptr() == Py_True ? whenTrue : 0;
  if (!PyLong_Check(value.ptr())) {
    std::string text = std::string(name) + ": expected an int or a bool";
    throw nb::type_error(text.c_str());
  }
  long number = PyLong_AsLong(value.ptr());
  PyErr_Clear();
  return static_cast<int32_t>(number < 0 ? 0 : number > limit ? limit : number);
}

static bool strictBool(nb::handle value, const char *name) {
  if (!PyBool_Check(value.ptr())) {
    std::string text = std::string(name) + ": expected a bool";
    throw nb::type_error(text.c_str());
  }
  return value.ptr() == Py_True;
}

static void bindCallConfig(nb::module_ &m) {
  nb::class_<RuntimeEnv>(m, "RuntimeEnv", "Budgets by ring; 0 = no limit.")
      .def(nb::init<>())
      .def_prop_rw(
          "ring_task_window",
          [](const RuntimeEnv &e) {
            return std::vector<uint64_t>(e.taskWindow.begin(), e.taskWindow.end());
          },
          [](RuntimeEnv &e, nb::handle v) { e.taskWindow = ringValues(v, "ring_task_window"); })
      .def_prop_rw(
          "ring_heap",
          [](const RuntimeEnv &e) { return std::vector<uint64_t>(e.heap.begin(), e.heap.end()); },
          [](RuntimeEnv &e, nb::handle v) { e.heap = ringValues(v, "ring_heap"); })
      .def_prop_rw(
          "ring_dep_pool",
          [](const RuntimeEnv &e) {
            return std::vector<uint64_t>(e.depPool.begin(), e.depPool.end());
          },
          [](RuntimeEnv &e, nb::handle v) { e.depPool = ringValues(v, "ring_dep_pool"); });
  nb::class_<CallConfig>(m, "CallConfig", "Options of one run.")
      .def(nb::init<>())
      .def_rw("aicpu_thread_num", &CallConfig::aicpuThreads)
      .def_prop_rw(
          "enable_chip_swimlane", [](const CallConfig &c) { return c.swimlane; },
          [](CallConfig &c, nb::handle v) { c.swimlane = level(v, 4, 4, "enable_chip_swimlane"); })
      .def_prop_rw(
          "enable_dump_args", [](const CallConfig &c) { return c.dumpArgs; },
          [](CallConfig &c, nb::handle v) { c.dumpArgs = level(v, 1, 3, "enable_dump_args"); })
      .def_prop_rw(
          "enable_pmu", [](const CallConfig &c) { return c.pmu; },
          [](CallConfig &c, nb::handle v) { c.pmu = level(v, 2, 1 << 20, "enable_pmu"); })
      .def_prop_rw(
          "enable_dep_gen", [](const CallConfig &c) { return c.depGen; },
          [](CallConfig &c, nb::handle v) { c.depGen = strictBool(v, "enable_dep_gen"); })
      .def_prop_rw(
          "enable_scope_stats", [](const CallConfig &c) { return c.scopeStats; },
          [](CallConfig &c, nb::handle v) { c.scopeStats = strictBool(v, "enable_scope_stats"); })
      .def_rw("output_prefix", &CallConfig::outputPrefix)
      .def_prop_rw(
          "runtime_env", [](CallConfig &c) -> RuntimeEnv & { return c.env; },
          [](CallConfig &c, const RuntimeEnv &e) { c.env = e; }, nb::rv_policy::reference_internal)
      .def("validate", [](const CallConfig &c) {
        std::string problem = c.problem();
        if (!problem.empty())
          throw nb::value_error(problem.c_str());
      });
}

void bindArgs(nb::module_ &m) {
  bindTensor(m);
  bindTaskArgs(m);
  bindCallConfig(m);
}

} // namespace simpler::py
