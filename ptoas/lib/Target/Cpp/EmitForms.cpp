//===- EmitForms.cpp - instructions by their table ------------------------===//
//
// Tile instructions are calls whose arguments stand in their records; the exceptions
// are rows of InstructionForms.def. This file reads both.
//
//===----------------------------------------------------------------------===//
#include "FunctionEmitter.h"

using namespace mlir;

namespace ptoas::cpp {

namespace {
struct Form {
  StringRef when, text;
};
struct Table {
  llvm::StringMap<SmallVector<Form, 2>> forms;
  llvm::StringSet<> needsScratch;
  llvm::StringMap<StringRef> oneType;
  Table() {
#define PTO_FORM(op, when, text) forms[op].push_back({when, text});
#define PTO_NEEDS_SCRATCH(op) needsScratch.insert(op);
#define PTO_ONE_TYPE(op, names) oneType[op] = names;
#include "InstructionForms.def"
  }
};
} // namespace

static const Table &table() {
  static const Table kTable;
  return kTable;
}

bool isInFormTable(StringRef opName) { return table().forms.contains(opName); }

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

// A default that says "nothing special".
static bool isQuiet(Attribute attr) {
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return !boolean.getValue();
  if (auto a = dyn_cast<pto::STPhaseAttr>(attr))
    return a.getValue() == pto::STPhase::Unspecified;
  if (auto a = dyn_cast<pto::AccPhaseAttr>(attr))
    return a.getValue() == pto::AccPhase::Unspecified;
  if (auto a = dyn_cast<pto::AtomicTypeAttr>(attr))
    return a.getValue() == pto::AtomicType::AtomicNone;
  if (auto a = dyn_cast<pto::ReluPreModeAttr>(attr))
    return a.getValue() == pto::ReluPreMode::NoRelu;
  if (auto a = dyn_cast<pto::GatherOOBAttr>(attr))
    return a.getValue() == pto::GatherOOB::Undefined;
  if (auto a = dyn_cast<pto::ScatterAtomicOpAttr>(attr))
    return a.getValue() == pto::ScatterAtomicOp::None;
  if (auto a = dyn_cast<pto::ScatterOOBAttr>(attr))
    return a.getValue() == pto::ScatterOOB::Undefined;
  std::string spelled = spellEnum(attr);
  return StringRef(spelled).ends_with("Algorithm::DEFAULT");
}

SmallVector<Value> FunctionEmitter::operandsOf(Operation *op, StringRef name) {
  unsigned index = 0;
  if (name == "*")
    return SmallVector<Value>(op->getOperands());
  if (!name.getAsInteger(10, index))
    return index < op->getNumOperands() ? SmallVector<Value>{op->getOperand(index)}
                                        : SmallVector<Value>{};
  auto tileOp = dyn_cast<pto::TileOpInterface>(op);
  if (!tileOp)
    return {};
  const pto::TileOpInfo &info = tileOp.getTileOpInfo();
  for (unsigned i = 0; i < info.operands.size(); ++i)
    if (info.operands[i].name == name)
      return SmallVector<Value>(tileOp.getSpecOperands(i));
  return {};
}

bool FunctionEmitter::isThere(Operation *op, StringRef name) {
  if (!operandsOf(op, name).empty())
    return true;
  Attribute attr = op->getAttr(name);
  return attr && !isQuiet(attr);
}

// Without coalesce: rows when the indices are a vector, elements when they have the data's shape.
static bool namesElements(Operation *op) {
  auto tileOp = cast<pto::TileOpInterface>(op);
  Value data = tileOp.getNamedOperand(isa<pto::MGatherOp>(op) ? "dst" : "src");
  auto type = cast<pto::TileBufType>(data.getType());
  auto indices = cast<pto::TileBufType>(tileOp.getNamedOperand("indices").getType());
  bool vector = indices.getRows() == 1 || indices.getCols() == 1;
  return !vector || (indices.getRows() == type.getRows() && indices.getCols() == type.getCols());
}

static std::optional<pto::AddressSpace> spaceOf(ArrayRef<Value> values) {
  auto type = values.empty() ? pto::TileBufType() : dyn_cast<pto::TileBufType>(values[0].getType());
  return type ? std::optional(type.getSpace()) : std::nullopt;
}

bool FunctionEmitter::holds(Operation *op, StringRef condition) {
  SmallVector<StringRef> atoms;
  condition.split(atoms, ' ', -1, /*KeepEmpty=*/false);
  return llvm::all_of(atoms, [&](StringRef atom) {
    if (atom == "A3" || atom == "A5")
      return (module_.arch == pto::Arch::A5) == (atom == "A5");
    if (atom == "axisCol") {
      auto axis = op->getAttrOfType<StringAttr>("axis");
      return axis && axis.getValue() == "col";
    }
    if (atom == "elements")
      return namesElements(op);
    if (atom == "shortInts") {
      auto type = dyn_cast<pto::TileBufType>(op->getOperand(0).getType());
      return type && type.getElementType().isInteger(16);
    }
    if (atom == "scaleNv") {
      auto scale = op->getAttrOfType<pto::QuantScaleAlgAttr>("quantScaleAlg");
      return scale && scale.getValue() == pto::QuantScaleAlg::Nv;
    }
    if (atom == "storeNz") {
      auto store = op->getAttrOfType<pto::VecStoreModeAttr>("storeMode");
      return store && spellEnum(store) == "VecStoreMode::NZ";
    }
    if (atom == "lowByte") {
      auto high = op->getAttrOfType<BoolAttr>("isMSB");
      return high && !high.getValue();
    }
    if (atom.contains('@')) {
      auto [name, space] = atom.split('@');
      return spaceOf(operandsOf(op, name)) == pto::symbolizeAddressSpace(space);
    }
    if (atom.contains('=')) {
      auto [name, other] = atom.split('=');
      return operandsOf(op, name) == operandsOf(op, other);
    }
    if (atom.consume_front("!"))
      return !isThere(op, atom);
    return isThere(op, atom);
  });
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

// What an attribute that is not written stands for.
static StringRef absentAttribute(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("accToVecMode", "AccToVecMode::SingleModeVec0")
      .Case("atomicType", "AtomicType::AtomicNone")
      .Case("reluPreMode", "ReluPreMode::NoRelu")
      .Case("stPhase", "STPhase::Unspecified")
      .Case("scatterAtomicOp", "ScatterAtomicOp::None")
      .Case("scatterOob", "ScatterOOB::Undefined")
      .Case("cmpMode", "CmpMode::EQ")
      .Case("rmode", "RoundMode::CAST_RINT")
      .Case("quantScaleAlg", "QuantScaleAlg::OCP")
      .Case("storeMode", "VecStoreMode::ND")
      .Case("isBinary", "false")
      .Cases({"offset", "mode", "upperOrLower"}, "0")
      .Case("rounds", "10")
      .Default("");
}

static std::string mxAlgorithm(Operation *op) {
  auto quant = op->getAttrOfType<pto::QuantTypeAttr>("quant_type");
  auto scale = op->getAttrOfType<pto::QuantScaleAlgAttr>("quantScaleAlg");
  bool nv = scale && scale.getValue() == pto::QuantScaleAlg::Nv;
  bool fp4 = quant && quant.getValue() == pto::QuantType::MXFP4_E2M1;
  return std::string("MxQuantAlg::") + (nv ? "Nv" : "Ocp") + (fp4 ? "MxFp4E2M1" : "MxFp8E4M3");
}

static std::string spellAttribute(Operation *op, StringRef name) {
  if (name == "mxAlg")
    return mxAlgorithm(op);
  Attribute attr = op->getAttr(name);
  if (!attr)
    return absentAttribute(name).str();
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return boolean.getValue() ? "true" : "false";
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return std::to_string(integer.getValue().getSExtValue());
  std::string text = spellEnum(attr);
  // The tile-scalar forms have enumerations of their own for two of the instructions.
  if (op->getName().getStringRef() == "pto.trems" || op->getName().getStringRef() == "pto.tfmods")
    if (size_t at = text.find("Algorithm"); at != std::string::npos)
      text.insert(at, "S");
  return text;
}

static StringRef takeName(StringRef &text) {
  StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '*'; });
  text = text.drop_front(name.size());
  return name;
}

