"""Element types by their names in text, as NumPy has them. HiFloat8 and packed FP4, which it has not, are codes."""

from __future__ import annotations

import ml_dtypes
import native
import numpy as np

HIF8, E2M1, E1M2, E8M0 = "!pto.hif8", "!pto.f4E2M1x2", "!pto.f4E1M2x2", "!pto.f8E8M0"
PACKED = (E2M1, E1M2)
DTYPES = {
    **native.DTYPES,
    "ui64": np.uint64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    **dict.fromkeys((HIF8, E2M1, E1M2, E8M0), np.uint8),
}


def hif8_number(code: int) -> float:
    """Sign; prefix of the exponent's width; exponent as sign and magnitude without its leading one; mantissa."""
    bits = f"{code:08b}"
    sign = -1.0 if bits[0] == "1" else 1.0
    for prefix, width in (("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0)):
        if bits[1:].startswith(prefix):
            field = bits[1 + len(prefix) :][:width]
            mantissa = bits[1 + len(prefix) + width :]
            exponent = int("1" + field[1:], 2) * (-1 if field[0] == "1" else 1) if width else 0
            if exponent == 15 and mantissa == "1":
                return sign * np.inf
            return sign * 2.0**exponent * (1 + int(mantissa, 2) / 2 ** len(mantissa))
    if bits[5:] == "000":
        return 0.0 if sign > 0 else np.nan
    return sign * 2.0 ** (int(bits[5:], 2) - 23)


HIF8_NUMBERS = np.array([hif8_number(code) for code in range(256)])
# Numbers of four bits without the sign.
FP4_MAGNITUDES = {
    E2M1: np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6]),
    E1M2: np.arange(8) / 4,
}
# What each code stands for.
NUMBERS = {
    HIF8: HIF8_NUMBERS,
    **{name: np.concatenate([half, -half]) for name, half in FP4_MAGNITUDES.items()},
}


def pack(codes: np.ndarray) -> np.ndarray:
    """Two to a byte, the low half first."""
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def unpack(data: np.ndarray) -> np.ndarray:
    return np.stack([data & 15, data >> 4], axis=-1).reshape(*data.shape[:-1], -1)


def numbers_of(dtype: str, values: np.ndarray) -> np.ndarray:
    """What elements stand for, in double precision."""
    return NUMBERS[dtype][values] if dtype in NUMBERS else values.astype(np.float64)
