//===- Val.h - what a name of the program stands for while importing ------===//
#ifndef PYPTO_LIB_IMPORTER_VAL_H
#define PYPTO_LIB_IMPORTER_VAL_H

#include "DType.h"
#include "Symbolic.h"
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"
#include "pypto/Importer/PyAst.h"

namespace pypto::importer {

using Number = std::variant<std::monostate, bool, int64_t, double>;

/// The meaning of an expression. `Unknown` stands for the result of something that is wrong and has
/// been reported, or whose type a later attempt will know: whatever uses it is Unknown too,
/// silently.
struct Val {
  enum Kind { Unknown, None, Scalar, Tensor, Tile, Array, TaskId, Tuple, Py };
  Kind kind = Unknown;

  mlir::Value value;            // null: a constant that is not materialised, or no run-time part
  DType dtype = DType::Index;   // of a scalar, of elements
  Number constant;              // scalars known at compile time
  Affine affine;                // integer scalars
  std::vector<Affine> shape;    // tensors and tiles
  std::vector<Affine> valid;    // same rank: extents of real data
  std::vector<int64_t> strides; // of a tensor in global memory, elements; empty = packed
  TensorLayout layout = TensorLayout::ND;
  MemorySpace space = MemorySpace::None;
  bool transposed = false;
  int64_t extent = 0; // arrays

  /// The buffer that a tensor is, or is a view of. Global memory (`gm`) keeps its contents when a
  /// name is bound again to the same buffer; values on chip are SSA values like any other.
  int root = -1;
  bool gm = false;
  bool view = false; // not the whole buffer as it was created

  std::vector<Val> items;                // Tuple
  std::shared_ptr<const PyValue> python; // Py

  bool isUnknown() const { return kind == Unknown; }
  bool isScalar() const { return kind == Scalar; }
  bool isShaped() const { return kind == Tensor || kind == Tile; }
  bool isConstant() const { return kind == Scalar && constant.index() != 0; }
  std::optional<int64_t> integer() const {
    if (kind != Scalar)
      return std::nullopt;
    if (auto *i = std::get_if<int64_t>(&constant))
      return *i;
    if (auto *b = std::get_if<bool>(&constant))
      return *b;
    return std::nullopt;
  }
  std::optional<bool> boolean() const {
    if (auto *b = kind == Scalar ? std::get_if<bool>(&constant) : nullptr)
      return *b;
    return std::nullopt;
  }
  std::optional<double> real() const {
    if (kind != Scalar)
      return std::nullopt;
    if (auto *d = std::get_if<double>(&constant))
      return *d;
    if (auto i = integer())
      return static_cast<double>(*i);
    return std::nullopt;
  }
  size_t rank() const { return shape.size(); }
};

/// "16x?" for messages.
std::string print(llvm::ArrayRef<Affine> extents);
/// "a [16, 32] FP32 tensor", "an INT32 scalar", … for messages.
std::string describe(const Val &value);

} // namespace pypto::importer
#endif // PYPTO_LIB_IMPORTER_VAL_H
