//===- VerifyAll.cpp - every broken rule of a module, not only the first ---===//
#include "VerifyAll.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

// Messages after this many would bury the first one.
static constexpr unsigned kMaxErrors = 100;

static bool verifyAttributes(Operation *op) {
  bool good = true;
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (Dialect *dialect = attr.getNameDialect())
      good &= succeeded(dialect->verifyOperationAttribute(op, attr));
  return good;
}

// In the generic form of an op that once had fewer operands their counts may be missing: the
// optional ones are then what is there beyond the others, each in its turn if it is of that kind.
static void countOperands(pto::TileOpInterface op) {
  ArrayRef<pto::OperandSpec> specs = op.getTileOpInfo().operands;
  auto sizes = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  int64_t extra = op->getNumOperands();
  for (const pto::OperandSpec &spec : specs)
    extra -= !spec.optional;
  if (!sizes || extra < 0 ||
      llvm::any_of(
          sizes.asArrayRef(), [](int32_t size) { return size; }) ||
      llvm::any_of(specs, [](const pto::OperandSpec &spec) { return spec.variadic; }))
    return;
  SmallVector<int32_t> counts;
  unsigned next = 0;
  for (const pto::OperandSpec &spec : specs) {
    bool fits = extra > 0 && next < op->getNumOperands() &&
                isa<pto::TileBufType>(op->getOperand(next).getType()) ==
                    (spec.kind == pto::OperandKind::Tile);
    bool taken = !spec.optional || fits;
    counts.push_back(taken);
    next += taken;
    extra -= taken && spec.optional;
  }
  if (extra == 0)
    op->setAttr("operandSegmentSizes", DenseI32ArrayAttr::get(op->getContext(), counts));
}

LogicalResult ptoas::verifyOps(ModuleOp module) {
  unsigned errors = 0;
  module->walk(countOperands);
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto registered = op->getRegisteredInfo();
    bool good = !registered || succeeded(registered->verifyInvariants(op));
    // Rules of attributes ask the op for its type, and so on.
    errors += !good || !verifyAttributes(op);
    if (errors >= kMaxErrors) {
      op->emitError() << "too many errors, the rest of the file was not checked";
      return WalkResult::interrupt();
    }
    // The rules of ops inside rely on those of the op around them.
    return good ? WalkResult::advance() : WalkResult::skip();
  });
  return failure(errors);
}

LogicalResult ptoas::verifyAll(ModuleOp module) {
  if (failed(verifyOps(module)))
    return failure();
  unsigned errors = 0;
  // Rules of regions rely on those of the ops inside.
  module->walk([&](Operation *op) {
    auto registered = op->getRegisteredInfo();
    if (registered && op->getNumRegions() && errors < kMaxErrors)
      errors += failed(registered->verifyRegionInvariants(op));
  });
  return errors ? failure() : verify(module);
}

// Names that an op's text form gives an operand count or a mark of its own, not attributes to
// write.
static bool isWritten(StringRef name) {
  return !name.ends_with("SegmentSizes") && name != "scalarFirst";
}

// Modules and functions carry attributes of any tool; one that is nearly one of ours is a slip.
static bool warnMisspelt(Operation *op) {
  static constexpr StringLiteral known[] = {
      "pto.target_arch",         "pto.device-spec",    "pto.entry",   "pto.kernel_kind",
      "pto.auto_sync_tail_hint", "pto.internal.entry", "pto.backend", "pto.kernel",
      "pto.tileop.helper"};
  bool warned = false;
  for (NamedAttribute attr : op->getDiscardableAttrs()) {
    StringRef name = attr.getName();
    if (!name.starts_with("pto.") || llvm::is_contained(known, name))
      continue;
    const StringLiteral *closest = llvm::min_element(known, [&](StringRef a, StringRef b) {
      return name.edit_distance(a) < name.edit_distance(b);
    });
    if (name.edit_distance(*closest) > 2)
      continue;
    op->emitWarning() << "the attribute '" << name << "' is not known and ignored; did you mean '"
                      << *closest << "'?";
    warned = true;
  }
  return warned;
}

