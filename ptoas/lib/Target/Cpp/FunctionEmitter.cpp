//===- FunctionEmitter.cpp - the frame of a function, values --------------===//
#include "FunctionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"
#include <charconv>

using namespace mlir;
using llvm::formatv;

namespace ptoas::cpp {

FailureOr<StringRef> tailMode(func::FuncOp func);

std::optional<int64_t> constantInt(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  APInt constant;
  if (value.getType().isIntOrIndex() && matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getBitWidth() <= 64)
    return constant.getBitWidth() == 1 ? int64_t(constant.getZExtValue()) : constant.getSExtValue();
  return std::nullopt;
}

FunctionEmitter::FunctionEmitter(ModuleState &module, func::FuncOp func)
    : module_(module), func_(func), variables_(module.takenNames) {
  if (auto kind = func->getAttrOfType<pto::KernelKindAttr>("pto.kernel_kind"))
    kind_ = kind.getValue();
  func.walk([&](pto::SetFftsOp) { hasFfts_ = true; });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

// Ops whose results nobody needs: pure, and used by such ops only. Uses come behind definitions in
// a function of one block, so one walk backwards finds them.
void FunctionEmitter::findNeeded() {
  func_.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (op->getNumRegions() || op->getNumResults() == 0 || op->hasTrait<OpTrait::IsTerminator>() ||
        !isPure(op))
      return;
    bool needed =
        llvm::any_of(op->getUsers(), [&](Operation *user) { return !unneeded_.contains(user); });
    if (!needed)
      unneeded_.insert(op);
  });
}

std::string FunctionEmitter::declaration(StringRef type, StringRef name) {
  return (type + (type.ends_with("*") ? "" : " ") + name).str();
}

StringRef FunctionEmitter::define(Value value) {
  return names_[value] = newName(wishedName(value));
}

