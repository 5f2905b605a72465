//===- PTOAttrs.td - enums and attributes of the `pto` dialect -*- tablegen -*-===//
//
// Each enum has one attribute. The *angle* family prints `#pto.name<value>`, the
// *bare* family `#pto<name value>`; both spellings are read for either.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOATTRS_TD
#define PTOAS_DIALECT_PTO_IR_PTOATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "ptoas/Dialect/PTO/IR/PTODialect.td"

class PTO_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::pto";
  let genSpecializedAttr = 0;
}

class PTO_EnumAttr<EnumInfo enumInfo, string mnemonic> : EnumAttr<PTO_Dialect, enumInfo, mnemonic> {
  let assemblyFormat = ?;
  let hasCustomAssemblyFormat = 1;
}

def PTO_AddressSpace : PTO_Enum<"AddressSpace", "where a pointer or tile lives", [
  I32EnumAttrCase<"Zero", 0, "zero">,
  I32EnumAttrCase<"Gm", 1, "gm">,
  I32EnumAttrCase<"Mat", 2, "mat">,
  I32EnumAttrCase<"Left", 3, "left">,
  I32EnumAttrCase<"Right", 4, "right">,
  I32EnumAttrCase<"Acc", 5, "acc">,
  I32EnumAttrCase<"Vec", 6, "vec">,
  I32EnumAttrCase<"Bias", 7, "bias">,
  I32EnumAttrCase<"Scaling", 8, "scaling">
]>;
def PTO_AddressSpaceAttr : PTO_EnumAttr<PTO_AddressSpace, "address_space">;

def PTO_PIPE : PTO_Enum<"PIPE", "hardware queue", [
  I32EnumAttrCase<"PIPE_S", 0, "PIPE_S">,
  I32EnumAttrCase<"PIPE_V", 1, "PIPE_V">,
  I32EnumAttrCase<"PIPE_M", 2, "PIPE_M">,
  I32EnumAttrCase<"PIPE_MTE1", 3, "PIPE_MTE1">,
  I32EnumAttrCase<"PIPE_MTE2", 4, "PIPE_MTE2">,
  I32EnumAttrCase<"PIPE_MTE3", 5, "PIPE_MTE3">,
  I32EnumAttrCase<"PIPE_ALL", 6, "PIPE_ALL">,
  I32EnumAttrCase<"PIPE_MTE4", 7, "PIPE_MTE4">,
  I32EnumAttrCase<"PIPE_MTE5", 8, "PIPE_MTE5">,
  I32EnumAttrCase<"PIPE_V2", 9, "PIPE_V2">,
  I32EnumAttrCase<"PIPE_FIX", 10, "PIPE_FIX">,
  I32EnumAttrCase<"VIRTUAL_PIPE_MTE2_L1A", 11, "VIRTUAL_PIPE_MTE2_L1A">,
  I32EnumAttrCase<"VIRTUAL_PIPE_MTE2_L1B", 12, "VIRTUAL_PIPE_MTE2_L1B">,
  I32EnumAttrCase<"PIPE_NUM", 13, "PIPE_NUM">,
  I32EnumAttrCase<"PIPE_UNASSIGNED", 99, "PIPE_UNASSIGNED">
]>;
def PTO_PIPEAttr : PTO_EnumAttr<PTO_PIPE, "pipe">;

def PTO_PipeEventType : PTO_Enum<"PipeEventType", "kind of instruction that an event or barrier orders", [
  I32EnumAttrCase<"TLOAD", 0, "TLOAD">,
  I32EnumAttrCase<"TSTORE_ACC", 1, "TSTORE_ACC">,
  I32EnumAttrCase<"TSTORE_VEC", 2, "TSTORE_VEC">,
  I32EnumAttrCase<"TMOV_M2L", 3, "TMOV_M2L">,
  I32EnumAttrCase<"TMOV_M2S", 4, "TMOV_M2S">,
  I32EnumAttrCase<"TMOV_M2B", 5, "TMOV_M2B">,
  I32EnumAttrCase<"TMOV_M2V", 6, "TMOV_M2V">,
  I32EnumAttrCase<"TMOV_V2M", 7, "TMOV_V2M">,
  I32EnumAttrCase<"TMATMUL", 8, "TMATMUL">,
  I32EnumAttrCase<"TVEC", 9, "TVEC">,
  I32EnumAttrCase<"TVECWAIT_EVENT", 10, "TVECWAIT_EVENT">
]>;
def PTO_PipeEventTypeAttr : PTO_EnumAttr<PTO_PipeEventType, "pipe_event_type">;

