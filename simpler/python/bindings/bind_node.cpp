//===- bind_node.cpp - level 3: a node of devices and Python functions ----===//
//
// Thin: simpler.worker forks the children, these classes do the rest (node/NodeLane.h).
//
//===----------------------------------------------------------------------===//
#include "node/NodeChild.h"
#include "node/NodeLane.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <unistd.h>

namespace simpler::py {

namespace {

/// A run with the node that it belongs to.
struct RunOfNode {
  std::shared_ptr<NodeLane> lane;
  std::shared_ptr<NodeRun> run;
};

NodeMember makeMember(RunOfNode &of, uint64_t callable, const std::string &name,
                      const TaskArgs &args) {
  NodeMember member;
  member.name = name;
  member.callable = callable;
  member.tags = args.tags;
  member.scalars = args.scalars;
  for (const HostTensor &tensor : args.tensors) {
    member.tensors.push_back(tensor.chip);
    if (tensor.buffer.is_valid() && !tensor.buffer.is_none())
      of.run->keep.push_back(tensor.buffer);
  }
  return member;
}

void submitDevices(RunOfNode &of, uint64_t callable, const std::string &name,
                   const std::vector<const TaskArgs *> &args, const CallConfig &config,
                   const std::vector<int32_t> &devices) {
  std::string problem = config.problem();
  if (!problem.empty())
    throw nb::value_error(problem.c_str());
  bool writes =
      config.swimlane || config.dumpArgs || config.pmu || config.depGen || config.scopeStats;
  std::vector<NodeMember> members;
  size_t serial = of.run->serial++;
  for (size_t i = 0; i < args.size(); ++i) {
    NodeMember &member = members.emplace_back(makeMember(of, callable, name, *args[i]));
    member.device = devices[i];
    member.config = config;
    if (writes) // each run on a device leaves files of its own
      member.config.outputPrefix +=
          "/task" + std::to_string(serial) + "_device" + std::to_string(devices[i]);
  }
  of.lane->submit(of.run, std::move(members));
}

void submitPython(RunOfNode &of, uint64_t callable, const std::string &name,
                  const std::vector<const TaskArgs *> &args) {
  std::vector<NodeMember> members;
  for (const TaskArgs *one : args)
    members.push_back(makeMember(of, callable, name, *one));
  ++of.run->serial;
  of.lane->submit(of.run, std::move(members));
}

} // namespace

void bindNode(nb::module_ &m) {
  nb::class_<SharedHeap>(m, "SharedHeap", "Memory that a node and its children share.")
      .def_prop_ro("used", &SharedHeap::used)
      .def_prop_ro("capacity", &SharedHeap::capacity);
  nb::class_<NodeChild>(m, "NodeChild", "The side of a forked child.")
      .def("serve_device", &NodeChild::serveDevice, nb::arg("lane"), nb::arg("callables"))
      .def("serve_python", &NodeChild::servePython, nb::arg("call"), nb::arg("define"))
      .def("refuse", &NodeChild::refuse, nb::arg("why"))
      .def_prop_ro("should_stop", &NodeChild::shouldStop);
  nb::class_<RunOfNode>(m, "NodeRun", "One run of a node's program.")
      .def_prop_ro("done", [](const RunOfNode &of) { return of.run->done.load(); })
      .def(
          "wait_raw",
          [](RunOfNode &of, std::optional<double> timeout) {
            bool ended;
            {
              GilRelease release;
              ended = of.lane->wait(*of.run, timeout ? *timeout : -1.0);
            }
            if (ended) // the caller may rely on it, whatever the reactor does
              of.lane->retire(*of.run);
            return ended;
          },
          nb::arg("timeout") = nb::none())
      .def("raise_if_failed",
           [](RunOfNode &of) {
             if (of.run->status)
               raiseRunError(of.run->status, of.run->message);
           })
      .def("cancel", [](RunOfNode &of) { return of.lane->cancel(of.run); })
      .def("on_done", [](RunOfNode &of, nb::object f) { of.lane->onDone(of.run, std::move(f)); })
      .def("submit_devices", &submitDevices, nb::arg("callable"), nb::arg("name"), nb::arg("args"),
           nb::arg("config"), nb::arg("devices"))
      .def("submit_python", &submitPython, nb::arg("callable"), nb::arg("name"), nb::arg("args"))
      .def(
          "seal", [](RunOfNode &of, const std::string &error) { of.lane->sealRun(of.run, error); },
          nb::arg("error") = "", "The program has ended, or raised `error`.")
      .def(
          "allocate",
          [](RunOfNode &of, uint64_t bytes) {
            return reinterpret_cast<uintptr_t>(of.lane->allocate(bytes, of.run));
          },
          nb::arg("nbytes"),
          "Address of shared memory that lives as long as the run; 0: none left.");
  nb::class_<NodeLane>(m, "NodeLane", "Devices and Python workers in processes behind one graph.")
      .def(nb::new_([](int32_t devices, int32_t subWorkers, uint64_t heapBytes, double grace) {
             return ownedByPython(NodeLane::create(devices, subWorkers, heapBytes, grace));
           }),
           nb::arg("devices"), nb::arg("sub_workers"), nb::arg("heap_bytes"),
           nb::arg("grace_seconds"))
      .def("open_channel", &NodeLane::openChannel, nb::arg("child"))
      .def("forked", &NodeLane::forked, nb::arg("child"), nb::arg("pid"))
      .def(
          "child_of",
          [](NodeLane &lane, int32_t child) {
            auto [socket, mailbox] = lane.childOf(child);
            return new NodeChild(socket, mailbox, getppid());
          },
          nb::arg("child"), nb::rv_policy::take_ownership)
      .def("start", &NodeLane::start, nb::arg("seconds"), nb::call_guard<GilRelease>())
      .def(
          "define",
          [](NodeLane &lane, uint64_t callable, nb::bytes contents) {
            lane.define(callable, std::string(contents.c_str(), contents.size()));
          },
          nb::arg("callable"), nb::arg("contents"))
      .def("forget", &NodeLane::forget, nb::arg("callable"))
      .def("begin_run", [](NodeLane &lane) { return RunOfNode{lane.self(), lane.beginRun()}; })
      .def("wait_idle", &NodeLane::waitIdle, nb::arg("seconds"), nb::call_guard<GilRelease>())
      .def("wait_quiet", &NodeLane::waitQuiet, nb::arg("lo"), nb::arg("hi"), nb::arg("seconds"),
           nb::call_guard<GilRelease>())
      .def("cancel_all", &NodeLane::cancelAll)
      .def(
          "allocate",
          [](NodeLane &lane, uint64_t bytes) {
            return reinterpret_cast<uintptr_t>(lane.allocate(bytes, nullptr));
          },
          nb::arg("nbytes"), "Address of zeroed shared memory; 0: none left.")
      .def(
          "release",
          [](NodeLane &lane, uint64_t address) {
            lane.release(reinterpret_cast<char *>(static_cast<uintptr_t>(address)));
          },
          nb::arg("address"))
      .def("share", &NodeLane::share, nb::arg("name"), nb::arg("base"), nb::arg("nbytes"))
      .def("unshare", &NodeLane::unshare, nb::arg("base"))
      .def_prop_ro("heap", &NodeLane::heap)
      .def_prop_ro("pids", &NodeLane::pids, "Process ids by child, -1: gone.")
      .def("close", &NodeLane::close, nb::call_guard<GilRelease>());
}

} // namespace simpler::py
