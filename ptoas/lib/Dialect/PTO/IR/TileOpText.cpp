//===- TileOpText.cpp - the uniform text form of tile ops -----------------===//
//
//   pto.X ins(%a, %b {attrs} : TA, TB) outs(%d : TD) {attrs}
//
// Attributes are read in either place. Operands may also carry their own type
// (`ins(%a : TA, %q : i64)`), a scale tile may follow as `fp %s : T`, the mask
// form of gathers ends in "row" or "col", and a padded load has clauses behind.
//
//===----------------------------------------------------------------------===//
#include "EnumText.h"
#include "OpSupport.h"

using namespace mlir;
using namespace mlir::pto;

namespace {
struct ParsedOperand {
  OpAsmParser::UnresolvedOperand operand;
  Type type;
  bool isScale = false; // written as `fp %s : T`
};

struct ParsedOp {
  SmallVector<ParsedOperand> ins, outs;
  SmallVector<std::pair<StringRef, ParsedOperand>> clauses;
  NamedAttrList attrs;
};
} // namespace

static StringRef describe(OperandKind kind) {
  switch (kind) {
  case OperandKind::Tile:
    return "a tile";
  case OperandKind::View:
    return "a tensor view or a partition of one";
  case OperandKind::Scalar:
    return "a scalar";
  case OperandKind::Index:
    return "an index";
  case OperandKind::Vector:
    return "a vector";
  case OperandKind::Ptr:
    return "a pointer";
  }
  return "";
}

static bool isOfKind(Type type, OperandKind kind) {
  switch (kind) {
  case OperandKind::Tile:
    return isa<TileBufType>(type);
  case OperandKind::View:
    return isa<TensorViewType, PartitionTensorViewType>(type);
  case OperandKind::Scalar:
  case OperandKind::Index:
    return isa<IntegerType, FloatType, IndexType>(type);
  case OperandKind::Vector:
    return isa<VectorType>(type);
  case OperandKind::Ptr:
    return isa<PtrType>(type);
  }
  return false;
}

static ParseResult parseTypedOperand(OpAsmParser &parser, ParsedOperand &item) {
  return failure(parser.parseOperand(item.operand) || parser.parseColonType(item.type));
}

// `(` operands [attrs] `:` types [more] `)`
static ParseResult parseGroup(OpAsmParser &parser, StringRef group,
                              SmallVectorImpl<ParsedOperand> &items, NamedAttrList &attrs) {
  if (parser.parseLParen())
    return failure();
  SMLoc afterComma;
  do {
    ParsedOperand item;
    SMLoc at = parser.getCurrentLocation();
    OptionalParseResult parsed = parser.parseOptionalOperand(item.operand);
    if (!parsed.has_value()) {
      if (!items.empty())
        afterComma = at;
      break;
    }
    if (failed(*parsed))
      return failure();
    items.push_back(item);
  } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseOptionalAttrDict(attrs))
    return failure();
  // Only a mask pattern stands in the list like an operand.
  if (afterComma.isValid() && !attrs.get("maskPattern"))
    return parser.emitError(afterComma) << "expected an operand behind the comma; attributes "
                                           "follow the last operand without one";
  if (items.empty())
    return parser.parseRParen();
  if (parser.parseColon())
    return failure();
  unsigned listed = items.size();
  for (unsigned i = 0; i < listed; ++i) {
    SMLoc loc = parser.getCurrentLocation();
    if (i && failed(parser.parseOptionalComma()))
      return parser.emitError(loc) << group << "(...) lists " << listed << " operands but " << i
                                   << " type" << (i == 1 ? "" : "s");
    if (parser.parseType(items[i].type))
      return failure();
  }
  while (true) {
    ParsedOperand item;
    if (succeeded(parser.parseOptionalKeyword("fp"))) {
      item.isScale = true;
      if (parseTypedOperand(parser, item))
        return failure();
      items.push_back(item);
      continue;
    }
    if (failed(parser.parseOptionalComma()))
      break;
    std::string axis;
    if (succeeded(parser.parseOptionalString(&axis))) {
      attrs.set("axis", parser.getBuilder().getStringAttr(axis));
      continue;
    }
    SMLoc loc = parser.getCurrentLocation();
    OptionalParseResult parsed = parser.parseOptionalOperand(item.operand);
    if (!parsed.has_value())
      return parser.emitError(loc) << group << "(...) lists " << listed << " operand"
                                   << (listed == 1 ? "" : "s") << " but more types";
    if (failed(*parsed) || parser.parseColonType(item.type))
      return failure();
    items.push_back(item);
  }
  return parser.parseRParen();
}