def PTO_SyncOpType : PTO_Enum<"SyncOpType", "older name of pipe_event_type", [
  I32EnumAttrCase<"TLOAD", 0, "TLOAD">,
  I32EnumAttrCase<"TSTORE_ACC", 1, "TSTORE_ACC">,
  I32EnumAttrCase<"TSTORE_VEC", 2, "TSTORE_VEC">,
  I32EnumAttrCase<"TMOV_M2L", 3, "TMOV_M2L">,
  I32EnumAttrCase<"TMOV_M2S", 4, "TMOV_M2S">,
  I32EnumAttrCase<"TMOV_M2B", 5, "TMOV_M2B">,
  I32EnumAttrCase<"TMOV_M2V", 6, "TMOV_M2V">,
  I32EnumAttrCase<"TMOV_V2M", 7, "TMOV_V2M">,
  I32EnumAttrCase<"TMATMUL", 8, "TMATMUL">,
  I32EnumAttrCase<"TVEC", 9, "TVEC">,
  I32EnumAttrCase<"TVECWAIT_EVENT", 10, "TVECWAIT_EVENT">
]>;
def PTO_SyncOpTypeAttr : PTO_EnumAttr<PTO_SyncOpType, "sync_op_type">;

def PTO_EVENT : PTO_Enum<"EVENT", "hardware event flag", [
  I32EnumAttrCase<"EVENT_ID0", 0, "EVENT_ID0">,
  I32EnumAttrCase<"EVENT_ID1", 1, "EVENT_ID1">,
  I32EnumAttrCase<"EVENT_ID2", 2, "EVENT_ID2">,
  I32EnumAttrCase<"EVENT_ID3", 3, "EVENT_ID3">,
  I32EnumAttrCase<"EVENT_ID4", 4, "EVENT_ID4">,
  I32EnumAttrCase<"EVENT_ID5", 5, "EVENT_ID5">,
  I32EnumAttrCase<"EVENT_ID6", 6, "EVENT_ID6">,
  I32EnumAttrCase<"EVENT_ID7", 7, "EVENT_ID7">
]>;
def PTO_EVENTAttr : PTO_EnumAttr<PTO_EVENT, "event">;

def PTO_Layout : PTO_Enum<"Layout", "element order of a global tensor", [
  I32EnumAttrCase<"Nd", 0, "nd">,
  I32EnumAttrCase<"Dn", 1, "dn">,
  I32EnumAttrCase<"Nz", 2, "nz">,
  I32EnumAttrCase<"MxAZz", 3, "mx_a_zz">,
  I32EnumAttrCase<"MxBNn", 4, "mx_b_nn">
]>;
def PTO_LayoutAttr : PTO_EnumAttr<PTO_Layout, "layout">;

def PTO_KernelKind : PTO_Enum<"KernelKind", "which core runs a function", [
  I32EnumAttrCase<"Cube", 0, "cube">,
  I32EnumAttrCase<"Vector", 1, "vector">
]>;
def PTO_KernelKindAttr : PTO_EnumAttr<PTO_KernelKind, "kernel_kind">;

def PTO_FuncCoreType : PTO_Enum<"FuncCoreType", "core type of a function", [
  I32EnumAttrCase<"AIC", 1, "AIC">,
  I32EnumAttrCase<"AIV", 2, "AIV">,
  I32EnumAttrCase<"MIX", 3, "MIX">,
  I32EnumAttrCase<"AIC_OR_AIV", 4, "AIC_OR_AIV">
]>;
def PTO_FuncCoreTypeAttr : PTO_EnumAttr<PTO_FuncCoreType, "func_core_type">;

