//===- Values.cpp - making, converting and comparing values ---------------===//
#include "Walker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

Val Walker::scalar(Value value, DType type, std::optional<Affine> affine) {
  Val v;
  v.kind = Val::Scalar;
  v.value = value;
  v.dtype = type;
  if (isInteger(type))
    v.affine = affine ? *affine : symbols.fresh();
  return v;
}
Val Walker::constantInt(int64_t value, DType type) {
  Val v;
  v.kind = Val::Scalar;
  v.dtype = type;
  v.constant = value;
  v.affine = Affine(value);
  return v;
}
Val Walker::constantFloat(double value, DType type) {
  Val v;
  v.kind = Val::Scalar;
  v.dtype = type;
  v.constant = value;
  return v;
}
Val Walker::constantBool(bool value) {
  Val v;
  v.kind = Val::Scalar;
  v.dtype = DType::Bool;
  v.constant = value;
  return v;
}
Val Walker::none() const {
  Val v;
  v.kind = Val::None;
  return v;
}
Val Walker::tuple(std::vector<Val> items) const {
  Val v;
  v.kind = Val::Tuple;
  v.items = std::move(items);
  return v;
}

Val Walker::fromPython(const PyValue &value) {
  switch (value.kind) {
  case PyValue::None:
    return none();
  case PyValue::Bool:
    return constantBool(value.boolean);
  case PyValue::Int:
    return constantInt(value.integer);
  case PyValue::Float:
    return constantFloat(value.real);
  case PyValue::List: {
    std::vector<Val> items;
    for (const PyValue &item : value.items)
      items.push_back(fromPython(item));
    return tuple(std::move(items));
  }
  default: {
    Val v;
    v.kind = Val::Py;
    v.python = std::make_shared<PyValue>(value);
    return v;
  }
  }
}

Type Walker::elementType(DType type) {
  return type == DType::TaskId ? Type(TaskIdType::get(m.context)) : builtinType(m.context, type);
}

static llvm::SmallVector<int64_t> extents(llvm::ArrayRef<Affine> list) {
  llvm::SmallVector<int64_t> result;
  for (const Affine &a : list)
    result.push_back(a.isConstant() ? a.constant : ShapedType::kDynamic);
  return result;
}

Type Walker::typeOf(const Val &v) {
  switch (v.kind) {
  case Val::Scalar:
    return elementType(v.dtype);
  case Val::TaskId:
    return TaskIdType::get(m.context);
  case Val::Array:
    return ArrayType::get(m.context, v.extent, elementType(v.dtype));
  case Val::Tensor:
  case Val::Tile: {
    llvm::SmallVector<int64_t> shape = extents(v.shape), valid;
    if (v.valid != v.shape)
      valid = extents(v.valid);
    if (v.kind == Val::Tensor)
      return TensorType::get(shape, elementType(v.dtype), llvm::ArrayRef<int64_t>(), v.layout,
                             valid);
    return TileType::get(shape, elementType(v.dtype), v.space, valid, v.transposed);
  }
  default:
    return Type();
  }
}

Value Walker::materialise(const Val &v, Location loc) {
  if (v.kind == Val::None) // no task
    return b
        .create(loc, b.getStringAttr("pypto.task_invalid"), ValueRange(),
                TaskIdType::get(m.context))
        ->getResult(0);
  if (v.kind != Val::Scalar || !v.isConstant())
    return v.value;
  Type type = elementType(v.dtype);
  if (isFloat(v.dtype)) {
    llvm::APFloat number(*v.real());
    bool lost = false;
    number.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                   &lost);
    return arith::ConstantOp::create(b, loc, FloatAttr::get(type, number));
  }
  int64_t number = *v.integer();
  if (type.isUnsignedInteger()) {
    auto signless = IntegerType::get(m.context, type.getIntOrFloatBitWidth());
    Value value = arith::ConstantOp::create(
        b, loc, IntegerAttr::get(signless, llvm::APInt(signless.getWidth(), number, false, true)));
    return b.create(loc, b.getStringAttr("pypto.scalar_cast"), ValueRange(value), TypeRange(type))
        ->getResult(0);
  }
  if (v.dtype == DType::Index)
    return arith::ConstantIndexOp::create(b, loc, number);
  unsigned width = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(b, loc,
                                   IntegerAttr::get(type, llvm::APInt(width, number, true, true)));
}

