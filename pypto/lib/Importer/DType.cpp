//===- DType.cpp - element types of the language --------------------------===//
#include "DType.h"

using namespace mlir;

namespace pypto::importer {
namespace {
struct Row {
  DType type;
  const char *name;
  unsigned bits;
  char category; // b, i, u, f, t
};
constexpr Row rows[] = {
    {DType::Bool, "BOOL", 1, 'b'},           {DType::Int4, "INT4", 4, 'i'},
    {DType::Int8, "INT8", 8, 'i'},           {DType::Int16, "INT16", 16, 'i'},
    {DType::Int32, "INT32", 32, 'i'},        {DType::Int64, "INT64", 64, 'i'},
    {DType::Index, "INDEX", 64, 'i'},        {DType::UInt8, "UINT8", 8, 'u'},
    {DType::UInt16, "UINT16", 16, 'u'},      {DType::UInt32, "UINT32", 32, 'u'},
    {DType::UInt64, "UINT64", 64, 'u'},      {DType::FP4, "FP4", 4, 'f'},
    {DType::FP8E4M3FN, "FP8E4M3FN", 8, 'f'}, {DType::FP8E5M2, "FP8E5M2", 8, 'f'},
    {DType::FP8E8M0, "FP8E8M0", 8, 'f'},     {DType::FP16, "FP16", 16, 'f'},
    {DType::BF16, "BF16", 16, 'f'},          {DType::FP32, "FP32", 32, 'f'},
    {DType::TaskId, "TASK_ID", 64, 't'},
};
const Row &row(DType type) { return rows[static_cast<int>(type)]; }
} // namespace

std::optional<DType> dtypeByName(llvm::StringRef name) {
  for (const Row &r : rows)
    if (name == r.name)
      return r.type;
  return std::nullopt;
}
llvm::StringRef nameOf(DType type) { return row(type).name; }
bool isFloat(DType type) { return row(type).category == 'f'; }
bool isInteger(DType type) { return row(type).category == 'i' || row(type).category == 'u'; }
bool isSigned(DType type) { return row(type).category == 'i'; }
unsigned bitsOf(DType type) { return row(type).bits; }

Type builtinType(MLIRContext *c, DType type) {
  switch (type) {
  case DType::Index:
    return IndexType::get(c);
  case DType::FP4:
    return Float4E2M1FNType::get(c);
  case DType::FP8E4M3FN:
    return Float8E4M3FNType::get(c);
  case DType::FP8E5M2:
    return Float8E5M2Type::get(c);
  case DType::FP8E8M0:
    return Float8E8M0FNUType::get(c);
  case DType::FP16:
    return Float16Type::get(c);
  case DType::BF16:
    return BFloat16Type::get(c);
  case DType::FP32:
    return Float32Type::get(c);
  case DType::TaskId:
    return Type();
  default:
    return IntegerType::get(c, row(type).bits,
                            row(type).category == 'u' ? IntegerType::Unsigned
                                                      : IntegerType::Signless);
  }
}

std::optional<DType> dtypeOf(Type type) {
  if (!type)
    return std::nullopt;
  for (const Row &r : rows)
    if (r.type != DType::TaskId && builtinType(type.getContext(), r.type) == type)
      return r.type;
  return std::nullopt;
}

} // namespace pypto::importer