def PTO_ModuleCoreType : PTO_Enum<"ModuleCoreType", "core type of a module", [
  I32EnumAttrCase<"AIC", 1, "AIC">,
  I32EnumAttrCase<"AIV", 2, "AIV">,
  I32EnumAttrCase<"MIX", 3, "MIX">,
  I32EnumAttrCase<"AIC_OR_AIV", 4, "AIC_OR_AIV">
]>;
def PTO_ModuleCoreTypeAttr : PTO_EnumAttr<PTO_ModuleCoreType, "module_core_type">;

def PTO_PadMode : PTO_Enum<"PadMode", "what a padded load writes", [
  I32EnumAttrCase<"PadNull", 0, "PadNull">,
  I32EnumAttrCase<"PadFirstElem", 1, "PadFirstElem">,
  I32EnumAttrCase<"PadValue", 2, "PadValue">
]>;
def PTO_PadModeAttr : PTO_EnumAttr<PTO_PadMode, "padmode">;

def PTO_AccToVecMode : PTO_Enum<"AccToVecMode", "which vector cores receive an accumulator", [
  I32EnumAttrCase<"SingleModeVec0", 0, "single_mode_vec0">,
  I32EnumAttrCase<"SingleModeVec1", 1, "single_mode_vec1">,
  I32EnumAttrCase<"DualModeSplitM", 2, "dual_mode_split_m">,
  I32EnumAttrCase<"DualModeSplitN", 3, "dual_mode_split_n">
]>;
def PTO_AccToVecModeAttr : PTO_EnumAttr<PTO_AccToVecMode, "acc_to_vec_mode">;

def PTO_MaskPattern : PTO_Enum<"MaskPattern", "which elements of each group of four a gather keeps", [
  I32EnumAttrCase<"P0101", 1, "P0101">,
  I32EnumAttrCase<"P1010", 2, "P1010">,
  I32EnumAttrCase<"P0001", 3, "P0001">,
  I32EnumAttrCase<"P0010", 4, "P0010">,
  I32EnumAttrCase<"P0100", 5, "P0100">,
  I32EnumAttrCase<"P1000", 6, "P1000">,
  I32EnumAttrCase<"P1111", 7, "P1111">
]>;
def PTO_MaskPatternAttr : PTO_EnumAttr<PTO_MaskPattern, "mask_pattern">;

def PTO_BLayout : PTO_Enum<"BLayout", "order of boxes (or of elements without boxes)", [
  I32EnumAttrCase<"RowMajor", 0, "row_major">,
  I32EnumAttrCase<"ColMajor", 1, "col_major">
]>;
def PTO_BLayoutAttr : PTO_EnumAttr<PTO_BLayout, "blayout">;

def PTO_SLayout : PTO_Enum<"SLayout", "order of elements inside a box", [
  I32EnumAttrCase<"NoneBox", 0, "none_box">,
  I32EnumAttrCase<"RowMajor", 1, "row_major">,
  I32EnumAttrCase<"ColMajor", 2, "col_major">
]>;
def PTO_SLayoutAttr : PTO_EnumAttr<PTO_SLayout, "slayout">;

def PTO_PadValue : PTO_Enum<"PadValue", "value of padded lanes", [
  I32EnumAttrCase<"Null", 0, "null">,
  I32EnumAttrCase<"Zero", 1, "zero">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">
]>;
def PTO_PadValueAttr : PTO_EnumAttr<PTO_PadValue, "pad_value">;

def PTO_CompactMode : PTO_Enum<"CompactMode", "whether the major stride is enlarged", [
  I32EnumAttrCase<"Null", 0, "null">,
  I32EnumAttrCase<"Normal", 1, "normal">,
  I32EnumAttrCase<"RowPlusOne", 2, "row_plus_one">
]>;
def PTO_CompactModeAttr : PTO_EnumAttr<PTO_CompactMode, "compact_mode">;

