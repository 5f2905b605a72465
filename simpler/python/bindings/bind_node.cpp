//===- bind_node.cpp - level 3: devices and Python functions in one graph -===//
//
// A node's program runs as an orchestration of this same runtime, on a worker whose
// "kernels" start runs on the devices or call Python. Tasks are ordered by the byte
// ranges of their tensors; tasks of one device also by a token that each of them writes,
// because a device takes its runs in the order of submission.
//
//===----------------------------------------------------------------------===//
#include "RunLane.h"

#include <nanobind/stl/shared_ptr.h>

namespace simpler::py {

namespace {

struct Node;

struct NodeTask {
  Node *node;
  SimplerRun *run;
  RunLane *lane = nullptr; // device task
  std::shared_ptr<Loaded> callable;
  CallConfig config;
  nb::object function; // Python task
  TaskArgs args;
};

struct Node {
  std::vector<std::shared_ptr<RunLane>> chips;
  SimplerWorker *worker = nullptr;
  SimplerRun *run = nullptr; // while a program executes
  std::vector<std::unique_ptr<NodeTask>> tasks;
  struct alignas(64) Token {
    uint64_t word;
  };
  std::vector<Token> tokens;

  Node(const Node &) = delete;

  Node(std::vector<std::shared_ptr<RunLane>> devices, int32_t subWorkers)
      : chips(std::move(devices)), tokens(chips.size()) {
    worker = simpler_worker_create("a2a3sim", static_cast<int32_t>(chips.size()) + subWorkers + 1);
    if (!worker)
      throw nb::value_error(simpler_last_error());
  }
  ~Node() { close(); }
  void close() {
    if (worker) {
      nb::gil_scoped_release release;
      simpler_worker_destroy(worker);
    }
    worker = nullptr;
  }
  uint64_t submit(std::unique_ptr<NodeTask> task, const SimplerKernel &kernel, ChipTensor *token);
  void execute(nb::object program);
};

ChipTensor placeholder() {
  static uint64_t word;
  uint32_t one[1] = {1};
  return make_tensor_external(&word, one, 1, DataType::UINT64);
}

NodeTask &taskOf(int64_t *args, int word) {
  return *reinterpret_cast<NodeTask *>(static_cast<uintptr_t>(args[word]));
}

// The scalar follows the tensors; a node task has its own tensors and maybe a token.
void runDeviceTask(int64_t *args) {
  auto *first = reinterpret_cast<ChipTensor *>(static_cast<uintptr_t>(args[0]));
  NodeTask &task = taskOf(args, first->reserved[0]);
  std::vector<ChipTensor> tensors;
  for (const HostTensor &t : task.args.tensors)
    tensors.push_back(t.chip);
  std::string message;
  int32_t status =
      task.lane->runHere(*task.callable, tensors, task.args.scalars, task.config, message);
  if (status)
    simpler_fail(task.run, status, message.c_str());
}

void runPythonTask(int64_t *args) {
  // A Python task also has a first descriptor, which says where the scalar is.
  auto *first = reinterpret_cast<ChipTensor *>(static_cast<uintptr_t>(args[0]));
  NodeTask &task = taskOf(args, first->reserved[0]);
  nb::gil_scoped_acquire gil;
  try {
    task.function(nb::cast(&task.args, nb::rv_policy::reference));
  } catch (nb::python_error &error) {
    simpler_fail(task.run, SIMPLER_KERNEL_FAILED,
                 (std::string("a Python task raised ") + error.what()).c_str());
  }
}

const SimplerKernel kDeviceTask{runDeviceTask, "device task", nullptr, 0, SIMPLER_AIV};
const SimplerKernel kPythonTask{runPythonTask, "python task", nullptr, 0, SIMPLER_AIV};

uint64_t Node::submit(std::unique_ptr<NodeTask> task, const SimplerKernel &kernel,
                      ChipTensor *token) {
  if (!run)
    throw std::runtime_error("tasks are submitted by the program of a run, which is over");
  task->node = this;
  task->run = run;
  std::vector<ChipTensor> descriptors;
  std::vector<uint8_t> tags;
  // The first descriptor also tells the kernel how many there are. A Python task is bound to no
  // device: its token is tracked by nobody.
  descriptors.push_back(token ? *token : placeholder());
  tags.push_back(token ? SIMPLER_ARG_INOUT : SIMPLER_ARG_NO_DEP);
  for (size_t i = 0; i < task->args.tensors.size(); ++i) {
    descriptors.push_back(task->args.tensors[i].chip);
    int32_t tag = task->args.tags[i];
    tags.push_back(static_cast<uint8_t>(tag == 1 ? SIMPLER_ARG_OUTPUT_EXISTING : tag));
  }
  if (descriptors.size() > SIMPLER_MAX_TENSORS)
    throw nb::value_error("a node task takes at most 31 tensors");
  uint64_t word = reinterpret_cast<uintptr_t>(task.get());
  descriptors[0].reserved[0] = static_cast<uint8_t>(descriptors.size());
  std::vector<const ChipTensor *> pointers;
  for (ChipTensor &d : descriptors)
    pointers.push_back(&d);
  tasks.push_back(std::move(task));
  nb::gil_scoped_release release; // running tasks may need it before this one can be queued
  return simpler_submit(run, &kernel, pointers.data(), tags.data(),
                        static_cast<int32_t>(pointers.size()), &word, 1, nullptr);
}

void Node::execute(nb::object program) {
  struct Context {
    Node *node;
    nb::object program;
    std::unique_ptr<nb::python_error> error;
  } context{this, std::move(program), nullptr};
  uint64_t word = reinterpret_cast<uintptr_t>(&context);
  int32_t status;
  {
    nb::gil_scoped_release release;
    InterruptScope interruptible(worker);
    status = simpler_run(
        worker,
        [](SimplerRun *run, const ChipTensor *, const uint64_t *scalars) {
          auto *context = reinterpret_cast<Context *>(static_cast<uintptr_t>(scalars[0]));
          nb::gil_scoped_acquire gil;
          context->node->run = run;
          try {
            context->program();
          } catch (nb::python_error &error) {
            context->error = std::make_unique<nb::python_error>(std::move(error));
            simpler_fail(run, SIMPLER_EXPLICIT_ORCH_FATAL, "the program raised an exception");
          }
          context->node->run = nullptr;
        },
        nullptr, 0, &word, 1);
  }
  std::string message = status ? simpler_last_error() : "";
  tasks.clear();
  if (context.error)
    throw nb::python_error(std::move(*context.error));
  if (status == SIMPLER_INTERRUPTED && PyErr_CheckSignals() != 0)
    throw nb::python_error();
  if (status)
    raiseRunError(status, message);
}

} // namespace

void bindNode(nb::module_ &m) {
  nb::class_<Node>(m, "NodeLane", "Several devices and Python workers behind one graph.")
      .def(nb::init<std::vector<std::shared_ptr<RunLane>>, int32_t>(), nb::arg("chips"),
           nb::arg("sub_workers"))
      .def("execute", &Node::execute, nb::arg("program"))
      .def(
          "submit_chip",
          [](Node &node, std::shared_ptr<Loaded> callable, const TaskArgs &args,
             const CallConfig &config, size_t chip) {
            std::string problem = config.problem();
            if (!problem.empty())
              throw nb::value_error(problem.c_str());
            if (chip >= node.chips.size())
              throw nb::index_error("worker: no such device");
            auto task = std::make_unique<NodeTask>();
            task->lane = node.chips[chip].get();
            task->callable = std::move(callable);
            task->args = args;
            task->config = config;
            uint32_t one[1] = {1};
            ChipTensor token = make_tensor_external(&node.tokens[chip], one, 1, DataType::UINT64);
            node.submit(std::move(task), kDeviceTask, &token);
          },
          nb::arg("callable"), nb::arg("args"), nb::arg("config"), nb::arg("worker"))
      .def(
          "submit_python",
          [](Node &node, nb::object function, const TaskArgs &args) {
            auto task = std::make_unique<NodeTask>();
            task->function = std::move(function);
            task->args = args;
            node.submit(std::move(task), kPythonTask, nullptr);
          },
          nb::arg("function"), nb::arg("args"))
      .def("fail",
           [](Node &node, const std::string &text) {
             if (node.run)
               simpler_fail(node.run, SIMPLER_EXPLICIT_ORCH_FATAL, text.c_str());
           })
      .def("scope_begin",
           [](Node &node) {
             if (node.run)
               simpler_scope_begin(node.run, 0);
           })
      .def("scope_end",
           [](Node &node) {
             if (node.run)
               simpler_scope_end(node.run);
           })
      .def("close", &Node::close);
}

} // namespace simpler::py
