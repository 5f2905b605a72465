//===- bind_worker.cpp - a device's queue of runs -------------------------===//
//
// Runs of one worker take effect in order. `run` executes on the calling thread when
// nothing is queued; `submit` queues for the lane's thread and returns at once.
//
//===----------------------------------------------------------------------===//
#include "RunLane.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

namespace simpler::py {

void raiseRunError(int32_t status, const std::string &text) {
  nb::object type = nb::module_::import_("simpler.errors").attr("RunError");
  std::string message = "run failed with code -" + std::to_string(status) + ": " + text;
  nb::object error = type(message, status);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

[[noreturn]] static void refuseType(const char *what, const char *expected, nb::handle got) {
  std::string text = std::string(what) + ": expected " + expected + ", got " +
                     nb::cast<std::string>(got.type().attr("__name__"));
  throw nb::type_error(text.c_str());
}

static TaskArgs &checkedArgs(const char *what, nb::handle args) {
  if (!nb::isinstance<TaskArgs>(args))
    refuseType(what, "TaskArgs", args);
  return nb::cast<TaskArgs &>(args);
}

static CallConfig checkedConfig(const char *what, nb::handle config) {
  if (config.is_none())
    return {};
  if (!nb::isinstance<CallConfig>(config))
    refuseType(what, "a CallConfig", config);
  CallConfig result = nb::cast<CallConfig>(config);
  std::string problem = result.problem();
  if (!problem.empty())
    throw nb::value_error(problem.c_str());
  return result;
}

void bindWorker(nb::module_ &m) {
  nb::class_<RunState>(m, "RunState", "One submitted run.")
      .def_prop_ro("done", [](const RunState &s) { return s.done(); })
      .def(
          "wait_raw", // the rest of RunHandle is Python
          [](RunState &s, std::optional<double> timeout) {
            bool ended;
            {
              GilRelease release;
              ended = s.wait(timeout ? *timeout : -1.0);
            }
            if (ended) // the caller may rely on it, whatever the lane's thread does
              s.retire();
            return ended;
          },
          nb::arg("timeout") = nb::none())
      .def("raise_if_failed",
           [](RunState &s) {
             if (s.status())
               raiseRunError(s.status(), s.message());
           })
      .def("cancel", &RunState::cancel)
      .def("on_done", &RunState::onDone, nb::arg("callback"));
  nb::class_<RunLane>(m, "DeviceLane", "One simulated device with its ordered queue of runs.")
      .def(nb::new_(&RunLane::create), nb::arg("platform"), nb::arg("threads"),
           nb::arg("host_build_graph"))
      .def(
          "run",
          [](RunLane &lane, std::shared_ptr<Loaded> callable, nb::handle args, nb::handle config) {
            lane.run(std::move(callable), checkedArgs("Worker.run", args),
                     checkedConfig("Worker.run", config));
          },
          nb::arg("callable"), nb::arg("args"), nb::arg("config").none())
      .def(
          "submit",
          [](RunLane &lane, std::shared_ptr<Loaded> callable, nb::handle args, nb::handle config) {
            return lane.submit(std::move(callable), checkedArgs("Worker.submit", args),
                               checkedConfig("Worker.submit", config));
          },
          nb::arg("callable"), nb::arg("args"), nb::arg("config").none())
      .def("drain", &RunLane::drain, nb::call_guard<GilRelease>())
      .def("interrupt", &RunLane::interrupt)
      .def("trace_start", &RunLane::traceStart)
      .def("trace_write", &RunLane::traceWrite, nb::arg("path"))
      .def("close", &RunLane::close, nb::call_guard<GilRelease>());
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&RunLane::endAll));
}

} // namespace simpler::py
