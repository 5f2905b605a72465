//===- Fault.h - what checked kernels find wrong --------------------------===//
#ifndef PYPTO_BINDINGS_FAULT_H
#define PYPTO_BINDINGS_FAULT_H

#include <string>

namespace pypto::core {

/// Has faults of checked kernels (PTO_CHECK=1) kept from now on.
void keepFaults();

/// The first fault in runs since the last call, "" for none. Runs at the same time share it; the
/// message says which access it was. Any thread.
std::string takeFault();

} // namespace pypto::core
#endif // PYPTO_BINDINGS_FAULT_H
