//===- bind_types.cpp - element types and enumerations --------------------===//
#include "Bindings.h"

namespace simpler::py {

void bindTypes(nb::module_ &m) {
  nb::enum_<DataType>(m, "DataType", nb::is_arithmetic())
      .value("FLOAT32", DataType::FLOAT32)
      .value("FLOAT16", DataType::FLOAT16)
      .value("INT32", DataType::INT32)
      .value("INT16", DataType::INT16)
      .value("INT8", DataType::INT8)
      .value("UINT8", DataType::UINT8)
      .value("BFLOAT16", DataType::BFLOAT16)
      .value("INT64", DataType::INT64)
      .value("UINT64", DataType::UINT64)
      .value("UINT16", DataType::UINT16)
      .value("UINT32", DataType::UINT32)
      .value("BOOL", DataType::BOOL)
      .value("FP8E4M3FN", DataType::FP8E4M3FN)
      .value("FP8E8M0", DataType::FP8E8M0)
      .value("FP4E2M1", DataType::FP4E2M1);
  nb::enum_<TensorArgType>(m, "TensorArgType", nb::is_arithmetic())
      .value("INPUT", TensorArgType::INPUT)
      .value("OUTPUT", TensorArgType::OUTPUT)
      .value("INOUT", TensorArgType::INOUT)
      .value("OUTPUT_EXISTING", TensorArgType::OUTPUT_EXISTING)
      .value("NO_DEP", TensorArgType::NO_DEP);
  nb::enum_<ArgDirection>(m, "ArgDirection", nb::is_arithmetic())
      .value("SCALAR", ArgDirection::SCALAR)
      .value("IN", ArgDirection::IN)
      .value("OUT", ArgDirection::OUT)
      .value("INOUT", ArgDirection::INOUT);
  nb::enum_<AddressSpace>(m, "AddressSpace", nb::is_arithmetic())
      .value("HOST", AddressSpace::HOST)
      .value("DEVICE", AddressSpace::DEVICE);
  m.def(
      "get_element_size", [](DataType type) { return get_element_size(type); }, nb::arg("dtype"),
      "Bytes of one addressable element.");
  m.def("get_dtype_name", [](DataType type) { return get_dtype_name(type); }, nb::arg("dtype"));
  m.def(
      "arg_direction_name",
      [](ArgDirection direction) {
        constexpr const char *names[] = {"SCALAR", "IN", "OUT", "INOUT"};
        return names[static_cast<int32_t>(direction)];
      },
      nb::arg("direction"));
}

} // namespace simpler::py
