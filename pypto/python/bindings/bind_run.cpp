//===- bind_run.cpp - kernels of `.pto` files from Python -----------------===//
//
// pto_open(text, name, arch, entry, check) -> (capsule, entry, ((name, type, element, bytes), …))
// pto_run(capsule, ((word, bytes), …), blocks)
// pto_scalar(capsule, index, text) -> word
//
// Errors of the text and faults of the kernel are ValueError and RuntimeError with the full
// message; pypto.runtime.pto_file makes pypto's errors of them.
//
//===----------------------------------------------------------------------===//
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "EndlessKernel.h"
#include "ptoas/Driver/Runner.h"
#include "simpler/c_api.h"
#include "simpler/kernel_context.h"

using ptoas::Runner;

namespace {
constexpr const char *kCapsule = "pypto.pto_runner";

Runner *runnerOf(PyObject *capsule) {
  return static_cast<Runner *>(PyCapsule_GetPointer(capsule, kCapsule));
}

PyObject *raise(PyObject *kind, const std::string &text) {
  PyErr_SetString(kind, text.c_str());
  return nullptr;
}
//===----------------------------------------------------------------------===//
// Functions of a cluster as blocks of simpler that co-run
//===----------------------------------------------------------------------===//

struct Gang {
  int count;
  void (*member)(void *context, int i, void (*yield)());
  void *context;
};

// How many blocks simpler starts together on any platform; more run on threads of their own.
constexpr int kMaxGang = 24;

void gangMember(int64_t *args) {
  auto &gang = *reinterpret_cast<Gang *>(args[0]);
  auto &local = *reinterpret_cast<LocalContext *>(args[kLocalContextWord]);
  auto &global = *reinterpret_cast<GlobalContext *>(args[kGlobalContextWord]);
  gang.member(gang.context, local.block_idx, global.yield);
}

const SimplerKernel gangKernel = {gangMember, "run_pto", nullptr, 0, SIMPLER_AIV};

void submitGang(SimplerRun *run, const ChipTensor *, const uint64_t *scalars) {
  SimplerLaunch launch = {};
  launch.block_num = reinterpret_cast<Gang *>(scalars[0])->count;
  launch.sync_start = 1;
  simpler_submit(run, &gangKernel, nullptr, nullptr, 0, scalars, 1, &launch);
}

void coRun(void *host, int count, void (*member)(void *, int, void (*)()), void *context) {
  Gang gang{count, member, context};
  uint64_t word = reinterpret_cast<uint64_t>(&gang);
  if (simpler_run(simpler_worker_default(), submitGang, nullptr, 0, &word, 1) != 0)
    *static_cast<std::string *>(host) = simpler_last_error();
}
} // namespace

PyObject *openPto(PyObject *, PyObject *arguments) {
  const char *text, *name, *arch, *entry;
  Py_ssize_t size;
  int check;
  if (!PyArg_ParseTuple(arguments, "s#sssp", &text, &size, &name, &arch, &entry, &check))
    return nullptr;
  ptoas::RunnerOptions options;
  options.arch = arch;
  options.entry = entry;
  options.check = check != 0;
  std::string problem, diagnostics;
  std::unique_ptr<Runner> runner;
  bool compiled = false;
  Py_BEGIN_ALLOW_THREADS;
  runner = Runner::open({text, static_cast<size_t>(size)}, name, options, problem, &diagnostics);
  compiled = runner && runner->compile(problem, &diagnostics);
  Py_END_ALLOW_THREADS;
  if (!compiled)
    return raise(PyExc_ValueError, diagnostics.empty() ? problem : diagnostics);
  if (check && !diagnostics.empty())
    PySys_FormatStderr("%s", diagnostics.c_str()); // warnings
  PyObject *list = PyTuple_New(runner->arguments().size());
  if (!list)
    return nullptr;
  Py_ssize_t i = 0;
  for (const ptoas::RunnerArgument &argument : runner->arguments()) {
    PyObject *item = Py_BuildValue("(sssI)", argument.name.c_str(), argument.type.c_str(),
                                   argument.element.c_str(), argument.bytes);
    if (!item) {
      Py_DECREF(list);
      return nullptr;
    }
    PyTuple_SET_ITEM(list, i++, item);
  }
  std::string entryName = runner->entryName();
  PyObject *capsule =
      PyCapsule_New(runner.release(), kCapsule, [](PyObject *object) { delete runnerOf(object); });
  return Py_BuildValue("(NsN)", capsule, entryName.c_str(), list);
}

PyObject *runPto(PyObject *, PyObject *arguments) {
  PyObject *capsule, *given;
  long long blocks;
  if (!PyArg_ParseTuple(arguments, "OO!L", &capsule, &PyTuple_Type, &given, &blocks))
    return nullptr;
  Runner *runner = runnerOf(capsule);
  if (!runner)
    return nullptr;
  std::vector<ptoas::RunnerValue> values;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); ++i) {
    unsigned long long word;
    long long bytes;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(given, i), "KL", &word, &bytes))
      return nullptr;
    values.push_back({word, bytes});
  }
  ptoas::Runner::Launch launch;
  launch.blocks = blocks;
  std::string problem, diagnostics, launchError, notes;
  if (static_cast<long long>(runner->members().size()) * (runner->blocksMeet() ? blocks : 1) <=
      kMaxGang) {
    launch.coRun = coRun;
    launch.host = &launchError;
  }
  bool good;
  if (!runner->checkExtents(values, problem, &diagnostics))
    return raise(PyExc_ValueError, diagnostics.empty() ? problem : diagnostics);
  {
    pypto::RunsKernel runs(runner->entryName().c_str());
    Py_BEGIN_ALLOW_THREADS;
    good = runner->run(values, launch, problem, &notes);
    Py_END_ALLOW_THREADS;
  }
  if (!good || !launchError.empty())
    return raise(PyExc_RuntimeError, good ? launchError : problem);
  return PyUnicode_FromStringAndSize(notes.data(), static_cast<Py_ssize_t>(notes.size()));
}

PyObject *ptoScalar(PyObject *, PyObject *arguments) {
  PyObject *capsule;
  unsigned index;
  const char *text;
  if (!PyArg_ParseTuple(arguments, "OIs", &capsule, &index, &text))
    return nullptr;
  Runner *runner = runnerOf(capsule);
  if (!runner)
    return nullptr;
  uint64_t word = 0;
  if (index >= runner->arguments().size() || !runner->parseScalar(index, text, word))
    return raise(PyExc_ValueError, std::string("no value of this type: ") + text);
  return PyLong_FromUnsignedLongLong(word);
}
