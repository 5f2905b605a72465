//===- CppNames.cpp - types and enumerators in C++ ------------------------===//
#include "CppNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;

namespace ptoas::cpp {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

std::string spellElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (width == 1)
      return "bool";
    if (width != 8 && width != 16 && width != 32 && width != 64)
      return "";
    return formatv("{0}int{1}_t", integer.isUnsigned() ? "u" : "", width);
  }
  return llvm::TypeSwitch<Type, const char *>(type)
      .Case([](IndexType) { return "int64_t"; })
      .Case([](Float16Type) { return "half"; })
      .Case([](BFloat16Type) { return "bfloat16_t"; })
      .Case([](Float32Type) { return "float"; })
      .Case([](Float64Type) { return "double"; })
      .Case([](Float8E4M3FNType) { return "float8_e4m3_t"; })
      .Case([](Float8E5M2Type) { return "float8_e5m2_t"; })
      .Case([](Float8E8M0FNUType) { return "float8_e8m0_t"; })
      .Case([](pto::F8E8M0Type) { return "float8_e8m0_t"; })
      .Case([](pto::HiF8Type) { return "hifloat8_t"; })
      .Case([](pto::F4E1M2x2Type) { return "float4_e1m2x2_t"; })
      .Case([](pto::F4E2M1x2Type) { return "float4_e2m1x2_t"; })
      .Default([](Type) { return ""; });
}

// "F32", for names.
static std::string shortElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return formatv("{0}{1}", integer.isUnsigned() ? "U" : "I", integer.getWidth());
  return llvm::TypeSwitch<Type, const char *>(type)
      .Case([](Float16Type) { return "F16"; })
      .Case([](BFloat16Type) { return "BF16"; })
      .Case([](Float32Type) { return "F32"; })
      .Case([](Float64Type) { return "F64"; })
      .Case([](Float8E4M3FNType) { return "E4M3"; })
      .Case([](Float8E5M2Type) { return "E5M2"; })
      .Case<Float8E8M0FNUType, pto::F8E8M0Type>([](Type) { return "E8M0"; })
      .Case([](pto::HiF8Type) { return "HiF8"; })
      .Case([](pto::F4E1M2x2Type) { return "E1M2x2"; })
      .Case([](pto::F4E2M1x2Type) { return "E2M1x2"; })
      .Default([](Type) { return ""; });
}

//===----------------------------------------------------------------------===//
// Enumerators
//===----------------------------------------------------------------------===//

// "single_mode_vec0" -> "SingleModeVec0"
static std::string camel(StringRef words) {
  std::string text;
  bool upper = true;
  for (char c : words) {
    if (c == '_') {
      upper = true;
      continue;
    }
    text += upper ? llvm::toUpper(c) : c;
    upper = false;
  }
  return text;
}

static std::string scoped(StringRef scope, StringRef words) {
  return (scope + "::" + camel(words)).str();
}

static std::string algorithm(StringRef scope, bool high) {
  return (scope + (high ? "::HIGH_PRECISION" : "::DEFAULT")).str();
}

std::string spellPipe(pto::PIPE pipe) { return pto::stringifyPIPE(pipe).str(); }

