//===- Argument.cpp - what a Python argument is ---------------------------===//
#include "Argument.h"
#include "DLPack.h"
#include "Errors.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace pypto::core {

/// A tensor as its owner describes it.
struct Source {
  void *data;
  const pto::DType *dtype;
  int rank;
  const int64_t *shape;
  const int64_t *strides; // in units of `strideUnit` bytes; null: row-major
  int64_t strideUnit;     // bytes; 0: elements
  bool readOnly;
};

namespace {

// Tensor types met so far; there are one or two in a process.
struct KnownType {
  PyTypeObject *type = nullptr; // owned
  const dlpack::ExchangeApi *api = nullptr;
};
std::array<KnownType, 8> knownTypes;

/// The exchange table of a type, null if it has none.
const dlpack::ExchangeApi *exchangeOf(PyTypeObject *type) {
  for (const KnownType &known : knownTypes) {
    if (known.type == type)
      return known.api;
    if (!known.type)
      break;
  }
  const dlpack::ExchangeApi *api = nullptr;
  PyObject *capsule =
      PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__");
  if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api")) {
    auto *header =
        static_cast<dlpack::ExchangeHeader *>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
    while (header && header->version.major > 1)
      header = header->previous;
    if (header && header->version.major == 1)
      api = reinterpret_cast<const dlpack::ExchangeApi *>(header);
    if (api && !api->tensorFromObject)
      api = nullptr;
  }
  Py_XDECREF(capsule);
  PyErr_Clear();
  for (KnownType &known : knownTypes)
    if (!known.type) {
      Py_INCREF(type);
      known = {type, api};
      break;
    }
  return api;
}

const pto::DType *dtypeOfFormat(const char *format, Py_ssize_t size) {
  std::string_view text = format ? format : "B";
  if (text.size() == 2 && std::strchr("@=<|", text[0]))
    text.remove_prefix(1);
  if (text.size() != 1)
    return nullptr;
  const int bits = static_cast<int>(size * 8);
  switch (text[0]) {
  case '?':
    return pto::dtypeByName("BOOL");
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
    return pto::dtypeByDLPack(0, bits);
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
    return pto::dtypeByDLPack(1, bits);
  case 'e':
  case 'f':
  case 'd':
    return pto::dtypeByDLPack(2, bits);
  }
  return nullptr;
}

/// Element types of NumPy extensions (ml_dtypes), which the buffer protocol cannot say.
const pto::DType *dtypeOfName(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"bfloat16", "BF16"},
      {"float8_e4m3fn", "FP8E4M3FN"},
      {"float8_e5m2", "FP8E5M2"},
      {"float8_e8m0fnu", "FP8E8M0"},
  };
  for (const auto &[numpy, ours] : names)
    if (numpy == name)
      return pto::dtypeByName(ours);
  return nullptr;
}

/// `what` is said where the object does not know the name of its element type.
bool unsupportedType(PyObject *object, const std::string &what) {
  PyObject *dtype = PyObject_GetAttrString(object, "dtype");
  PyObject *name = dtype ? PyObject_Str(dtype) : nullptr;
  const char *utf8 = name ? PyUnicode_AsUTF8(name) : nullptr;
  std::string text = utf8 ? utf8 : what;
  Py_XDECREF(dtype);
  Py_XDECREF(name);
  PyErr_Clear();
  setTypeError("element type " + text + " is not one that kernels have");
  return false;
}

} // namespace

void Argument::reset() {
  if (hasBuffer_)
    PyBuffer_Release(&buffer_);
  hasBuffer_ = false;
  Py_CLEAR(keep_);
}

bool Argument::read(PyObject *value) {
  object = value;
  PyTypeObject *type = Py_TYPE(value);
  if (type == &PyBool_Type) {
    kind = Bool;
    return true;
  }
  if (type == &PyLong_Type) {
    kind = Int;
    return true;
  }
  if (type == &PyFloat_Type) {
    kind = Float;
    return true;
  }
  if (const dlpack::ExchangeApi *api = exchangeOf(type))
    return readExchange(value, api);
  if (PyBytes_Check(value) || value == Py_None || PyUnicode_Check(value)) {
    kind = Other;
    return true;
  }
  // NumPy's scalars offer a buffer too; they are numbers.
  if (PyIndex_Check(value) && !PyObject_HasAttrString(value, "__setitem__")) {
    kind = Int;
    return true;
  }
  if (PyFloat_Check(value) ||
      (Py_TYPE(value)->tp_as_number && Py_TYPE(value)->tp_as_number->nb_float &&
       !PyObject_HasAttrString(value, "__setitem__"))) {
    kind = Float;
    return true;
  }
  if (PyObject_CheckBuffer(value)) {
    if (PyObject_GetBuffer(value, &buffer_, PyBUF_RECORDS_RO) == 0) {
      hasBuffer_ = true;
      return readBuffer(value);
    }
    PyErr_Clear();
  }
  if (PyObject_HasAttrString(value, "__array_interface__"))
    return readArrayInterface(value);
  if (PyObject_HasAttrString(value, "__dlpack__"))
    return readCapsule(value);
  kind = Other;
  return true;
}