// The part of `text` up to the bracket that closes the one in front of it.
static StringRef takeGroup(StringRef &text, char open, char close) {
  unsigned depth = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == open;
    depth -= text[i] == close;
    if (!depth) {
      StringRef group = text.take_front(i);
      text = text.drop_front(i + 1);
      return group;
    }
  }
  return std::exchange(text, StringRef());
}

// The first thing named in a group decides whether it is there.
static StringRef firstName(StringRef group) {
  size_t at = group.find_first_of("%^$");
  if (at == StringRef::npos)
    return "";
  group = group.drop_front(at + 1);
  return takeName(group);
}

LogicalResult FunctionEmitter::expand(Operation *op, StringRef text, std::string &out) {
  while (!text.empty()) {
    size_t special = text.find_first_of("%^$[{@");
    out += text.take_front(special);
    if (special == StringRef::npos)
      return success();
    char kind = text[special];
    text = text.drop_front(special + 1);
    if (kind == '@') {
      out += text.take_front();
      text = text.drop_front();
      continue;
    }
    if (kind == '[') {
      StringRef group = takeGroup(text, '[', ']');
      if (isThere(op, firstName(group)) && failed(expand(op, group, out)))
        return failure();
      continue;
    }
    if (kind == '{') {
      auto [condition, group] = takeGroup(text, '{', '}').split(": ");
      // a|b: one of them; a&b: a, and one of what follows.
      auto [needed, choices] = condition.split('&');
      if (choices.empty())
        std::swap(needed, choices);
      SmallVector<StringRef> names;
      choices.split(names, '|');
      bool there = (needed.empty() || isThere(op, needed)) &&
                   llvm::any_of(names, [&](StringRef name) { return isThere(op, name); });
      if (there && failed(expand(op, group, out)))
        return failure();
      continue;
    }
    if (kind == '^' && text.consume_front("=")) {
      std::optional<std::string> type = module_.types.value(op->getResult(0).getType());
      if (!type)
        return op->emitOpError() << "has no C++ form: there is no C++ type for "
                                 << op->getResult(0).getType();
      out += *type;
      continue;
    }
    bool elementType = kind == '^' && text.consume_front(":");
    StringRef name = takeName(text);
    if (kind == '$') {
      std::string spelled = spellAttribute(op, name);
      if (spelled.empty())
        return op->emitOpError() << "has no C++ form without the attribute '" << name << "'";
      out += spelled;
      continue;
    }
    SmallVector<Value> values = operandsOf(op, name);
    if (values.empty())
      return op->emitOpError() << "has no C++ form without the operand '" << name << "'";
    for (auto [i, value] : llvm::enumerate(values)) {
      if (i)
        out += ", ";
      if (kind == '%') {
        out += expr(value);
        continue;
      }
      if (auto tile = dyn_cast<pto::TileBufType>(value.getType()); tile && elementType) {
        out += spellElement(tile.getElementType());
        continue;
      }
      std::optional<std::string> type = typeName(value);
      if (!type)
        return op->emitOpError() << "has no C++ form: there is no C++ type for " << value.getType();
      out += *type;
    }
  }
  return success();
}