def PTO_FenceScope : PTO_Enum<"FenceScope", "memory that a fence orders", [
  I32EnumAttrCase<"LocalMemory", 0, "local_memory">,
  I32EnumAttrCase<"Gm", 1, "gm">,
  I32EnumAttrCase<"All", 2, "all">
]>;
def PTO_FenceScopeAttr : PTO_EnumAttr<PTO_FenceScope, "fence_scope">;

def PTO_SyncAllMode : PTO_Enum<"SyncAllMode", "how all cores meet", [
  I32EnumAttrCase<"Hard", 0, "hard">,
  I32EnumAttrCase<"Soft", 1, "soft">
]>;
def PTO_SyncAllModeAttr : PTO_EnumAttr<PTO_SyncAllMode, "sync_all_mode">;

def PTO_SyncCoreType : PTO_Enum<"SyncCoreType", "which cores meet", [
  I32EnumAttrCase<"AivOnly", 0, "aiv_only">,
  I32EnumAttrCase<"AicOnly", 1, "aic_only">,
  I32EnumAttrCase<"Mix", 2, "mix">
]>;
def PTO_SyncCoreTypeAttr : PTO_EnumAttr<PTO_SyncCoreType, "sync_core_type">;

def PTO_TInsertMode : PTO_Enum<"TInsertMode", "how an insert is split", [
  I32EnumAttrCase<"SPLIT2", 2, "SPLIT2">,
  I32EnumAttrCase<"SPLIT4", 3, "SPLIT4">
]>;
def PTO_TInsertModeAttr : PTO_EnumAttr<PTO_TInsertMode, "tinsert_mode">;

def PTO_MemBar : PTO_Enum<"MemBar", "order of vector memory accesses", [
  I32EnumAttrCase<"VST_VLD", 0, "VST_VLD">,
  I32EnumAttrCase<"VLD_VST", 1, "VLD_VST">,
  I32EnumAttrCase<"VST_VST", 2, "VST_VST">,
  I32EnumAttrCase<"VV_ALL", 3, "VV_ALL">,
  I32EnumAttrCase<"VST_LD", 4, "VST_LD">,
  I32EnumAttrCase<"VST_ST", 5, "VST_ST">,
  I32EnumAttrCase<"VLD_ST", 6, "VLD_ST">,
  I32EnumAttrCase<"VS_ALL", 7, "VS_ALL">,
  I32EnumAttrCase<"ST_VLD", 8, "ST_VLD">,
  I32EnumAttrCase<"ST_VST", 9, "ST_VST">,
  I32EnumAttrCase<"LD_VST", 10, "LD_VST">,
  I32EnumAttrCase<"SV_ALL", 11, "SV_ALL">,
  I32EnumAttrCase<"SS_ALL", 12, "SS_ALL">
]>;
def PTO_MemBarAttr : PTO_EnumAttr<PTO_MemBar, "membar">;

def PTO_CmpMode : PTO_Enum<"CmpMode", "comparison", [
  I32EnumAttrCase<"Eq", 0, "eq">,
  I32EnumAttrCase<"Ne", 1, "ne">,
  I32EnumAttrCase<"Lt", 2, "lt">,
  I32EnumAttrCase<"Le", 3, "le">,
  I32EnumAttrCase<"Gt", 4, "gt">,
  I32EnumAttrCase<"Ge", 5, "ge">
]>;
def PTO_CmpModeAttr : PTO_EnumAttr<PTO_CmpMode, "cmp">;

def PTO_RoundMode : PTO_Enum<"RoundMode", "rounding of a conversion", [
  I32EnumAttrCase<"None", 0, "NONE">,
  I32EnumAttrCase<"RINT", 1, "RINT">,
  I32EnumAttrCase<"ROUND", 2, "ROUND">,
  I32EnumAttrCase<"FLOOR", 3, "FLOOR">,
  I32EnumAttrCase<"CEIL", 4, "CEIL">,
  I32EnumAttrCase<"TRUNC", 5, "TRUNC">,
  I32EnumAttrCase<"ODD", 6, "ODD">,
  I32EnumAttrCase<"CAST_RINT", 7, "CAST_RINT">
]>;
def PTO_RoundModeAttr : PTO_EnumAttr<PTO_RoundMode, "round_mode">;

