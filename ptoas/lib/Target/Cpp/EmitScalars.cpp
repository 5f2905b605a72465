//===- EmitScalars.cpp - arith ops ----------------------------------------===//
//
// Signed ops work on the signed C types that values have, unsigned ones on casts of
// them. Sixteen-bit floats are computed as float and rounded back, which gives the same
// result as an operation in their own precision.
//
//===----------------------------------------------------------------------===//
#include "FunctionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;

namespace ptoas::cpp {

namespace {
enum class Kind {
  Infix,    // a op b
  Unsigned, // the same on unsigned types
  Pattern,  // {0} and {1}
  PatternU, // the same on unsigned types
  Cast,     // (T)a
  CastU     // (T)(unsigned)a
};
struct Scalar {
  StringLiteral op;
  Kind kind;
  StringLiteral text;
};
} // namespace

static constexpr Scalar kScalars[] = {
    {"arith.addi", Kind::Infix, "+"},
    {"arith.subi", Kind::Infix, "-"},
    {"arith.muli", Kind::Infix, "*"},
    {"arith.divsi", Kind::Infix, "/"},
    {"arith.remsi", Kind::Infix, "%"},
    {"arith.divui", Kind::Unsigned, "/"},
    {"arith.remui", Kind::Unsigned, "%"},
    {"arith.andi", Kind::Infix, "&"},
    {"arith.ori", Kind::Infix, "|"},
    {"arith.xori", Kind::Infix, "^"},
    {"arith.shli", Kind::Infix, "<<"},
    {"arith.shrsi", Kind::Infix, ">>"},
    {"arith.shrui", Kind::Unsigned, ">>"},
    {"arith.floordivsi", Kind::Pattern, "{0} / {1} - ({0} % {1} != 0 && ({0} < 0) != ({1} < 0))"},
    {"arith.ceildivsi", Kind::Pattern, "{0} / {1} + ({0} % {1} != 0 && ({0} < 0) == ({1} < 0))"},
    {"arith.ceildivui", Kind::PatternU, "{0} / {1} + ({0} % {1} != 0)"},
    {"arith.maxsi", Kind::Pattern, "{0} > {1} ? {0} : {1}"},
    {"arith.minsi", Kind::Pattern, "{0} < {1} ? {0} : {1}"},
    {"arith.maxui", Kind::PatternU, "{0} > {1} ? {0} : {1}"},
    {"arith.minui", Kind::PatternU, "{0} < {1} ? {0} : {1}"},
    {"arith.addf", Kind::Infix, "+"},
    {"arith.subf", Kind::Infix, "-"},
    {"arith.mulf", Kind::Infix, "*"},
    {"arith.divf", Kind::Infix, "/"},
    {"arith.remf", Kind::Pattern, "__builtin_fmodf({0}, {1})"},
    {"arith.negf", Kind::Pattern, "-{0}"},
    // NaN wins in maximumf, the number in maxnumf.
    {"arith.maximumf", Kind::Pattern, "{0} > {1} || {0} != {0} ? {0} : {1}"},
    {"arith.minimumf", Kind::Pattern, "{0} < {1} || {0} != {0} ? {0} : {1}"},
    {"arith.maxnumf", Kind::Pattern, "{0} > {1} || {1} != {1} ? {0} : {1}"},
    {"arith.minnumf", Kind::Pattern, "{0} < {1} || {1} != {1} ? {0} : {1}"},
    {"arith.extui", Kind::CastU, ""},
    {"arith.extsi", Kind::Cast, ""},
    {"arith.trunci", Kind::Cast, ""},
    {"arith.sitofp", Kind::Cast, ""},
    {"arith.uitofp", Kind::CastU, ""},
    {"arith.fptosi", Kind::Cast, ""},
    {"arith.fptoui", Kind::Cast, ""},
    {"arith.extf", Kind::Cast, ""},
    {"arith.truncf", Kind::Cast, ""},
    {"arith.index_cast", Kind::Cast, ""},
    {"arith.index_castui", Kind::CastU, ""},
};

bool isScalarOp(StringRef name) {
  return llvm::any_of(kScalars, [&](const Scalar &entry) { return entry.op == name; }) ||
         llvm::is_contained({"arith.constant", "arith.cmpi", "arith.cmpf", "arith.select",
                             "arith.bitcast", "arith.addui_extended", "arith.mulsi_extended",
                             "arith.mului_extended"},
                            name);
}

static std::string unsignedType(Type type) {
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return width == 1 ? "bool" : formatv("uint{0}_t", width).str();
}

// A negative literal and another operator side by side would be read together.
static std::string guarded(std::string text) {
  return StringRef(text).starts_with("-") ? "(" + text + ")" : text;
}

static std::string comparison(arith::CmpIPredicate predicate, StringRef a, StringRef b, Type type) {
  using P = arith::CmpIPredicate;
  StringRef sign;
  bool isUnsigned = false;
  switch (predicate) {
  case P::eq:
    sign = "==";
    break;
  case P::ne:
    sign = "!=";
    break;
  case P::ult:
    isUnsigned = true;
    [[fallthrough]];
  case P::slt:
    sign = "<";
    break;
  case P::ule:
    isUnsigned = true;
    [[fallthrough]];
  case P::sle:
    sign = "<=";
    break;
  case P::ugt:
    isUnsigned = true;
    [[fallthrough]];
  case P::sgt:
    sign = ">";
    break;
  case P::uge:
    isUnsigned = true;
    [[fallthrough]];
  case P::sge:
    sign = ">=";
    break;
  }
  if (!isUnsigned)
    return formatv("{0} {1} {2}", a, sign, b);
  return formatv("({3}){0} {1} ({3}){2}", a, sign, b, unsignedType(type));
}

static std::string comparison(arith::CmpFPredicate predicate, StringRef a, StringRef b) {
  using P = arith::CmpFPredicate;
  // Unordered predicates are the opposite of an ordered one.
  StringRef form;
  switch (predicate) {
  case P::AlwaysFalse:
    return "false";
  case P::AlwaysTrue:
    return "true";
  case P::OEQ:
    form = "{0} == {1}";
    break;
  case P::UNE:
    form = "{0} != {1}";
    break;
  case P::OGT:
    form = "{0} > {1}";
    break;
  case P::OGE:
    form = "{0} >= {1}";
    break;
  case P::OLT:
    form = "{0} < {1}";
    break;
  case P::OLE:
    form = "{0} <= {1}";
    break;
  case P::ONE:
    form = "{0} < {1} || {0} > {1}";
    break;
  case P::UEQ:
    form = "!({0} < {1} || {0} > {1})";
    break;
  case P::UGT:
    form = "!({0} <= {1})";
    break;
  case P::UGE:
    form = "!({0} < {1})";
    break;
  case P::ULT:
    form = "!({0} >= {1})";
    break;
  case P::ULE:
    form = "!({0} > {1})";
    break;
  case P::ORD:
    form = "{0} == {0} && {1} == {1}";
    break;
  case P::UNO:
    form = "{0} != {0} || {1} != {1}";
    break;
  }
  return formatv(form.data(), a, b);
}

// Ops with two results.
LogicalResult FunctionEmitter::emitArithPair(Operation *op) {
  Type type = op->getOperand(0).getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  std::string a = guarded(expr(op->getOperand(0))), b = guarded(expr(op->getOperand(1)));
  std::string narrow = unsignedType(type);
  if (isa<arith::AddUIExtendedOp>(op)) {
    if (failed(
            result(op->getResult(0),
                   formatv("({0})(({1}){2} + ({1}){3})", spellElement(type), narrow, a, b).str())))
      return failure();
    return result(op->getResult(1),
                  formatv("({0}){1} < ({0}){2}", narrow, expr(op->getResult(0)), a).str());
  }
  if (width > 32)
    return op->emitOpError() << "has no C++ form for " << type
                             << ": the scalar unit has no product of 128 bits";
  bool isSigned = isa<arith::MulSIExtendedOp>(op);
  std::string wide = isSigned ? "(int64_t)" : "(uint64_t)(" + narrow + ")";
  std::string product = wide + a + " * " + wide + b;
  std::string element = spellElement(type);
  if (failed(result(op->getResult(0), formatv("({0})({1})", element, product).str())))
    return failure();
  return result(op->getResult(1), formatv("({0})(({1}) >> {2})", element, product, width).str());
}

LogicalResult FunctionEmitter::emitArith(Operation *op) {
  if (isa<arith::ConstantOp>(op)) {
    // Counts of a merge are a variable that the instruction writes.
    if (auto vector = dyn_cast<VectorType>(op->getResult(0).getType())) {
      std::optional<std::string> type = module_.types.value(vector);
      if (!type)
        return op->emitOpError() << "has no C++ form for " << vector << "; vector<4xi16> is known";
      object(*type, define(op->getResult(0)), "");
      return success();
    }
    if (expr(op->getResult(0)).empty() || spellElement(op->getResult(0).getType()).empty())
      return op->emitOpError() << "has no C++ form for " << op->getResult(0).getType();
    return success(); // a literal where it is used
  }
  if (isa<arith::AddUIExtendedOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op))
    return emitArithPair(op);
  Value value = op->getResult(0);
  if (constantInt(value)) // a cast of a constant
    return success();
  Type type = value.getType();
  SmallVector<std::string> in;
  for (Value operand : op->getOperands()) {
    in.push_back(guarded(expr(operand)));
    if (spellElement(operand.getType()).empty() && !typeName(operand))
      return op->emitOpError() << "has no C++ form for " << operand.getType();
  }
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return result(value, comparison(cmp.getPredicate(), in[0], in[1], cmp.getLhs().getType()));
  Type from = op->getNumOperands() ? op->getOperand(op->getNumOperands() - 1).getType() : type;
  bool half = from.isF16() || from.isBF16();
  if (auto cmp = dyn_cast<arith::CmpFOp>(op)) {
    if (half)
      for (std::string &operand : in)
        operand = "(float)" + operand;
    return result(value, comparison(cmp.getPredicate(), in[0], in[1]));
  }
  if (isa<arith::SelectOp>(op)) {
    if (!isa<pto::TileBufType>(type))
      return result(value, in[0] + " ? " + in[1] + " : " + in[2]);
    if (jumps_)
      return op->emitOpError() << "picks one of two tiles in a function with jumps; C++ cannot "
                                  "rebind a tile there";
    out_.line(*typeName(value) + " &" + define(value) + " = " + in[0] + " ? " + in[1] + " : " +
              in[2] + ";");
    return success();
  }
  if (isa<arith::BitcastOp>(op)) {
    module_.bitcast = true;
    return result(value, formatv("ptoas_bitcast<{0}>({1})", spellElement(type), in[0]).str());
  }
  const Scalar *entry = llvm::find_if(
      kScalars, [&](const Scalar &e) { return e.op == op->getName().getStringRef(); });
  if (entry == std::end(kScalars))
    return op->emitOpError() << "has no C++ form";
  std::string to = spellElement(type);
  switch (entry->kind) {
  case Kind::Cast:
    // index and i64 are one type.
    if (to == spellElement(from) && !jumps_) {
      names_[value] = expr(op->getOperand(0));
      return success();
    }
    // A true i1 is all ones; other casts are C's.
    if (isa<arith::ExtSIOp, arith::SIToFPOp>(op) && from.isInteger(1))
      return result(value, "-(" + to + ")" + in[0]);
    if (isa<arith::TruncIOp>(op) && type.isInteger(1))
      return result(value, "(" + in[0] + " & 1) != 0");
    if ((half && !isa<FloatType>(type)) ||
        (isa<FloatType>(type) && !isa<FloatType>(from) && (type.isF16() || type.isBF16())))
      return result(value, "(" + to + ")(float)" + in[0]);
    return result(value, "(" + to + ")" + in[0]);
  case Kind::CastU:
    return result(value, "(" + to + ")(" + unsignedType(from) + ")" + in[0]);
  case Kind::Infix:
  case Kind::Pattern:
    break;
  case Kind::Unsigned:
  case Kind::PatternU:
    for (std::string &operand : in)
      operand = "(" + unsignedType(type) + ")" + operand;
    break;
  }
  if (half)
    for (std::string &operand : in)
      operand = "(float)" + operand;
  // What changes nothing is not computed.
  if (!jumps_ && isa<arith::AddIOp, arith::MulIOp>(op) && !type.isInteger(1)) {
    int64_t neutral = isa<arith::MulIOp>(op);
    for (unsigned i = 0; i < 2; ++i)
      if (constantInt(op->getOperand(i)) == neutral) {
        names_[value] = expr(op->getOperand(1 - i));
        return success();
      }
  }
  // Two literals of a wide type would be computed as int.
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width == 64 && isa<IntegerType, IndexType>(type) && in.size() == 2 &&
      constantInt(op->getOperand(0)) && constantInt(op->getOperand(1)))
    in[0] = "(" + to + ")" + in[0];
  bool isUnsigned = entry->kind == Kind::Unsigned || entry->kind == Kind::PatternU;
  std::string text;
  // Numbers of one bit wrap: sums are exclusive or, products and.
  StringRef sign = entry->text;
  if (type.isInteger(1) && (sign == "+" || sign == "-"))
    sign = "^";
  if (type.isInteger(1) && sign == "*")
    sign = "&";
  if (entry->kind == Kind::Infix || entry->kind == Kind::Unsigned)
    text = in[0] + " " + sign.str() + " " + in[1];
  else if (in.size() == 1)
    text = formatv(entry->text.data(), in[0]);
  else
    text = formatv(entry->text.data(), in[0], in[1]);
  if (type.isF64() && isa<arith::RemFOp>(op))
    text = formatv("__builtin_fmod({0}, {1})", in[0], in[1]);
  // What C computes wider is narrowed by name.
  if (half || (isUnsigned && width > 1) || (isa<IntegerType>(type) && width < 32 && width > 1))
    text = "(" + to + ")(" + text + ")";
  return result(value, text);
}

} // namespace ptoas::cpp