LogicalResult FunctionEmitter::emitText(Operation *op, StringRef text) {
  if (text.consume_front("!"))
    return op->emitOpError() << "has no C++ form: " << text;
  SmallVector<StringRef> statements;
  text.split(statements, ';');
  unsigned nextResult = 0;
  for (StringRef statement : statements) {
    bool defines = statement.consume_front("=");
    std::string spelled;
    if (failed(expand(op, statement, spelled)))
      return failure();
    if (!defines)
      out_.line(spelled + ";");
    else if (failed(result(op->getResult(nextResult++), spelled)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::optional<LogicalResult> FunctionEmitter::emitForm(Operation *op) {
  auto it = table().forms.find(op->getName().getStringRef());
  if (it == table().forms.end())
    return std::nullopt;
  for (const Form &form : it->second)
    if (holds(op, form.when))
      return emitText(op, form.text);
  return std::nullopt;
}

// TMRGSORT<Dst, Tmp, Src…, exhausted>(dst, counts, tmp, src…)
LogicalResult FunctionEmitter::emitMergeSort(Operation *op) {
  SmallVector<Value> sources = operandsOf(op, "srcs"), tmp = operandsOf(op, "tmp"),
                     counts = operandsOf(op, "executed"), dst = operandsOf(op, "dst");
  if (tmp.empty())
    return op->emitOpError() << "needs its scratch tile 'tmp' in C++: give one";
  std::string types = *typeName(dst[0]) + ", " + *typeName(tmp[0]);
  std::string arguments = expr(dst[0]) + ", ";
  if (counts.empty()) {
    std::string name = newName("counts");
    object("MrgSortExecutedNumList", name, "");
    arguments += name;
  } else {
    arguments += expr(counts[0]);
  }
  arguments += ", " + expr(tmp[0]);
  for (Value source : sources) {
    types += ", " + *typeName(source);
    arguments += ", " + expr(source);
  }
  auto exhausted = op->getAttrOfType<BoolAttr>("exhausted");
  out_.line("TMRGSORT<" + types + ", " + (exhausted && exhausted.getValue() ? "true" : "false") +
            ">(" + arguments + ");");
  return success();
}

// What the dialect can say and the headers cannot.
LogicalResult FunctionEmitter::checkAttributes(pto::TileOpInterface tileOp) {
  Operation *op = tileOp.getOperation();
  auto relu = op->getAttrOfType<pto::ReluPreModeAttr>("reluPreMode");
  if (relu && relu.getValue() > pto::ReluPreMode::NormalRelu)
    return op->emitOpError() << "has no C++ form: the instruction headers know reluPreMode no_relu "
                                "and normal_relu, got "
                             << pto::stringifyReluPreMode(relu.getValue());
  auto pad = op->getAttrOfType<pto::PadValueAttr>("padValue");
  Value dst = tileOp.getNamedOperand("dst");
  auto type = dst ? dyn_cast<pto::TileBufType>(dst.getType()) : pto::TileBufType();
  if (!pad || !type)
    return success();
  if (type.getSpace() == pto::AddressSpace::Vec) {
    // The pad value is a part of the tile's type.
    if (pad.getValue() == type.getPad())
      return success();
    auto padded = pto::TileBufType::get(type.getContext(), type.getSpace(), type.getRows(),
                                        type.getCols(), type.getElementType(), type.getValidRow(),
                                        type.getValidCol(), type.getBlayout(), type.getSlayout(),
                                        type.getFractal(), pad.getValue(), type.getCompact());
    renamed_.push_back({dst, expr(dst)});
    names_[dst] = sameBytesAs(dst, padded);
    return success();
  }
  if (!isa<pto::TFillPadOp>(op))
    return op->emitOpError()
           << "has no C++ form: of tiles in L1 only pto.tfillpad takes a padValue";
  if (pad.getValue() != pto::PadValue::Null && pad.getValue() != pto::PadValue::Zero)
    return op->emitOpError() << "has no C++ form: tiles in L1 are padded with null or zero, got "
                             << pto::stringifyPadValue(pad.getValue());
  return success();
}

// Some functions take several tiles as one type: those of another type get a second handle.
LogicalResult FunctionEmitter::unifyTypes(pto::TileOpInterface tileOp) {
  auto it = table().oneType.find(tileOp.getTileOpInfo().mnemonic);
  if (it == table().oneType.end())
    return success();
  SmallVector<StringRef> names;
  it->second.split(names, ' ');
  Value first = tileOp.getNamedOperand(names[0]);
  std::optional<std::string> wanted = typeName(first);
  for (StringRef name : ArrayRef(names).drop_front()) {
    Value value = tileOp.getNamedOperand(name);
    auto renamed = [&](auto &entry) { return entry.first == value; };
    if (!value || typeName(value) == wanted || llvm::any_of(renamed_, renamed))
      continue;
    if (cppTile(value).isRowMajor() != cppTile(first).isRowMajor() ||
        cppTile(value).getCols() != cppTile(first).getCols())
      return tileOp->emitOpError()
             << "has no C++ form: the instruction takes '" << name << "' and '" << names[0]
             << "' as one type of tile, and their rows have another pitch";
    renamed_.push_back({value, expr(value)});
    names_[value] = sameBytesAs(value, cppTile(first));
  }
  return success();
}

LogicalResult FunctionEmitter::emitTileOp(pto::TileOpInterface tileOp) {
  if (failed(checkAttributes(tileOp)) || failed(unifyTypes(tileOp)))
    return failure();
  LogicalResult done = emitInstruction(tileOp);
  for (auto &[value, name] : llvm::reverse(renamed_))
    names_[value] = std::move(name);
  renamed_.clear();
  return done;
}

LogicalResult FunctionEmitter::emitInstruction(pto::TileOpInterface tileOp) {
  Operation *op = tileOp.getOperation();
  const pto::TileOpInfo &info = tileOp.getTileOpInfo();
  // Everything an instruction names must have a C++ type.
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<pto::TileBufType>(operand.getType());
        type && spellElement(type.getElementType()).empty())
      return op->emitOpError() << "has no C++ form: there is no C++ element type for "
                               << type.getElementType();
  std::string standIn;
  if (table().needsScratch.contains(info.mnemonic) && tileOp.getScratch().empty()) {
    if (module_.arch == pto::Arch::A3)
      return op->emitOpError() << "needs its scratch tile 'tmp' in C++ on A2/A3: give one";
    standIn = newName("tmp");
    auto bytes =
        pto::TileBufType::get(pto::AddressSpace::Vec, 1, 32,
                              IntegerType::get(op->getContext(), 8, IntegerType::Unsigned), 1, 32);
    object(*module_.types.tile(bytes), standIn, "");
  }
  if (isa<pto::TMrgSortOp>(op) && operandsOf(op, "blockLen").empty())
    return emitMergeSort(op);
  if (info.mnemonic == "pto.trandom")
    module_.random = true;
  if (std::optional<LogicalResult> done = emitForm(op))
    return *done;

  std::string text = info.cppName.str();
  for (StringRef name : {"precisionType", "accPhase"})
    if (isThere(op, name))
      text += "<" + spellAttribute(op, name) + ">";
  text += "(";
  bool first = true;
  auto add = [&](StringRef argument) {
    text += first ? "" : ", ";
    text += argument;
    first = false;
  };
  auto addGroup = [&](pto::OperandGroup group) {
    for (unsigned i = 0; i < info.operands.size(); ++i) {
      if (info.operands[i].group != group)
        continue;
      auto values = tileOp.getSpecOperands(i);
      for (Value value : values)
        add(expr(value));
      if (values.empty() && info.operands[i].effect == pto::OperandEffect::Scratch &&
          !standIn.empty())
        add(standIn);
    }
  };
  addGroup(pto::OperandGroup::Outs);
  addGroup(pto::OperandGroup::Ins);
  out_.line(text + ");");
  return success();
}

} // namespace ptoas::cpp
