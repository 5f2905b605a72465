//===- DType.cpp - the table of element types -----------------------------===//
#include "support/DType.h"

#include <iterator>

namespace pto {
namespace {

// DLPack's type codes (dlpack.h, ABI).
enum {
  Int = 0,
  UInt = 1,
  Float = 2,
  BFloat = 4,
  Bool = 6,
  E4M3FN = 10,
  E5M2 = 12,
  E8M0 = 14,
  E2M1 = 17,
  None = -1
};

// Descriptor codes of spec/simpler.md 2.1. INT4 and the like live in registers only.
constexpr DType table[] = {
    {"BOOL", "bool", 1, 0x00, 11, {Bool, 8}},
    {"INT4", "int4", 4, 0x10, -1, {None, 0}},
    {"INT8", "int8", 8, 0x11, 4, {Int, 8}},
    {"INT16", "int16", 16, 0x12, 3, {Int, 16}},
    {"INT32", "int32", 32, 0x13, 2, {Int, 32}},
    {"INT64", "int64", 64, 0x14, 7, {Int, 64}},
    {"INDEX", "index", 64, 0x15, 7, {Int, 64}},
    {"UINT4", "uint4", 4, 0x20, -1, {None, 0}},
    {"UINT8", "uint8", 8, 0x21, 5, {UInt, 8}},
    {"UINT16", "uint16", 16, 0x22, 9, {UInt, 16}},
    {"UINT32", "uint32", 32, 0x23, 10, {UInt, 32}},
    {"UINT64", "uint64", 64, 0x24, 8, {UInt, 64}},
    {"FP4", "fp4", 4, 0x30, 14, {E2M1, 4}},
    {"FP8E4M3FN", "fp8e4m3fn", 8, 0x31, 12, {E4M3FN, 8}},
    {"FP8E5M2", "fp8e5m2", 8, 0x32, 5, {E5M2, 8}}, // the runtime has no number for it: bytes
    {"FP16", "fp16", 16, 0x33, 1, {Float, 16}},
    {"FP32", "fp32", 32, 0x34, 0, {Float, 32}},
    {"FP8E8M0", "fp8e8m0", 8, 0x36, 13, {E8M0, 8}},
    {"BF16", "bfloat16", 16, 0x40, 6, {BFloat, 16}},
    {"HF4", "hf4", 4, 0x41, -1, {None, 0}},
    {"HF8", "hf8", 8, 0x42, -1, {None, 0}},
    {"TASK_ID", "task_id", 64, 0x50, -1, {None, 0}},
};

} // namespace

bool DType::isFloat() const { return code >= 0x30 && code < 0x50; }
bool DType::isSignedInt() const { return code >= 0x10 && code < 0x20; }
bool DType::isUnsignedInt() const { return code >= 0x20 && code < 0x30; }

DTypeRange dtypes() { return {std::begin(table), std::end(table)}; }

const DType *dtypeByName(std::string_view name) {
  for (const DType &row : table)
    if (row.name == name)
      return &row;
  return nullptr;
}

const DType *dtypeByCode(uint8_t code) {
  for (const DType &row : table)
    if (row.code == code)
      return &row;
  return nullptr;
}

const DType *dtypeByDLPack(int code, int bits) {
  for (const DType &row : table)
    if (row.dlpack.code == code && row.dlpack.bits == bits)
      return &row;
  return nullptr;
}

} // namespace pto