bool Argument::readExchange(PyObject *value, const void *table) {
  dlpack::Tensor tensor;
  if (static_cast<const dlpack::ExchangeApi *>(table)->tensorFromObject(value, &tensor) != 0)
    return false;
  if (tensor.device.type != dlpack::DeviceCPU) {
    setValueError("the tensor is not in host memory; pass tensor.cpu()");
    return false;
  }
  const pto::DType *type = pto::dtypeByDLPack(tensor.dtype.code, tensor.dtype.bits);
  if (!type || tensor.dtype.lanes != 1)
    return unsupportedType(value, "of " + std::to_string(tensor.dtype.bits) +
                                      " bits (DLPack code " + std::to_string(tensor.dtype.code) +
                                      ")");
  return readTensor({static_cast<char *>(tensor.data) + tensor.byteOffset, type, tensor.rank,
                     tensor.shape, tensor.strides, 0, false});
}

bool Argument::readBuffer(PyObject *value) {
  const pto::DType *type = dtypeOfFormat(buffer_.format, buffer_.itemsize);
  if (!type) {
    if (PyObject_HasAttrString(value, "__array_interface__"))
      return readArrayInterface(value);
    return unsupportedType(value, std::string("'") + (buffer_.format ? buffer_.format : "?") + "'");
  }
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  return readTensor({buffer_.buf, type, buffer_.ndim,
                     reinterpret_cast<const int64_t *>(buffer_.shape),
                     reinterpret_cast<const int64_t *>(buffer_.strides), 1, buffer_.readonly != 0});
}

bool Argument::readArrayInterface(PyObject *value) {
  PyObject *interface = PyObject_GetAttrString(value, "__array_interface__");
  PyObject *dtypeObject = interface ? PyObject_GetAttrString(value, "dtype") : nullptr;
  PyObject *nameObject = dtypeObject ? PyObject_Str(dtypeObject) : nullptr;
  Py_XDECREF(dtypeObject);
  if (!nameObject) {
    Py_XDECREF(interface);
    return false;
  }
  const char *utf8 = PyUnicode_AsUTF8(nameObject);
  std::string name = utf8 ? utf8 : "?";
  Py_DECREF(nameObject);
  keep_ = interface;
  const pto::DType *type = dtypeOfName(name);
  if (!type)
    return unsupportedType(value, name);

  unsigned long long address = 0;
  int isReadOnly = 0;
  PyObject *dataPair = PyDict_GetItemString(interface, "data"); // borrowed
  PyObject *extents = PyDict_GetItemString(interface, "shape"); // borrowed
  PyObject *steps = PyDict_GetItemString(interface, "strides"); // borrowed, may be None
  if (!dataPair || !extents || !PyArg_ParseTuple(dataPair, "Kp", &address, &isReadOnly))
    return false;
  int64_t shapes[maxRank], stridesInBytes[maxRank];
  bool strided = steps && steps != Py_None;
  if (!PyTuple_Check(extents) || (strided && !PyTuple_Check(steps))) {
    setTypeError("shape and strides of __array_interface__ are no tuples");
    return false;
  }
  Py_ssize_t count = PyTuple_GET_SIZE(extents);
  if (count > maxRank) {
    setValueError("rank " + std::to_string(count) + " is above 5");
    return false;
  }
  if (strided && PyTuple_GET_SIZE(steps) != count) {
    setValueError("strides and shape of __array_interface__ differ in length");
    return false;
  }
  for (Py_ssize_t d = 0; d < count; ++d) {
    shapes[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(extents, d));
    if (strided)
      stridesInBytes[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(steps, d));
    if (PyErr_Occurred())
      return false;
  }
  return readTensor({reinterpret_cast<void *>(address), type, static_cast<int>(count), shapes,
                     strided ? stridesInBytes : nullptr, 1, isReadOnly != 0});
}

