//===- Module.cpp - torch_npu._C ------------------------------------------===//
//
// Only what torch's own generic device API does not reach.
//
//===----------------------------------------------------------------------===//
#include "Execute.h"
#include "Format.h"
#include "Generator.h"

#include "npu_runtime/Graph.h"
#include "support/PythonThreads.h"

#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/pybind.h>

namespace py = pybind11;
using namespace npu;

namespace {

struct GilHooks {
  static void *enter() {
    return Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread() : nullptr;
  }
  static void leave(void *token) {
    if (token)
      pto::python::restoreThread(static_cast<PyThreadState *>(token));
  }
};

py::dict memoryStats(int index) {
  MemoryStats s = device(index).allocator().stats();
  py::dict out;
  auto put = [&](const char *name, const Stat3 &stat) {
    static const char *kinds[] = {"all", "small_pool", "large_pool"};
    for (size_t i = 0; i < 3; ++i) {
      std::string prefix = std::string(name) + "." + kinds[i] + ".";
      out[py::str(prefix + "current")] = stat[i].current;
      out[py::str(prefix + "peak")] = stat[i].peak;
      out[py::str(prefix + "allocated")] = stat[i].allocated;
      out[py::str(prefix + "freed")] = stat[i].freed;
    }
  };
  put("allocation", s.allocations);
  put("segment", s.segments);
  put("active", s.active);
  put("allocated_bytes", s.allocatedBytes);
  put("reserved_bytes", s.reservedBytes);
  put("active_bytes", s.activeBytes);
  put("requested_bytes", s.requestedBytes);
  out["num_alloc_retries"] = s.retries;
  out["num_ooms"] = s.outOfMemory;
  out["num_device_alloc"] = s.deviceAllocs;
  out["num_device_free"] = s.deviceFrees;
  return out;
}

py::list memorySegments(int index) {
  py::list out;
  for (const auto &segment : device(index).allocator().segments()) {
    py::dict one;
    one["device"] = index;
    one["address"] = reinterpret_cast<uintptr_t>(segment.address);
    one["total_size"] = segment.bytes;
    one["allocated_size"] = segment.allocated;
    one["stream"] = segment.streamId;
    one["segment_pool_id"] = py::make_tuple(segment.pool, 0);
    one["segment_type"] = segment.large ? "large" : "small";
    out.append(one);
  }
  return out;
}

py::dict properties() {
  const Config &c = config();
  py::dict out;
  out["name"] = c.soc.name;
  out["arch"] = c.soc.arch;
  out["total_memory"] = c.memoryBytes;
  out["cube_core_num"] = c.soc.cubeCores;
  out["vector_core_num"] = c.soc.vectorCores;
  out["L2_cache_size"] = c.soc.l2Bytes;
  return out;
}

CaptureMode captureMode(const std::string &mode) {
  if (mode == "global" || mode == "default")
    return CaptureMode::Global;
  if (mode == "thread_local")
    return CaptureMode::ThreadLocal;
  if (mode == "relaxed")
    return CaptureMode::Relaxed;
  throw py::value_error("capture_error_mode must be 'global', 'thread_local' or 'relaxed', not '" +
                        mode + "'");
}

Stream &streamOf(int index, int64_t id) { return device(index).stream(id); }

} // namespace