// What stands behind a padded load, in any order.
static ParseResult parseClauses(OpAsmParser &parser, ParsedOp &parsed) {
  static constexpr std::pair<StringLiteral, StringLiteral> operandClauses[] = {
      {"pad_value", "padValue"},
      {"left_padding_num", "leftPaddingNum"},
      {"right_padding_num", "rightPaddingNum"},
      {"init_condition", "initCondition"}};
  bool found = true;
  while (found) {
    found = false;
    if (succeeded(parser.parseOptionalKeyword("pad_mode"))) {
      PadModeAttr mode;
      if (parser.parseEqual() || parser.parseCustomAttributeWithFallback(mode))
        return failure();
      parsed.attrs.set("padMode", mode);
      found = true;
    }
    if (succeeded(parser.parseOptionalKeyword("init_out_buffer"))) {
      if (parser.parseEqual())
        return failure();
      bool flag = succeeded(parser.parseOptionalKeyword("true"));
      if (!flag && parser.parseKeyword("false"))
        return failure();
      if (flag)
        parsed.attrs.set("initOutBuffer", parser.getBuilder().getUnitAttr());
      found = true;
    }
    for (auto [word, name] : operandClauses) {
      if (failed(parser.parseOptionalKeyword(word)))
        continue;
      ParsedOperand item;
      if (parser.parseEqual() || parseTypedOperand(parser, item))
        return failure();
      parsed.clauses.push_back({name, item});
      found = true;
    }
  }
  return success();
}

// Gives each operand of a group its items. `counts` and `order` grow in spec order.
static ParseResult assignGroup(OpAsmParser &parser, SMLoc loc, const TileOpInfo &info,
                               OperandGroup group, SmallVectorImpl<ParsedOperand> &items,
                               const NamedAttrList &attrs,
                               SmallVectorImpl<SmallVector<ParsedOperand>> &assigned) {
  StringRef groupName = group == OperandGroup::Ins ? "ins" : "outs";
  SmallVector<ParsedOperand> scales, plain;
  for (ParsedOperand &item : items)
    (item.isScale ? scales : plain).push_back(item);
  unsigned next = 0, maximum = 0;
  for (unsigned i = 0; i < info.operands.size(); ++i) {
    const OperandSpec &spec = info.operands[i];
    if (spec.group != group)
      continue;
    ++maximum;
    if (spec.name == "fp" && !scales.empty()) {
      assigned[i].push_back(scales.pop_back_val());
      continue;
    }
    unsigned needed = 0; // items that later operands must get
    for (const OperandSpec &later : info.operands.drop_front(i + 1))
      needed += later.group == group && !later.optional && !later.variadic;
    unsigned left = plain.size() - next;
    if (spec.variadic) {
      // The last of several tiles is the scratch tile of the op, if it has one.
      unsigned tiles = 0;
      while (next + tiles < plain.size() && isOfKind(plain[next + tiles].type, spec.kind))
        ++tiles;
      bool hasScratch = tiles > 1 && tiles == left && !attrs.get("no_tmp") &&
                        llvm::any_of(info.operands.drop_front(i + 1), [](const OperandSpec &later) {
                          return later.effect == OperandEffect::Scratch;
                        });
      for (unsigned n = spec.kind == OperandKind::Tile && info.mnemonic == "pto.tsync"
                            ? left
                            : tiles - hasScratch;
           n; --n)
        assigned[i].push_back(plain[next++]);
      continue;
    }
    if (spec.optional) {
      if (left > needed && isOfKind(plain[next].type, spec.kind))
        assigned[i].push_back(plain[next++]);
      continue;
    }
    if (!left)
      return parser.emitError(loc)
             << "operand '" << spec.name << "' is missing in " << groupName << "(...)";
    if (!isOfKind(plain[next].type, spec.kind))
      return parser.emitError(loc) << "operand '" << spec.name << "' must be "
                                   << describe(spec.kind) << ", its type is " << plain[next].type;
    assigned[i].push_back(plain[next++]);
  }
  if (next < plain.size() || !scales.empty())
    return parser.emitError(loc) << "has an operand too many or of the wrong type in " << groupName
                                 << "(...): it takes at most " << maximum << ", got "
                                 << items.size();
  return success();
}