std::string spellEnum(Attribute attr) {
  using namespace mlir::pto;
  return llvm::TypeSwitch<Attribute, std::string>(attr)
      .Case([](PIPEAttr a) { return spellPipe(a.getValue()); })
      .Case([](EVENTAttr a) { return stringifyEVENT(a.getValue()).str(); })
      .Case([](PipeEventTypeAttr a) { return spellPipe(getPipeOfEvent(a.getValue())); })
      .Case([](RoundModeAttr a) {
        StringRef name = stringifyRoundMode(a.getValue());
        name.consume_front("CAST_");
        return ("RoundMode::CAST_" + name).str();
      })
      .Case([](SaturationModeAttr a) {
        return ("SaturationMode::" + stringifySaturationMode(a.getValue())).str();
      })
      .Case([](CmpModeAttr a) { return "CmpMode::" + stringifyCmpMode(a.getValue()).upper(); })
      .Case([](MaskPatternAttr a) {
        return ("MaskPattern::" + stringifyMaskPattern(a.getValue())).str();
      })
      .Case([](STPhaseAttr a) { return scoped("STPhase", stringifySTPhase(a.getValue())); })
      .Case([](AccPhaseAttr a) { return scoped("AccPhase", stringifyAccPhase(a.getValue())); })
      .Case(
          [](AtomicTypeAttr a) { return scoped("AtomicType", stringifyAtomicType(a.getValue())); })
      .Case([](ReluPreModeAttr a) {
        return scoped("ReluPreMode", stringifyReluPreMode(a.getValue()));
      })
      .Case([](AccToVecModeAttr a) {
        return scoped("AccToVecMode", stringifyAccToVecMode(a.getValue()));
      })
      .Case([](TInsertModeAttr a) {
        return ("TInsertMode::" + stringifyTInsertMode(a.getValue())).str();
      })
      .Case([](GatherOOBAttr a) { return scoped("GatherOOB", stringifyGatherOOB(a.getValue())); })
      .Case([](ScatterAtomicOpAttr a) {
        return scoped("ScatterAtomicOp", stringifyScatterAtomicOp(a.getValue()));
      })
      .Case(
          [](ScatterOOBAttr a) { return scoped("ScatterOOB", stringifyScatterOOB(a.getValue())); })
      .Case([](ScatterConflictAttr a) {
        return scoped("ScatterConflict", stringifyScatterConflict(a.getValue()));
      })
      .Case([](CoalesceAttr a) { return scoped("Coalesce", stringifyCoalesce(a.getValue())); })
      .Case(
          [](QuantTypeAttr a) { return ("QuantType::" + stringifyQuantType(a.getValue())).str(); })
      .Case([](QuantScaleAlgAttr a) {
        return "QuantScaleAlg::" + stringifyQuantScaleAlg(a.getValue()).upper();
      })
      .Case([](VecStoreModeAttr a) {
        return "VecStoreMode::" + stringifyVecStoreMode(a.getValue()).upper();
      })
      .Case([](MxGroupAxisAttr a) { return std::to_string(unsigned(a.getValue())); })
      .Case([](PadValueAttr a) { return scoped("PadValue", stringifyPadValue(a.getValue())); })
      .Case([](PrintFormatAttr a) {
        return a.getValue() == PrintFormat::Width8Precision4   ? "PrintFormat::Width8_Precision4"
               : a.getValue() == PrintFormat::Width8Precision2 ? "PrintFormat::Width8_Precision2"
                                                               : "PrintFormat::Width10_Precision6";
      })
      .Case([](SyncAllModeAttr a) {
        return scoped("SyncAllMode", stringifySyncAllMode(a.getValue()));
      })
      .Case([](SyncCoreTypeAttr a) {
        return a.getValue() == SyncCoreType::AivOnly   ? "SyncCoreType::AIVOnly"
               : a.getValue() == SyncCoreType::AicOnly ? "SyncCoreType::AICOnly"
                                                       : "SyncCoreType::Mix";
      })
      .Case([](MemBarAttr a) { return stringifyMemBar(a.getValue()).str(); })
      .Case(
          [](NotifyOpAttr a) { return scoped("comm::NotifyOp", stringifyNotifyOp(a.getValue())); })
      .Case(
          [](WaitCmpAttr a) { return "comm::WaitCmp::" + stringifyWaitCmp(a.getValue()).upper(); })
      .Case(
          [](ReduceOpAttr a) { return scoped("comm::ReduceOp", stringifyReduceOp(a.getValue())); })
      .Case([](DivPrecisionAttr a) { return algorithm("DivAlgorithm", bool(a.getValue())); })
      .Case([](ExpPrecisionAttr a) { return algorithm("ExpAlgorithm", bool(a.getValue())); })
      .Case([](LogPrecisionAttr a) { return algorithm("LogAlgorithm", bool(a.getValue())); })
      .Case([](RecipPrecisionAttr a) { return algorithm("RecipAlgorithm", bool(a.getValue())); })
      .Case([](RemPrecisionAttr a) { return algorithm("RemAlgorithm", bool(a.getValue())); })
      .Case([](RsqrtPrecisionAttr a) { return algorithm("RsqrtAlgorithm", bool(a.getValue())); })
      .Case([](SqrtPrecisionAttr a) { return algorithm("SqrtAlgorithm", bool(a.getValue())); })
      .Case([](FmodPrecisionAttr a) { return algorithm("FmodAlgorithm", bool(a.getValue())); })
      .Case([](PowPrecisionAttr a) { return algorithm("PowAlgorithm", bool(a.getValue())); })
      .Default([](Attribute) { return std::string(); });
}

