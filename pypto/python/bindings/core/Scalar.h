//===- Scalar.h - numbers as parameters -----------------------------------===//
//
// Python numbers to argument words: the value's bytes in the low end of a zeroed
// 64-bit word (spec/simpler.md 2.1). FP16 and BF16 are passed as FP32 (spec/compiler.md 9.1).
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_SCALAR_H
#define PYPTO_BINDINGS_SCALAR_H

#include "Argument.h"

namespace pypto::core {

/// Whether a number of this kind can be a parameter of type `dtype` (its value may still not fit).
bool convertible(const Argument &argument, const pto::DType &dtype);
/// The word; false with a Python error set when the value does not fit the type.
bool scalarWord(const std::string &name, const Argument &argument, const pto::DType &dtype,
                uint64_t &word);
/// Sets the error of an argument that is not convertible.
void scalarError(const std::string &name, const Argument &argument, const pto::DType &dtype);

} // namespace pypto::core
#endif // PYPTO_BINDINGS_SCALAR_H