ParseResult mlir::pto::takeAttributes(OpAsmParser &parser, OperationState &result,
                                      const NamedAttrList &attrs) {
  // The parser puts the name of the op in front.
  auto error = [&] { return parser.emitError(parser.getNameLoc()); };
  if (std::optional<NamedAttribute> twice = attrs.findDuplicate())
    return error() << "gives the attribute '" << twice->getName().getValue() << "' twice";
  result.addAttributes(attrs);
  // Creating the op would drop an inherent attribute of another kind without a word.
  auto registered = result.name.getRegisteredInfo();
  return failure(registered && failed(registered->verifyInherentAttrs(result.attributes, error)));
}

ParseResult mlir::pto::parseTileOp(OpAsmParser &parser, OperationState &result,
                                   const TileOpInfo &info, bool hasSegments) {
  SMLoc loc = parser.getNameLoc();
  ParsedOp parsed;
  auto hasGroup = [&](OperandGroup group) {
    return llvm::any_of(info.operands,
                        [&](const OperandSpec &spec) { return spec.group == group; });
  };
  if (hasGroup(OperandGroup::Ins) &&
      (parser.parseKeyword("ins") || parseGroup(parser, "ins", parsed.ins, parsed.attrs)))
    return failure();
  if (hasGroup(OperandGroup::Outs) &&
      (parser.parseKeyword("outs") || parseGroup(parser, "outs", parsed.outs, parsed.attrs)))
    return failure();
  if (parser.parseOptionalAttrDict(parsed.attrs))
    return failure();
  if (hasGroup(OperandGroup::Clause) && parseClauses(parser, parsed))
    return failure();

  if (info.scalarMayLead && parsed.ins.size() == 2 &&
      isOfKind(parsed.ins[0].type, OperandKind::Scalar) &&
      isOfKind(parsed.ins[1].type, OperandKind::Tile)) {
    std::swap(parsed.ins[0], parsed.ins[1]);
    parsed.attrs.set("scalarFirst", parser.getBuilder().getUnitAttr());
  }
  SmallVector<SmallVector<ParsedOperand>> assigned(info.operands.size());
  if (assignGroup(parser, loc, info, OperandGroup::Ins, parsed.ins, parsed.attrs, assigned) ||
      assignGroup(parser, loc, info, OperandGroup::Outs, parsed.outs, parsed.attrs, assigned))
    return failure();
  for (auto &[name, item] : parsed.clauses)
    for (unsigned i = 0; i < info.operands.size(); ++i)
      if (info.operands[i].name == name)
        assigned[i].push_back(item);

  SmallVector<int32_t> sizes;
  for (auto &items : assigned) {
    sizes.push_back(items.size());
    for (ParsedOperand &item : items)
      if (resolveTyped(parser, item.operand, item.type, result.operands))
        return failure();
  }
  if (hasSegments)
    parsed.attrs.set("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(sizes));
  return takeAttributes(parser, result, parsed.attrs);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

// Attributes that say "nothing special" with their default.
static bool isQuietDefault(NamedAttribute attr) {
  StringRef name = attr.getName();
  Attribute value = attr.getValue();
  if (name == "stPhase")
    return cast<STPhaseAttr>(value).getValue() == STPhase::Unspecified;
  if (name == "atomicType")
    return cast<AtomicTypeAttr>(value).getValue() == AtomicType::AtomicNone;
  if (name == "reluPreMode")
    return cast<ReluPreModeAttr>(value).getValue() == ReluPreMode::NoRelu;
  if (name == "gatherOob")
    return cast<GatherOOBAttr>(value).getValue() == GatherOOB::Undefined;
  if (name == "scatterAtomicOp")
    return cast<ScatterAtomicOpAttr>(value).getValue() == ScatterAtomicOp::None;
  if (name == "scatterOob")
    return cast<ScatterOOBAttr>(value).getValue() == ScatterOOB::Undefined;
  return false;
}

void mlir::pto::printPlainDict(OpAsmPrinter &printer, ArrayRef<NamedAttribute> attrs) {
  if (attrs.empty())
    return;
  printer << " {";
  llvm::interleaveComma(attrs, printer, [&](NamedAttribute attr) {
    printer.printKeywordOrString(attr.getName().getValue());
    if (isa<UnitAttr>(attr.getValue()))
      return;
    printer << " = ";
    auto integer = dyn_cast<IntegerAttr>(attr.getValue());
    if (integer && integer.getType().isInteger(64))
      printer << integer.getInt();
    else
      printer.printAttribute(attr.getValue());
  });
  printer << "}";
}

void mlir::pto::printTileOp(OpAsmPrinter &printer, TileOpInterface op) {
  const TileOpInfo &info = op.getTileOpInfo();
  Operation *operation = op.getOperation();
  SmallVector<Value> ins, outs;
  SmallVector<std::pair<StringRef, Value>> clauses;
  Value scale;
  for (unsigned i = 0; i < info.operands.size(); ++i)
    for (Value value : op.getSpecOperands(i)) {
      const OperandSpec &spec = info.operands[i];
      if (spec.group == OperandGroup::Outs)
        outs.push_back(value);
      else if (spec.group == OperandGroup::Clause)
        clauses.push_back({spec.name, value});
      else if (spec.name == "fp" && spec.optional && !isa<TMovOp>(operation))
        scale = value;
      else
        ins.push_back(value);
    }
  bool maskForm = operation->hasAttr("maskPattern");
  if (operation->hasAttr("scalarFirst"))
    std::swap(ins[0], ins[1]);
  SmallVector<NamedAttribute> inside, behind;
  StringAttr axis;
  for (NamedAttribute attr : operation->getAttrs()) {
    StringRef name = attr.getName();
    if (name == "operandSegmentSizes" || name == "scalarFirst" || name == "padMode" ||
        name == "initOutBuffer" || isQuietDefault(attr))
      continue;
    if (maskForm && name == "axis")
      axis = cast<StringAttr>(attr.getValue());
    else if (info.attrsInside || (maskForm && name == "maskPattern"))
      inside.push_back(attr);
    else
      behind.push_back(attr);
  }
  auto printTypes = [&](ArrayRef<Value> values) {
    printer << " : ";
    llvm::interleaveComma(values, printer, [&](Value value) { printer << value.getType(); });
  };
  if (!ins.empty()) {
    printer << " ins(";
    printer.printOperands(ins);
    if (maskForm)
      printer << ",";
    printPlainDict(printer, inside);
    printTypes(ins);
    if (scale)
      printer << " fp " << scale << " : " << scale.getType();
    if (axis)
      printer << ", " << axis;
    printer << ")";
  }
  if (!outs.empty()) {
    printer << " outs(";
    printer.printOperands(outs);
    printTypes(outs);
    printer << ")";
  }
  printPlainDict(printer, behind);
  auto load = dyn_cast<TLoadOp>(operation);
  if (!load)
    return;
  if (auto mode = load.getPadModeAttr())
    printer << " pad_mode = <" << stringifyPadMode(mode.getValue()) << ">";
  auto printClause = [&](StringRef text, Value value) {
    if (value)
      printer << " " << text << " = " << value << " : " << value.getType();
  };
  printClause("pad_value", load.getPadValue());
  printClause("left_padding_num", load.getLeftPaddingNum());
  if (load.getInitOutBuffer())
    printer << " init_out_buffer = true";
  printClause("right_padding_num", load.getRightPaddingNum());
  printClause("init_condition", load.getInitCondition());
}
