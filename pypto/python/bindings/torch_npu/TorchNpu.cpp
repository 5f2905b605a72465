//===- TorchNpu.cpp - pypto._torch_npu: what only torch_npu's C++ tells ----===//
//
// Life of the framework's device context, the physical storage of NZ tensors, and the anchor for
// what must outlive the interpreter. Knows torch and torch_npu, not the task runtime: nothing is
// launched here. All functions need the GIL.
//
//===----------------------------------------------------------------------===//
#include <torch_npu/csrc/core/npu/NPUFormat.h>
#include <torch_npu/csrc/core/npu/NPUGuard.h>
#include <torch_npu/csrc/core/npu/sys_ctrl/npu_sys_ctrl.h>

#include <optional>
#include <torch/csrc/utils/pybind.h>

namespace py = pybind11;

namespace {

bool frameworkAlive() { return c10_npu::NpuSysCtrl::GetInstance().GetInitFlag(); }

/// The device of the thread that a context is bound to. One per thread; a thread that ends without
/// unbinding ends with the process.
thread_local std::optional<c10_npu::NPUGuard> boundDevice;

/// The context that torch_npu made for a device. Borrowed: it is neither created nor destroyed
/// here.
class BorrowedContext {
public:
  explicit BorrowedContext(int device) : device_(device) { requireAlive(); }

  int device() const { return device_; }
  /// Makes the context the calling thread's, until unbind().
  void bind() const {
    requireAlive();
    boundDevice.reset();
    boundDevice.emplace(static_cast<c10::DeviceIndex>(device_));
  }
  void unbind() const {
    if (frameworkAlive())
      boundDevice.reset();
  }

private:
  void requireAlive() const {
    if (!frameworkAlive())
      throw std::runtime_error("the context of npu:" + std::to_string(device_) +
                               " cannot be borrowed: torch_npu has not initialised it, or has shut "
                               "down");
  }

  int device_;
};

/// Format code, sizes in that format, offset (elements) and capacity (bytes) of a tensor's storage.
py::tuple storageDescriptor(const at::Tensor &tensor) {
  if (tensor.device().type() != c10::DeviceType::PrivateUse1)
    throw py::type_error("storage_descriptor: expected an NPU tensor, got one on " +
                         tensor.device().str());
  return py::make_tuple(at_npu::native::get_npu_format(tensor),
                        py::tuple(py::cast(at_npu::native::get_npu_storage_sizes(tensor))),
                        tensor.storage_offset(), tensor.storage().nbytes());
}

} // namespace

PYBIND11_MODULE(_torch_npu, m) {
  m.attr("torch_version") = PYPTO_TORCH_VERSION;
  m.attr("cxx11_abi") = bool(_GLIBCXX_USE_CXX11_ABI);
  m.def("framework_alive", frameworkAlive, "From the first use of a device until its shutdown.");
  py::class_<BorrowedContext>(m, "BorrowedContext")
      .def_property_readonly("device_index", &BorrowedContext::device)
      .def("bind", &BorrowedContext::bind, "Makes it the calling thread's context.")
      .def("unbind", &BorrowedContext::unbind);
  m.def(
      "borrow_context", [](int device) { return BorrowedContext(device); }, py::arg("device"),
      "RuntimeError when torch_npu is not initialised or has shut down.");
  m.def("storage_descriptor", storageDescriptor, py::arg("tensor"),
        "(format, sizes in that format, storage offset in elements, capacity in bytes)");
  m.def(
      "retain_until_exit", [](const py::object &thing) { thing.inc_ref(); }, py::arg("thing"),
      "Never releases `thing`: its destructors must not run in a context that has ended.");
}