Val Walker::castScalar(const Val &v, DType to, Location loc) {
  if (v.dtype == to)
    return v;
  Val result = v;
  result.dtype = to;
  if (v.isConstant()) {
    if (isFloat(to))
      result.constant = *v.real();
    else if (to == DType::Bool)
      result.constant = *v.real() != 0;
    else if (auto i = v.integer())
      result.constant = *i;
    else if (std::abs(*v.real()) < 9.2e18)
      result.constant = static_cast<int64_t>(*v.real());
    else
      return Val();
    if (isInteger(to)) {
      // What the width keeps.
      llvm::APInt bits(64, *result.integer(), true);
      bits = bits.trunc(bitsOf(to));
      int64_t kept = isSigned(to) ? bits.getSExtValue() : static_cast<int64_t>(bits.getZExtValue());
      result.constant = kept;
      result.affine = Affine(kept);
    }
    return result;
  }
  Value value = v.value;
  Type type = elementType(to);
  bool fromInt = isInteger(v.dtype) || v.dtype == DType::Bool, toInt = isInteger(to);
  bool signlessPair = !(value.getType().isUnsignedInteger() || type.isUnsignedInteger());
  if (to == DType::Bool) {
    Val zero = isFloat(v.dtype) ? constantFloat(0, v.dtype) : constantInt(0, v.dtype);
    if (signlessPair)
      result.value = isFloat(v.dtype)
                         ? Value(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value,
                                                       materialise(zero, loc)))
                         : Value(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                                       materialise(zero, loc)));
    else
      result.value =
          b.create(loc, b.getStringAttr("pypto.scalar_cast"), ValueRange(value), TypeRange(type))
              ->getResult(0);
    return result;
  }
  if (signlessPair && fromInt && toInt && v.dtype != DType::Bool) {
    if (type.isIndex() || value.getType().isIndex()) {
      result.value = arith::IndexCastOp::create(b, loc, type, value);
    } else if (bitsOf(to) > bitsOf(v.dtype)) {
      result.value = arith::ExtSIOp::create(b, loc, type, value);
    } else {
      result.value = arith::TruncIOp::create(b, loc, type, value);
    }
  } else {
    result.value =
        b.create(loc, b.getStringAttr("pypto.scalar_cast"), ValueRange(value), TypeRange(type))
            ->getResult(0);
  }
  // A conversion between integers keeps what is known of the value only when it keeps the value.
  if (toInt && !(fromInt && isSigned(to) && bitsOf(to) >= bitsOf(v.dtype)))
    result.affine = symbols.fresh(isSigned(to) ? Bounds{} : Bounds{0, std::nullopt});
  return result;
}

Value Walker::indexOf(const Val &v, const Node &at) {
  if (v.isUnknown())
    return Value();
  if (!v.isScalar() || !isInteger(v.dtype)) {
    typeError(at, "expected an integer here, got " + describe(v));
    return Value();
  }
  Location loc = locationOf(at);
  return materialise(castScalar(v, DType::Index, loc), loc);
}

Val Walker::shaped(Val::Kind kind, DType type, std::vector<Affine> shape,
                   std::vector<Affine> valid) {
  Val v;
  v.kind = kind;
  v.dtype = type;
  v.valid = valid.empty() ? shape : std::move(valid);
  v.shape = std::move(shape);
  return v;
}

Val Walker::like(const Val &pattern, Value value) {
  Val v = pattern;
  v.value = value;
  v.constant = Number();
  if (v.isScalar() && isInteger(v.dtype))
    v.affine = symbols.fresh();
  return v;
}

Val Walker::dimension(const Val &tensor, int axis, Location loc) {
  const Affine &extent = tensor.shape[axis];
  if (extent.isConstant())
    return constantInt(extent.constant);
  OperationState state(loc, "pypto.dim");
  state.addOperands(tensor.value);
  state.addTypes(b.getIndexType());
  state.addAttribute("axis", b.getI64IntegerAttr(axis));
  return scalar(b.create(state)->getResult(0), DType::Index, extent);
}

bool Walker::sameType(const Val &a, const Val &b, bool looseScalars) {
  if (a.kind != b.kind)
    return (a.kind == Val::None && b.kind == Val::TaskId) ||
           (a.kind == Val::TaskId && b.kind == Val::None);
  switch (a.kind) {
  case Val::Scalar:
    return a.dtype == b.dtype || (looseScalars && compatible(a.dtype, b.dtype));
  case Val::Array:
    return a.dtype == b.dtype && a.extent == b.extent;
  case Val::Tuple: {
    if (a.items.size() != b.items.size())
      return false;
    for (size_t i = 0; i < a.items.size(); ++i)
      if (!sameType(a.items[i], b.items[i]))
        return false;
    return true;
  }
  case Val::Tensor:
  case Val::Tile:
    if (a.dtype != b.dtype || a.rank() != b.rank())
      return false;
    for (size_t i = 0; i < a.rank(); ++i)
      if (symbols.equal(a.shape[i], b.shape[i]) == false)
        return false;
    return true;
  default:
    return true;
  }
}

} // namespace pypto::importer