def PTO_SaturationMode : PTO_Enum<"SaturationMode", "whether a conversion saturates", [
  I32EnumAttrCase<"On", 0, "ON">,
  I32EnumAttrCase<"Off", 1, "OFF">
]>;
def PTO_SaturationModeAttr : PTO_EnumAttr<PTO_SaturationMode, "saturation_mode">;

def PTO_STPhase : PTO_Enum<"STPhase", "phase of an accumulator store", [
  I32EnumAttrCase<"Unspecified", 0, "unspecified">,
  I32EnumAttrCase<"Partial", 2, "partial">,
  I32EnumAttrCase<"Final", 3, "final">
]>;
def PTO_STPhaseAttr : PTO_EnumAttr<PTO_STPhase, "st_phase">;

def PTO_AccPhase : PTO_Enum<"AccPhase", "phase of an accumulation", [
  I32EnumAttrCase<"Unspecified", 0, "unspecified">,
  I32EnumAttrCase<"Partial", 2, "partial">,
  I32EnumAttrCase<"Final", 3, "final">
]>;
def PTO_AccPhaseAttr : PTO_EnumAttr<PTO_AccPhase, "acc_phase">;

def PTO_AtomicType : PTO_Enum<"AtomicType", "how a store combines with memory", [
  I32EnumAttrCase<"AtomicNone", 0, "atomic_none">,
  I32EnumAttrCase<"AtomicAdd", 1, "atomic_add">
]>;
def PTO_AtomicTypeAttr : PTO_EnumAttr<PTO_AtomicType, "atomic_type">;

def PTO_ReluPreMode : PTO_Enum<"ReluPreMode", "relu before an accumulator leaves", [
  I32EnumAttrCase<"NoRelu", 0, "no_relu">,
  I32EnumAttrCase<"NormalRelu", 1, "normal_relu">,
  I32EnumAttrCase<"ScalarRelu", 2, "scalar_relu">,
  I32EnumAttrCase<"VectorRelu", 3, "vector_relu">,
  I32EnumAttrCase<"Pwl", 4, "pwl">
]>;
def PTO_ReluPreModeAttr : PTO_EnumAttr<PTO_ReluPreMode, "relu_pre_mode">;

def PTO_GatherOOB : PTO_Enum<"GatherOOB", "what a gather does outside its source", [
  I32EnumAttrCase<"Undefined", 0, "undefined">,
  I32EnumAttrCase<"Clamp", 1, "clamp">,
  I32EnumAttrCase<"Wrap", 2, "wrap">,
  I32EnumAttrCase<"Zero", 3, "zero">
]>;
def PTO_GatherOOBAttr : PTO_EnumAttr<PTO_GatherOOB, "gather_oob">;

def PTO_ScatterAtomicOp : PTO_Enum<"ScatterAtomicOp", "how a scatter combines with memory", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Add", 1, "add">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">
]>;
def PTO_ScatterAtomicOpAttr : PTO_EnumAttr<PTO_ScatterAtomicOp, "scatter_atomic_op">;

def PTO_ScatterOOB : PTO_Enum<"ScatterOOB", "what a scatter does outside its target", [
  I32EnumAttrCase<"Undefined", 0, "undefined">,
  I32EnumAttrCase<"Skip", 1, "skip">,
  I32EnumAttrCase<"Clamp", 2, "clamp">,
  I32EnumAttrCase<"Wrap", 3, "wrap">
]>;
def PTO_ScatterOOBAttr : PTO_EnumAttr<PTO_ScatterOOB, "scatter_oob">;

def PTO_QuantType : PTO_Enum<"QuantType", "quantisation scheme", [
  I32EnumAttrCase<"INT8_SYM", 0, "INT8_SYM">,
  I32EnumAttrCase<"INT8_ASYM", 1, "INT8_ASYM">,
  I32EnumAttrCase<"MXFP8", 2, "MXFP8">,
  I32EnumAttrCase<"MXFP4_E2M1", 3, "MXFP4_E2M1">
]>;
def PTO_QuantTypeAttr : PTO_EnumAttr<PTO_QuantType, "quant_type">;

