"""Element types. `DataType` objects are compared by identity; there is one for each name."""

from __future__ import annotations


class DataType:
    """An element type: `name` ("FP32"), `bits`, `code` (the number the compiler and files use)."""

    __slots__ = ("name", "bits", "code", "_printed")

    def __init__(self, name: str, bits: int, code: int, printed: str = ""):
        self.name = name
        self.bits = bits
        self.code = code
        self._printed = printed or name.lower()

    def __str__(self) -> str:
        return self._printed

    def __repr__(self) -> str:
        return f"pl.{self.name}"

    def __reduce__(self):
        return (by_name, (self.name,))

    def get_bit(self) -> int:
        return self.bits

    def get_byte(self) -> int:
        """Bytes of one element, rounded up."""
        return (self.bits + 7) // 8

    def is_float(self) -> bool:
        return 0x30 <= self.code < 0x50

    def is_int(self) -> bool:
        return 0x10 <= self.code < 0x30


_TABLE = (
    ("BOOL", 1, 0x00),
    ("INT4", 4, 0x10),
    ("INT8", 8, 0x11),
    ("INT16", 16, 0x12),
    ("INT32", 32, 0x13),
    ("INT64", 64, 0x14),
    ("INDEX", 64, 0x15),
    ("UINT4", 4, 0x20),
    ("UINT8", 8, 0x21),
    ("UINT16", 16, 0x22),
    ("UINT32", 32, 0x23),
    ("UINT64", 64, 0x24),
    ("FP4", 4, 0x30),
    ("FP8E4M3FN", 8, 0x31),
    ("FP8E5M2", 8, 0x32),
    ("FP16", 16, 0x33),
    ("FP32", 32, 0x34),
    ("FP8E8M0", 8, 0x36),
    ("BF16", 16, 0x40, "bfloat16"),
    ("HF4", 4, 0x41),
    ("HF8", 8, 0x42),
    ("TASK_ID", 64, 0x50),
)

ALL: dict[str, DataType] = {row[0]: DataType(*row) for row in _TABLE}

# Whole numbers that each integer type holds, for checks of scalar arguments.
RANGES: dict[str, tuple[int, int]] = {
    name: (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1)
    if t.code < 0x20
    else (0, (1 << t.bits) - 1)
    for name, t in ALL.items()
    if t.is_int()
}


def by_name(name: str) -> DataType:
    return ALL[name]
