//===- module.cpp - the extension simpler._task_interface -----------------===//
#include "Bindings.h"
#include "SourceDigest.h" // SIMPLER_BUILD_COMMIT

NB_MODULE(_task_interface, m) {
  pto::python::keepProcessFromTerminating();
  // A Worker that cannot be closed safely, or was a parent's, is kept until the process is gone:
  // not a leak to report.
  nb::set_leak_warnings(false);
  m.attr("__build_commit__") = SIMPLER_BUILD_COMMIT;
  m.attr("HOST_STRACE_ENABLED") = true; // written when SIMPLER_HOST_STRACE=1
  m.attr("DEFAULT_LOG_THRESHOLD") = 25;
  m.attr("MAX_TENSOR_DIMS") = MAX_TENSOR_DIMS;
  simpler::py::bindTypes(m);
  simpler::py::bindArgs(m);
  simpler::py::bindCallables(m);
  simpler::py::bindWorker(m);
  simpler::py::bindNode(m);
}