def PTO_MemPlanMode : PTO_Enum<"MemPlanMode", "what a planner places", [
  I32EnumAttrCase<"LOCAL_MEM_PLAN", 0, "LOCAL_MEM_PLAN">,
  I32EnumAttrCase<"GLOBAL_WORKSPACE_PLAN", 1, "GLOBAL_WORKSPACE_PLAN">
]>;
def PTO_MemPlanModeAttr : PTO_EnumAttr<PTO_MemPlanMode, "mem_plan_mode">;

def PTO_WaitCmp : PTO_Enum<"WaitCmp", "comparison that ends a wait", [
  I32EnumAttrCase<"Eq", 0, "eq">,
  I32EnumAttrCase<"Ne", 1, "ne">,
  I32EnumAttrCase<"Gt", 2, "gt">,
  I32EnumAttrCase<"Ge", 3, "ge">,
  I32EnumAttrCase<"Lt", 4, "lt">,
  I32EnumAttrCase<"Le", 5, "le">
]>;
def PTO_WaitCmpAttr : PTO_EnumAttr<PTO_WaitCmp, "wait_cmp">;

def PTO_NotifyOp : PTO_Enum<"NotifyOp", "how a signal is written", [
  I32EnumAttrCase<"AtomicAdd", 0, "atomic_add">,
  I32EnumAttrCase<"Set", 1, "set">
]>;
def PTO_NotifyOpAttr : PTO_EnumAttr<PTO_NotifyOp, "notify_op">;

def PTO_ReduceOp : PTO_Enum<"ReduceOp", "reduction across ranks", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">
]>;
def PTO_ReduceOpAttr : PTO_EnumAttr<PTO_ReduceOp, "reduce_op">;

def PTO_Coalesce : PTO_Enum<"Coalesce", "unit of a gather or scatter", [
  I32EnumAttrCase<"Row", 0, "row">,
  I32EnumAttrCase<"Elem", 1, "elem">
]>;
def PTO_CoalesceAttr : PTO_EnumAttr<PTO_Coalesce, "coalesce">;

def PTO_ScatterConflict : PTO_Enum<"ScatterConflict", "who wins when indices repeat", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"Last", 1, "last">
]>;
def PTO_ScatterConflictAttr : PTO_EnumAttr<PTO_ScatterConflict, "scatter_conflict">;

def PTO_QuantScaleAlg : PTO_Enum<"QuantScaleAlg", "how a shared scale is derived", [
  I32EnumAttrCase<"Ocp", 0, "ocp">,
  I32EnumAttrCase<"Nv", 1, "nv">
]>;
def PTO_QuantScaleAlgAttr : PTO_EnumAttr<PTO_QuantScaleAlg, "quant_scale_alg">;

def PTO_MxGroupAxis : PTO_Enum<"MxGroupAxis", "axis of a group with one scale", [
  I32EnumAttrCase<"Axis0", 0, "axis0">,
  I32EnumAttrCase<"Axis1", 1, "axis1">
]>;
def PTO_MxGroupAxisAttr : PTO_EnumAttr<PTO_MxGroupAxis, "mx_group_axis">;

def PTO_VecStoreMode : PTO_Enum<"VecStoreMode", "element order of a quantised store", [
  I32EnumAttrCase<"Nd", 0, "nd">,
  I32EnumAttrCase<"Nz", 1, "nz">
]>;
def PTO_VecStoreModeAttr : PTO_EnumAttr<PTO_VecStoreMode, "vec_store_mode">;

def PTO_PrintFormat : PTO_Enum<"PrintFormat", "number format of a print", [
  I32EnumAttrCase<"Width8Precision4", 0, "width8_precision4">,
  I32EnumAttrCase<"Width8Precision2", 1, "width8_precision2">,
  I32EnumAttrCase<"Width10Precision6", 2, "width10_precision6">
]>;
def PTO_PrintFormatAttr : PTO_EnumAttr<PTO_PrintFormat, "print_format">;