bool Argument::readCapsule(PyObject *value) {
  keep_ = PyObject_CallMethod(value, "__dlpack__", nullptr);
  if (!keep_)
    return false;
  dlpack::Tensor *tensor = nullptr;
  bool isReadOnly = false;
  // The capsule stays unconsumed, so its own destructor frees the tensor.
  if (PyCapsule_IsValid(keep_, "dltensor_versioned")) {
    auto *managed =
        static_cast<dlpack::ManagedVersioned *>(PyCapsule_GetPointer(keep_, "dltensor_versioned"));
    tensor = &managed->tensor;
    isReadOnly = managed->flags & dlpack::FlagReadOnly;
  } else if (PyCapsule_IsValid(keep_, "dltensor")) {
    tensor = &static_cast<dlpack::Managed *>(PyCapsule_GetPointer(keep_, "dltensor"))->tensor;
  }
  if (!tensor) {
    setTypeError("__dlpack__ gave no tensor");
    return false;
  }
  if (tensor->device.type != dlpack::DeviceCPU) {
    setValueError("the tensor is not in host memory");
    return false;
  }
  const pto::DType *type = pto::dtypeByDLPack(tensor->dtype.code, tensor->dtype.bits);
  if (!type || tensor->dtype.lanes != 1)
    return unsupportedType(value, "of " + std::to_string(tensor->dtype.bits) + " bits");
  return readTensor({static_cast<char *>(tensor->data) + tensor->byteOffset, type, tensor->rank,
                     tensor->shape, tensor->strides, 0, isReadOnly});
}

bool Argument::readTensor(const Source &source) {
  kind = Tensor;
  data = source.data;
  dtype = source.dtype;
  rank = source.rank;
  readOnly = source.readOnly;
  if (rank < 0 || rank > maxRank) {
    setValueError("rank " + std::to_string(rank) + (rank < 0 ? " is below 0" : " is above 5"));
    return false;
  }
  // A rank-0 tensor is handed over as one element.
  if (rank == 0) {
    rank = 1;
    shape[0] = strides[0] = 1;
    contiguous = true;
    return true;
  }
  bool empty = false;
  for (int d = 0; d < rank; ++d) {
    shape[d] = source.shape[d];
    empty |= shape[d] == 0;
    if (shape[d] < 0 || shape[d] > UINT32_MAX) {
      setValueError("axis " + std::to_string(d) + " has " + std::to_string(shape[d]) +
                    " elements; 0 to 2^32 - 1 are allowed");
      return false;
    }
  }
  int64_t packed = 1;
  contiguous = true;
  if (empty) {
    // No element lies anywhere: any strides do.
    for (int d = rank - 1; d >= 0; --d) {
      strides[d] = packed;
      if (__builtin_mul_overflow(packed, std::max<int64_t>(shape[d], 1), &packed) ||
          packed > UINT32_MAX)
        packed = 1;
    }
    return true;
  }
  for (int d = rank - 1; d >= 0; --d) {
    int64_t stride = packed;
    if (source.strides && shape[d] > 1) {
      stride = source.strides[d];
      if (source.strideUnit) {
        if (stride % dtype->bytes()) {
          setValueError("axis " + std::to_string(d) + " has a stride of " + std::to_string(stride) +
                        " bytes, no multiple of the element");
          return false;
        }
        stride /= dtype->bytes();
      }
    }
    strides[d] = stride;
    contiguous &= stride == packed;
    // Beyond 2^63 elements no stride is the packed one any more.
    if (__builtin_mul_overflow(packed, shape[d], &packed))
      packed = INT64_MAX;
  }
  for (int d = 0; d < rank; ++d)
    if (strides[d] <= 0 || strides[d] > UINT32_MAX) {
      setValueError("axis " + std::to_string(d) + " has stride " + std::to_string(strides[d]) +
                    (strides[d] == 0 ? " (expanded)" : "") +
                    "; strides are 1 to 2^32 - 1 elements: pass a contiguous copy");
      return false;
    }
  return true;
}

std::string describe(const Argument &argument) {
  std::string text = "[";
  for (int d = 0; d < argument.rank; ++d)
    text += (d ? ", " : "") + std::to_string(argument.shape[d]);
  return text + "] " + std::string(argument.dtype->name);
}

} // namespace pypto::core