// Decimal with the fewest digits that read back as the same number.
static std::string floatText(const APFloat &value, bool wide) {
  char digits[40];
  std::to_chars_result end =
      wide ? std::to_chars(digits, digits + sizeof(digits), value.convertToDouble())
           : std::to_chars(digits, digits + sizeof(digits), value.convertToFloat());
  std::string text(digits, end.ptr);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::string FunctionEmitter::literal(Attribute attr, Type type) {
  if (auto integer = dyn_cast<IntegerAttr>(attr)) {
    APInt value = integer.getValue();
    if (type.isInteger(1))
      return value.isZero() ? "false" : "true";
    if (value.getBitWidth() <= 64 && value.isMinSignedValue() && value.getBitWidth() >= 32)
      return formatv("(-{0} - 1)", (value - 1).getSExtValue());
    SmallString<24> digits;
    value.toStringSigned(digits);
    return std::string(digits);
  }
  if (auto number = dyn_cast<FloatAttr>(attr)) {
    std::string name = spellElement(type);
    APFloat value = number.getValue();
    if (!value.isFinite()) {
      module_.bitcast = true;
      unsigned width = type.getIntOrFloatBitWidth();
      SmallString<24> digits;
      value.bitcastToAPInt().toString(digits, 16, /*Signed=*/false, /*formatAsCLiteral=*/true);
      for (char &c : digits)
        c = llvm::toLower(c);
      return formatv("ptoas_bitcast<{0}>((uint{1}_t){2})", name, width, digits);
    }
    if (type.isF64())
      return floatText(value, true);
    bool inexact = false;
    APFloat single = value;
    if (!type.isF32())
      single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
    std::string text = floatText(single, false) + "f";
    return type.isF32() ? text : "(" + name + ")" + text;
  }
  return "";
}

std::string FunctionEmitter::expr(Value value) {
  auto it = names_.find(value);
  if (it != names_.end())
    return it->second;
  if (std::optional<int64_t> number = constantInt(value)) {
    Type type = value.getType();
    return literal(IntegerAttr::get(type, *number), type);
  }
  Attribute attr;
  if (matchPattern(value, m_Constant(&attr)))
    return literal(attr, value.getType());
  return "";
}

LogicalResult FunctionEmitter::result(Value value, const Twine &text) {
  std::optional<std::string> type = module_.types.value(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type)
    return op->emitOpError() << "has no C++ form: there is no C++ type for " << value.getType();
  StringRef name = define(value);
  if (jumps_) {
    top_.push_back(declaration(*type, name) + ";");
    out_.line(name + " = " + text + ";");
    return success();
  }
  // Pointers are not const: what they point to would be meant.
  bool scalar = value.getType().isIntOrIndexOrFloat();
  out_.line((scalar ? "const " : "") + declaration(*type, name) + " = " + text + ";");
  return success();
}

LogicalResult FunctionEmitter::variable(Value value, StringRef init) {
  std::optional<std::string> type = module_.types.value(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op)
    op = cast<BlockArgument>(value).getOwner()->getParentOp();
  if (!type || isa<pto::TileBufType, pto::StructType>(value.getType()))
    return op->emitOpError() << "carries a value of type " << value.getType()
                             << "; in C++ only scalars and pointers are carried, use a handle "
                                "declared in front";
  StringRef name = define(value);
  if (!jumps_) {
    out_.line(declaration(*type, name) + (init.empty() ? "" : " = ") + init + ";");
    return success();
  }
  top_.push_back(declaration(*type, name) + ";");
  if (!init.empty())
    out_.line(name + " = " + init + ";");
  return success();
}

void FunctionEmitter::object(StringRef type, StringRef name, StringRef arguments) {
  if (!jumps_) {
    out_.line(type + " " + name + (arguments.empty() ? "" : "(" + arguments.str() + ")") + ";");
    return;
  }
  top_.push_back((type + " " + name + ";").str());
  if (!arguments.empty())
    out_.line(name + " = " + type + "(" + arguments + ");");
}

// Targets are variables; a value that one of them holds must be read before it is overwritten.
LogicalResult FunctionEmitter::assignAll(Operation *op, ArrayRef<std::string> targets,
                                         ValueRange values) {
  SmallVector<std::string> sources;
  for (Value value : values)
    sources.push_back(expr(value));
  bool overlap = false;
  for (size_t i = 0; i < targets.size(); ++i)
    for (size_t j = i + 1; j < targets.size(); ++j)
      overlap |= sources[j] == targets[i];
  if (overlap)
    for (auto [i, value] : llvm::enumerate(values)) {
      std::optional<std::string> type = module_.types.value(value.getType());
      std::string name = newName("next");
      if (jumps_)
        top_.push_back(declaration(*type, name) + ";");
      out_.line((jumps_ ? name : declaration(*type, name)) + " = " + sources[i] + ";");
      sources[i] = name;
    }
  for (auto [target, source] : llvm::zip(targets, sources))
    if (target != source)
      out_.line(target + " = " + source + ";");
  return success();
}

void FunctionEmitter::locationComment(Operation *op) {
  if (!module_.options.sourceLocations)
    return;
  auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
  if (place && place == lastPlace_)
    return;
  lastPlace_ = place;
  if (!place)
    return out_.comment("");
  std::string text =
      formatv("// {0}:{1}:{2}", place.getFilename().getValue(), place.getLine(), place.getColumn());
  // A file may have any name; the comment ends with the line.
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, '?');
  out_.comment(text);
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

LogicalResult FunctionEmitter::emitSignature(std::string &signature) {
  FunctionType type = func_.getFunctionType();
  std::string returned = "void";
  if (type.getNumResults() == 1) {
    std::optional<std::string> spelled = module_.types.value(type.getResult(0));
    if (!spelled || isa<pto::TileBufType>(type.getResult(0)))
      return func_.emitError() << "'func.func' op returns " << type.getResult(0)
                               << "; a C++ function returns a scalar or a pointer";
    returned = *spelled;
  }
  std::string arguments;
  auto add = [&](StringRef text) {
    arguments += arguments.empty() ? "" : ", ";
    arguments += text;
  };
  for (auto [i, argument] : llvm::enumerate(type.getInputs())) {
    bool isView = isa<pto::TensorViewType, pto::PartitionTensorViewType>(argument);
    bool byReference =
        isView || isa<pto::TileBufType, pto::StructType, pto::EventIdArrayType,
                      pto::AsyncSessionType, pto::PrefetchAsyncContextType>(argument);
    if (entry_ && (byReference || isa<VectorType>(argument)))
      return func_.emitError() << "'func.func' op argument " << i << " of entry '@"
                               << func_.getName() << "' has type " << argument
                               << "; a kernel takes pointers and scalars";
    std::string name = func_.isExternal() ? newName("arg" + std::to_string(i))
                                          : newName(wishedName(func_.getArgument(i)));
    std::optional<std::string> spelled;
    if (isView) {
      GlobalShape shape;
      auto window = dyn_cast<pto::PartitionTensorViewType>(argument);
      ArrayRef<int64_t> extents =
          window ? window.getShape() : cast<pto::TensorViewType>(argument).getShape();
      shape.element =
          window ? window.getElementType() : cast<pto::TensorViewType>(argument).getElementType();
      for (unsigned k = 0; k < 5; ++k) {
        int64_t source = int64_t(extents.size()) - 5 + k;
        shape.shape[k] = source < 0 ? 1 : std::max<int64_t>(extents[source], -1);
        shape.stride[k] = -1;
      }
      if (!spellElement(shape.element).empty())
        spelled = module_.types.global(shape).str();
      if (spelled && !func_.isExternal())
        objectTypes_[func_.getArgument(i)] = *spelled;
    } else if (auto tile = dyn_cast<pto::TileBufType>(argument)) {
      Value handle = func_.isExternal() ? Value() : func_.getArgument(i);
      if (std::optional<StringRef> alias = tileName(handle, tile))
        spelled = alias->str();
    } else {
      spelled = module_.types.value(argument);
    }
    if (!spelled)
      return func_.emitError() << "'func.func' op argument " << i << " has type " << argument
                               << ", for which there is no C++ type";
    add(byReference ? *spelled + " &" + name : declaration(*spelled, name));
    if (!func_.isExternal())
      names_[func_.getArgument(i)] = name;
  }
  // More than one result: the callee writes through references.
  if (type.getNumResults() > 1)
    for (Type resultType : type.getResults()) {
      std::optional<std::string> spelled = module_.types.value(resultType);
      if (!spelled || isa<pto::TileBufType>(resultType))
        return func_.emitError() << "'func.func' op returns " << resultType
                                 << "; a C++ function returns scalars and pointers";
      std::string name = newName("result");
      resultNames_.push_back(name);
      add(StringRef(*spelled).ends_with("*") ? *spelled + "&" + name : *spelled + " &" + name);
    }
  StringRef kind = func_.isExternal()  ? "extern AICORE "
                   : entry_            ? "__global__ AICORE "
                   : func_.isPrivate() ? "static AICORE "
                                       : "AICORE ";
  signature =
      (kind + declaration(returned, module_.functionNames[func_]) + "(" + arguments + ")").str();
  return success();
}

// The vector cores of a cluster that share no work: the first one does it all (A5).
static bool onlyFirstLane(func::FuncOp func, const ModuleState &module) {
  if (module.arch != pto::Arch::A5)
    return false;
  bool unsplit = false, split = false, lanes = false;
  func.walk([&](Operation *op) {
    if (isa<pto::GetSubblockIdxOp, pto::GetSubblockNumOp>(op))
      lanes = true;
    if (auto axis = op->getAttrOfType<IntegerAttr>("split"))
      (axis.getValue().isZero() ? unsplit : split) = true;
  });
  return unsplit && !split && !lanes;
}

LogicalResult FunctionEmitter::emitBody() {
  Region &body = func_.getBody();
  jumps_ = !body.hasOneBlock();
  if (!jumps_)
    findNeeded();
  StringRef macro = !kind_                            ? ""
                    : *kind_ == pto::KernelKind::Cube ? "#if defined(__DAV_CUBE__)"
                                                      : "#if defined(__DAV_VEC__)";
  if (!macro.empty())
    out_.directive(macro);
  bool vector = kind_ == pto::KernelKind::Vector;
  if (vector) {
    out_.line("set_mask_norm();");
    out_.line("set_vector_mask(-1, -1);");
  }
  bool lane = vector && onlyFirstLane(func_, module_);
  if (lane && jumps_) { // no jump may enter a block
    out_.open("if (get_subblockid() != 0)");
    out_.line("return;");
    out_.close();
    lane = false;
  }
  if (lane)
    out_.open("if (get_subblockid() == 0)");
  if (failed(emitRegions(body)))
    return failure();
  if (lane)
    out_.close();
  if (!macro.empty()) {
    if (func_.getNumResults() == 1) {
      out_.directive("#else");
      out_.line("return {};");
    }
    out_.directive("#endif");
  }
  return success();
}

FailureOr<std::string> FunctionEmitter::emit() {
  std::string signature;
  if (failed(tailMode(func_)) || failed(emitSignature(signature)))
    return failure();
  CppWriter text;
  if (func_.isExternal()) {
    text.line(signature + ";");
    return text.take();
  }
  if (failed(emitBody()))
    return failure();
  StringRef body = out_.text();
  // clang-format puts a body of one statement behind the head if both fit in a line.
  StringRef only = body.trim();
  bool simple = top_.empty() && out_.lineCount() == 1 && only.ends_with(";") &&
                !only.contains('\n') && signature.size() + only.size() + 5 <= CppWriter::kColumns;
  if (body.empty() && top_.empty()) {
    text.line(signature + " {}");
    return text.take();
  }
  if (simple) {
    text.line(signature + " { " + only + " }");
    return text.take();
  }
  text.open(signature);
  for (const std::string &line : top_)
    text.line(line);
  text.append(body);
  text.close();
  return text.take();
}

} // namespace ptoas::cpp