// Keywords, and what the instruction headers and the emitted text itself call by these names.
static constexpr StringLiteral kTaken =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
    "char16_t char32_t class compl concept const consteval constexpr constinit "
    "const_cast continue co_await co_return co_yield decltype default delete do double "
    "dynamic_cast else enum explicit export extern false float for friend goto half if "
    "inline int long main mutable namespace new noexcept not not_eq nullptr operator or "
    "or_eq private protected public register reinterpret_cast requires return short "
    "signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual "
    "void volatile wchar_t while xor xor_eq AICORE GlobalTensor PrefetchAsyncContext "
    "Shape Stride TPipe Tile bfloat16_t cache_line_t cce comm event_t pto "
    "ptoas_auto_sync_tail ptoas_bitcast dcci dsb ffts_cross_core_sync getFFTSMsg "
    "get_block_idx get_block_num get_buf get_subblockdim get_subblockid mem_bar "
    "pipe_barrier rls_buf set_ffts_base_addr set_flag set_intra_block set_mask_norm "
    "set_vector_mask trap wait_flag wait_flag_dev wait_intra_block "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t float16_t "
    "float32_t int4b_t float8_e4m3_t float8_e5m2_t float8_e8m0_t float4_e2m1x2_t "
    "float4_e1m2x2_t hifloat8_t mem_dsb_t pipe_t membar_t "
    "assert errno linux unix std stderr stdin stdout ";

bool isTaken(StringRef name) {
  // The compiler has macros such as __gm__.
  bool isMacro =
      name.size() > 4 && name.starts_with("__") && name.ends_with("__") && !name.ends_with("___");
  return isMacro || kTaken.contains((" " + name + " ").str());
}

//===----------------------------------------------------------------------===//
// Type names
//===----------------------------------------------------------------------===//

std::string TypeNames::unique(StringRef stem) {
  std::string name = stem.str();
  for (unsigned n = 2; !taken_.insert(name).second; ++n)
    name = formatv("{0}_{1}", stem, n);
  return name;
}

StringRef TypeNames::add(StringRef definition, StringRef stem) {
  auto [it, inserted] = names_.try_emplace(definition);
  if (inserted) {
    it->second = unique(stem);
    declarations_.push_back(formatv("using {0} = {1};", it->second, definition));
  }
  return it->second;
}

// "16x64", D for what is known at run time.
static std::string dims(ArrayRef<int64_t> extents) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : "x") + (extent < 0 ? std::string("D") : std::to_string(extent));
  return text;
}

std::optional<StringRef> TypeNames::tile(pto::TileBufType type, StringRef space) {
  auto known = ofType_.find(type);
  if (space.empty() && known != ofType_.end())
    return known->second;
  std::string element = spellElement(type.getElementType());
  if (element.empty())
    return std::nullopt;
  static constexpr StringLiteral spaces[] = {"",    "",    "Mat",  "Left",   "Right",
                                             "Acc", "Vec", "Bias", "Scaling"};
  static constexpr StringLiteral boxes[] = {"NoneBox", "RowMajor", "ColMajor"};
  static constexpr StringLiteral pads[] = {"Null", "Zero", "Max", "Min"};
  static constexpr StringLiteral compacts[] = {"Null", "Normal", "RowPlusOne"};
  bool own = space.empty();
  if (own)
    space = spaces[unsigned(type.getSpace())];
  // The extents of a tile whose type says 0 cannot be asked for.
  auto valid = [](int64_t extent) {
    return ShapedType::isDynamic(extent) || extent == 0 ? int64_t(-1) : extent;
  };
  std::string definition = formatv(
      "Tile<TileType::{0}, {1}, {2}, {3}, BLayout::{4}, {5}, {6}, SLayout::{7}, {8}, "
      "PadValue::{9}, "
      "CompactMode::{10}>",
      space, element, type.getRows(), type.getCols(), type.isRowMajor() ? "RowMajor" : "ColMajor",
      valid(type.getValidRow()), valid(type.getValidCol()), boxes[unsigned(type.getSlayout())],
      type.getFractal(), pads[unsigned(type.getPad())], compacts[unsigned(type.getCompact())]);
  std::string stem = formatv("{0}{1}_{2}x{3}", space, shortElement(type.getElementType()),
                             type.getRows(), type.getCols());
  StringRef name = add(definition, stem);
  if (own)
    ofType_[type] = name;
  return name;
}

