"""The enumerations of the language. Member names and values are part of the contract."""

from __future__ import annotations

import enum


class FunctionType(enum.Enum):
    Opaque = 0
    Orchestration = 1
    InCore = 2
    AIC = 3
    AIV = 4
    Group = 5
    Spmd = 6
    Inline = 7
    Graph = 8


class ForKind(enum.Enum):
    Sequential = 0
    Parallel = 1
    Unroll = 2
    Pipeline = 3


class ScopeKind(enum.Enum):
    InCore = 0
    Cluster = 2
    Hierarchy = 3
    Spmd = 4
    Runtime = 5
    CommDomain = 6
    SplitAiv = 7


class ScopeMode(enum.Enum):
    AUTO = 0
    MANUAL = 1


class Level(enum.Enum):
    """Places in the machine, smallest first; several have a second name."""

    AIV = 0
    AIC = 1
    CORE_GROUP = 2
    CHIP_DIE = 3
    L2CACHE = 3
    CHIP = 4
    PROCESSOR = 4
    UMA = 4
    HOST = 5
    NODE = 5
    CLUSTER_0 = 6
    POD = 6
    CLUSTER_1 = 7
    CLOS1 = 7
    CLUSTER_2 = 8
    CLOS2 = 8
    GLOBAL = 9


class Role(enum.Enum):
    Orchestrator = 0
    SubWorker = 1


class SplitMode(enum.Enum):
    NONE = 0
    UP_DOWN = 1
    LEFT_RIGHT = 2


class MemorySpace(enum.Enum):
    DDR = 0
    Vec = 1
    Mat = 2
    Left = 3
    Right = 4
    Acc = 5
    Bias = 6
    ScalarLocal = 7
    LeftScale = 8
    RightScale = 9


Mem = MemorySpace


class TensorLayout(enum.Enum):
    ND = 0
    DN = 1
    NZ = 2
    MX_A_ZZ = 3
    MX_B_NN = 4


class TileLayout(enum.Enum):
    none_box = 0
    row_major = 1
    col_major = 2


class CompactMode(enum.Enum):
    null = 0
    normal = 1
    row_plus_one = 2


class PadValue(enum.Enum):
    null = 0
    zero = 1
    max = 2
    min = 3


class PipeType(enum.Enum):
    MTE1 = 0
    MTE2 = 1
    MTE3 = 2
    M = 3
    V = 4
    S = 5
    FIX = 6
    ALL = 7


class AtomicType(enum.Enum):
    None_ = 0
    Add = 1


class MaskPattern(enum.Enum):
    """Which elements of a row a gather or scatter keeps: P0101 the even ones, and so on."""

    P0101 = 1
    P1010 = 2
    P0001 = 3
    P0010 = 4
    P0100 = 5
    P1000 = 6
    P1111 = 7


class NotifyOp(enum.Enum):
    Set = 0
    AtomicAdd = 1


class WaitCmp(enum.Enum):
    Eq = 0
    Ge = 1


class ReduceOp(enum.Enum):
    Sum = 0
    Max = 1
    Min = 2
    Prod = 3


# `pl.at(level=pl.Level.X)` and the like are written in kernels; these two belong to compile options.


class OptimizationStrategy(enum.Enum):
    Default = 0
    DebugTileOptimization = 1


class PassDumpLevel(enum.Enum):
    NONE = 0
    CONCISE = 1
    EXPLICIT = 2


class DiagnosticPhase(enum.Enum):
    PrePipeline = 0
    PostPass = 1
    PostPipeline = 2


class VerificationLevel(enum.Enum):
    NONE = 0
    BASIC = 1
    ROUNDTRIP = 2


class MemoryPlanner(enum.Enum):
    PYPTO = 0
    DSA_RP = 1
    PTOAS = 2


class RuntimeKind(enum.Enum):
    TENSORMAP_AND_RINGBUFFER = 0
    HOST_BUILD_GRAPH = 1


class BackendType(enum.Enum):
    Ascend910B = 0
    Ascend950 = 1