def PTO_DivPrecision : PTO_Enum<"DivPrecision", "accuracy of div", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"HighPrecision", 1, "high_precision">
]>;
def PTO_DivPrecisionAttr : PTO_EnumAttr<PTO_DivPrecision, "div_precision">;

def PTO_ExpPrecision : PTO_Enum<"ExpPrecision", "accuracy of exp", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"HighPrecision", 1, "high_precision">
]>;
def PTO_ExpPrecisionAttr : PTO_EnumAttr<PTO_ExpPrecision, "exp_precision">;

def PTO_LogPrecision : PTO_Enum<"LogPrecision", "accuracy of log", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"HighPrecision", 1, "high_precision">
]>;
def PTO_LogPrecisionAttr : PTO_EnumAttr<PTO_LogPrecision, "log_precision">;

def PTO_RecipPrecision : PTO_Enum<"RecipPrecision", "accuracy of recip", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"HighPrecision", 1, "high_precision">
]>;
def PTO_RecipPrecisionAttr : PTO_EnumAttr<PTO_RecipPrecision, "recip_precision">;

def PTO_RemPrecision : PTO_Enum<"RemPrecision", "accuracy of rem", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"HighPrecision", 1, "high_precision">
]>;
def PTO_RemPrecisionAttr : PTO_EnumAttr<PTO_RemPrecision, "rem_precision">;

def PTO_RsqrtPrecision : PTO_Enum<"RsqrtPrecision", "accuracy of rsqrt", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"HighPrecision", 1, "high_precision">
]>;
def PTO_RsqrtPrecisionAttr : PTO_EnumAttr<PTO_RsqrtPrecision, "rsqrt_precision">;

def PTO_SqrtPrecision : PTO_Enum<"SqrtPrecision", "accuracy of sqrt", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"HighPrecision", 1, "high_precision">
]>;
def PTO_SqrtPrecisionAttr : PTO_EnumAttr<PTO_SqrtPrecision, "sqrt_precision">;

def PTO_FmodPrecision : PTO_Enum<"FmodPrecision", "accuracy of fmod", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"HighPrecision", 1, "high_precision">
]>;
def PTO_FmodPrecisionAttr : PTO_EnumAttr<PTO_FmodPrecision, "fmod_precision">;

def PTO_PowPrecision : PTO_Enum<"PowPrecision", "accuracy of pow", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"HighPrecision", 1, "high_precision">
]>;
def PTO_PowPrecisionAttr : PTO_EnumAttr<PTO_PowPrecision, "pow_precision">;

// What a push does to an accumulator on its way into the FIFO.
def PTO_AccPushEpilogueAttr : AttrDef<PTO_Dialect, "AccPushEpilogue"> {
  let mnemonic = "acc_push_epilogue";
  let summary = "layout, quantisation and relu of a push from an accumulator";
  let description = "`#pto.acc_push_epilogue<layout = nz2nd, quant = f32_to_f16, relu = normal_relu>`; each part is optional.";
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$layout, OptionalParameter<"::mlir::StringAttr">:$quant,
                        OptionalParameter<"::mlir::StringAttr">:$relu);
  let hasCustomAssemblyFormat = 1;
}

// What 0.27 puts beside a tile whose type is a memref. Tiles carry these facts in their type today.
def PTO_TileBufConfigAttr : AttrDef<PTO_Dialect, "TileBufConfig"> {
  let mnemonic = "tile_buf_config";
  let summary = "layout, fractal and padding of a tile, as version 0.27 writes them beside its type";
  let description = "`#pto.tile_buf_config<blayout=#pto.blayout<row_major>, s_fractal_size=512>`; each part is optional.";
  let parameters = (ins "::mlir::pto::BLayout":$blayout, "::mlir::pto::SLayout":$slayout, "int64_t":$fractal,
                        "::mlir::pto::PadValue":$pad, "::mlir::pto::CompactMode":$compact);
  let hasCustomAssemblyFormat = 1;
}

#endif // PTOAS_DIALECT_PTO_IR_PTOATTRS_TD