PYBIND11_MODULE(_C, m) {
  pto::python::keepProcessFromTerminating();
  setWaitHooks({&GilHooks::enter, &GilHooks::leave});

  m.def("_npu_init", [] { initialize(); });
  m.def("_npu_initialized", [] { return initialized(); });
  m.def("_npu_isInBadFork", [] { return inBadFork(); });
  m.def("_npu_getDeviceCount", [] { return deviceCount(); });
  m.def("_npu_getDevice", [] { return currentDevice(); });
  m.def("_npu_setDevice", [](int index) { setCurrentDevice(index); });
  m.def("_npu_properties", properties);
  m.def("_npu_synchronize", [](int index) { device(index).synchronize(); });
  m.def("_npu_shutdown_synchronize", [] { return shutdownSynchronize(); });
  m.def("_npu_shutdown", [](bool) { shutdown(); }, py::arg("success") = true);

  m.def("_npu_getDefaultStreamId", [](int index) { return device(index).defaultStream().id(); });
  m.def("_npu_getCurrentStreamId", [](int index) { return currentStream(index).id(); });
  m.def("_npu_getCurrentRawStream",
        [](int index) { return reinterpret_cast<uintptr_t>(&currentStream(index)); });
  m.def("_npu_getStreamFromPool",
        [](int index, int priority) { return device(index).streamFromPool(priority).id(); });
  m.def("_npu_getSyncLaunchStream",
        [](int index) { return device(index).syncLaunchStream().id(); });
  m.def("_npu_setStream", [](int index, int64_t id) { setCurrentStream(streamOf(index, id)); });
  m.def("_npu_streamHandle",
        [](int index, int64_t id) { return reinterpret_cast<uintptr_t>(&streamOf(index, id)); });
  m.def("_npu_drainQueue", [](int index, int64_t id) {
    Stream &stream = streamOf(index, id);
    device(index).taskQueue(stream).drain();
  });
  m.def("_npu_elapsedTime", [](uintptr_t start, uintptr_t end) {
    if (!start || !end)
      throw DeviceError("NPU event elapsed_time: both events must be recorded first");
    return reinterpret_cast<Event *>(start)->elapsedTo(*reinterpret_cast<Event *>(end));
  });
  m.def("_npu_isCapturing", [] { return currentStream(currentDevice()).capture() != nullptr; });

  m.def("_npu_emptyCache", [] { torchAllocator().emptyCache(); });
  m.def("_npu_memoryStats", memoryStats);
  m.def("_npu_memorySegments", memorySegments);
  m.def("_npu_resetPeak", [](int index) { device(index).allocator().resetPeak(); });
  m.def("_npu_resetAccumulated", [](int index) { device(index).allocator().resetAccumulated(); });
  m.def("_npu_setMemoryLimit",
        [](int index, size_t bytes) { device(index).allocator().setLimit(bytes); });
  m.def("_npu_memoryLimit", [](int index) { return device(index).allocator().limit(); });

  m.def("_npu_defaultGenerator", [](int index) -> py::object {
    return py::reinterpret_steal<py::object>(
        THPGenerator_initDefaultGenerator(defaultGenerator(index)));
  });
  m.def("_npu_setAllowInternalFormat", setAllowInternalFormat);
  m.def("_npu_getAllowInternalFormat", allowInternalFormat);
  m.def("_npu_countOperators", countExecuted);
  m.def("_npu_executedOperators", executedOperators);
  m.def("_npu_taskQueueMode", [] { return config().taskQueueMode; });

  m.def("_graph_pool_handle", [] { return std::make_pair(uint64_t(0), newPoolId()); });
  py::class_<Graph>(m, "_NPUGraph")
      .def(py::init<>())
      .def("capture_begin",
           [](Graph &graph, std::optional<std::pair<uint64_t, uint64_t>> pool,
              const std::string &mode) {
             graph.begin(currentStream(currentDevice()),
                         pool ? std::max(pool->first, pool->second) : 0, captureMode(mode));
           })
      .def("capture_end", [](Graph &graph) { graph.end(currentStream(currentDevice())); })
      .def("replay", [](Graph &graph) { graph.replay(currentStream(currentDevice())); })
      .def("reset", &Graph::reset)
      // Nodes so far; what is queued for the capture counts.
      .def(
          "captured_size",
          [](const Graph &graph) {
            Stream &stream = currentStream(currentDevice());
            stream.device().taskQueue(stream).drain();
            return graph.size();
          },
          py::call_guard<py::gil_scoped_release>())
      .def("replace_nodes", &Graph::replaceNodes, py::call_guard<py::gil_scoped_release>())
      .def("pool", [](const Graph &graph) { return std::make_pair(graph.pool(), uint64_t(0)); })
      .def("node_names", &Graph::nodeNames);
}