void ptoas::warnUnknownAttributes(ModuleOp module) {
  unsigned warnings = 0;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ModuleOp, FunctionOpInterface>(op) && warnMisspelt(op) && ++warnings >= kMaxErrors)
      return WalkResult::interrupt();
    if (!op->isRegistered() || !isa_and_nonnull<pto::PTODialect>(op->getDialect()))
      return WalkResult::advance();
    for (NamedAttribute attr : op->getDiscardableAttrs()) {
      // A name with a dot belongs to some dialect, and tools of that dialect may look for it.
      StringRef name = attr.getName();
      if (name.contains('.'))
        continue;
      InFlightDiagnostic warning = op->emitWarning();
      warning << "'" << op->getName() << "' op does not know the attribute '" << name
              << "' and ignores it; ";
      SmallVector<StringRef> known;
      for (StringAttr candidate : op->getName().getAttributeNames())
        if (isWritten(candidate))
          known.push_back(candidate);
      if (known.empty())
        warning << "it has no attributes";
      else
        warning << "its attributes are " << llvm::join(known, ", ");
      if (++warnings >= kMaxErrors)
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
}

void ptoas::warnLoadClauses(ModuleOp module) {
  module.walk([](pto::TLoadOp load) {
    SmallVector<StringRef> words;
    auto add = [&](bool isThere, StringRef word) {
      if (isThere)
        words.push_back(word);
    };
    add(load.getPadMode() && *load.getPadMode() != pto::PadMode::PadNull, "pad_mode");
    add(bool(load.getPadValue()), "pad_value");
    add(bool(load.getLeftPaddingNum()), "left_padding_num");
    add(load.getInitOutBuffer(), "init_out_buffer");
    add(bool(load.getRightPaddingNum()), "right_padding_num");
    add(bool(load.getInitCondition()), "init_condition");
    if (!words.empty())
      load.emitWarning() << "'pto.tload' op pads as the type of its tile says (pad=); the "
                            "instruction has no parameter for "
                         << llvm::join(words, ", ") << ", which "
                         << (words.size() == 1 ? "has" : "have") << " no effect";
  });
}

void ptoas::noteEarlierTypes(const llvm::SourceMgr &sources, MLIRContext &context) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  StringRef text = buffer->getBuffer();
  for (size_t at = text.find("!pto.tile<"); at != StringRef::npos;
       at = text.find("!pto.tile<", at + 1)) {
    auto [line, column] = sources.getLineAndColumn(llvm::SMLoc::getFromPointer(text.data() + at),
                                                   sources.getMainFileID());
    if (text.slice(at + 1 - column, at).contains("//"))
      continue; // in a comment
    emitRemark(FileLineColLoc::get(&context, buffer->getBufferIdentifier(), line, column))
        << "'!pto.tile' is an earlier name of '!pto.tile_buf'";
    return;
  }
}

void ptoas::noteEarlierForms(ModuleOp module) {
  static constexpr std::pair<StringLiteral, StringLiteral> forms[] = {
      {"pto.subset", "pto.subview with a result type"},
      {"pto.tpack", "pto.tcvt"},
      {"pto.tstore_fp", "pto.tstore with fp"},
      {"pto.tmov.fp", "pto.tmov with a scale tile"},
      {"pto.textract_fp", "pto.textract with fp"},
      {"pto.tinsert_fp", "pto.tinsert with fp"},
      {"pto.tfillpad_inplace", "pto.tfillpad with padValue"},
      {"pto.tfillpad_expand", "pto.tfillpad with padValue"}};
  llvm::StringSet<> noted;
  auto note = [&](Operation *op, const Twine &text) {
    if (noted.insert(text.str()).second)
      op->emitRemark() << text;
  };
  module->walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    for (auto &[old, today] : forms)
      if (name == old)
        note(op, "'" + old + "' is a form of earlier versions; today it is " + today);
    if (isa<pto::THistogramOp>(op) && op->hasAttr("isMSB"))
      note(op, "isMSB is an attribute of earlier versions; today it is byte");
    if (isa<pto::TGatherOp, pto::TScatterOp>(op) && op->hasAttr("maskPattern") &&
        !op->hasAttr("axis"))
      note(op, "a mask without an axis is a form of earlier versions, read as \"row\"");
  });
}