StringRef TypeNames::global(const GlobalShape &shape) {
  static constexpr StringLiteral layouts[] = {"ND", "DN", "NZ", "MX_A_ZZ", "MX_B_NN"};
  auto list = [](const int64_t *values) {
    return formatv("{0}, {1}, {2}, {3}, {4}", values[0], values[1], values[2], values[3], values[4])
        .str();
  };
  StringRef layout = layouts[unsigned(shape.layout)];
  std::string definition =
      formatv("GlobalTensor<{0}, pto::Shape<{1}>, pto::Stride<{2}>, pto::Layout::{3}>",
              spellElement(shape.element), list(shape.shape), list(shape.stride), layout);
  auto known = names_.find(definition);
  if (known != names_.end())
    return known->second;
  unsigned skip = 0;
  while (skip < 3 && shape.shape[skip] == 1)
    ++skip;
  std::string stem = formatv("Global{0}_{1}", shortElement(shape.element),
                             dims(ArrayRef(shape.shape + skip, 5 - skip)));
  if (shape.layout != pto::Layout::Nd)
    stem += ("_" + layout).str();
  return add(definition, stem);
}

StringRef TypeNames::pipe(StringRef stem, StringRef arguments) {
  return add(("TPipe<" + arguments + ">").str(), stem);
}

std::optional<StringRef> TypeNames::structure(pto::StructType type) {
  auto known = ofType_.find(type);
  if (known != ofType_.end())
    return known->second;
  std::string body;
  for (auto [i, member] : llvm::enumerate(type.getMembers())) {
    std::optional<std::string> spelled = value(member);
    if (!spelled)
      return std::nullopt;
    bool pointer = StringRef(*spelled).ends_with("*");
    body += formatv("  {0}{1}m{2};\n", *spelled, pointer ? "" : " ", i).str();
  }
  std::string name = unique("Struct");
  declarations_.push_back(formatv("struct {0} {{\n{1}};", name, body));
  StringRef kept = (names_[name] = name);
  ofType_[type] = kept;
  return kept;
}

std::optional<std::string> TypeNames::value(Type type) {
  auto wrap = [](std::string text) -> std::optional<std::string> {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  };
  auto own = [](std::optional<StringRef> name) -> std::optional<std::string> {
    return name ? std::optional(name->str()) : std::nullopt;
  };
  if (auto pointer = dyn_cast<pto::PtrType>(type)) {
    std::string element = spellElement(pointer.getElementType());
    static constexpr StringLiteral spaces[] = {"__gm__",   "__gm__",      "__cbuf__",
                                               "__ca__",   "__cb__",      "__cc__",
                                               "__ubuf__", "__biasbuf__", "__fbuf__"};
    return element.empty()
               ? std::nullopt
               : wrap(formatv("{0} {1} *", spaces[unsigned(pointer.getSpace())], element));
  }
  if (auto tileType = dyn_cast<pto::TileBufType>(type))
    return own(tile(tileType));
  if (auto structType = dyn_cast<pto::StructType>(type))
    return own(structure(structType));
  if (auto array = dyn_cast<pto::EventIdArrayType>(type))
    return wrap(formatv("PTOAS_EventIdArray<{0}>", array.getSize()));
  if (isa<pto::AsyncSessionType>(type))
    return "comm::AsyncSession";
  if (isa<pto::AsyncEventType>(type))
    return "comm::AsyncEvent";
  if (isa<pto::PrefetchAsyncContextType>(type))
    return "PrefetchAsyncContext";
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getShape() == ArrayRef<int64_t>{4} && vector.getElementType().isInteger(16)
               ? std::optional<std::string>("MrgSortExecutedNumList")
               : std::nullopt;
  return wrap(spellElement(type));
}

} // namespace ptoas::cpp
