//===- Generator.h - random numbers of a device ---------------------------===//
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

namespace npu {

/// The device's default generator; seeded when first used.
const at::Generator &defaultGenerator(int device);
/// A new generator of the device.
at::Generator makeGenerator(int device);
/// The CPU generator that holds the state of the device generator in `value` (or of the default one
/// if it has none).
c10::IValue cpuGeneratorFor(const c10::IValue &value, int device);
at::Generator cpuGeneratorOf(const at::Generator &generator, int device);

} // namespace npu
