//===- Native.h - the native target of the assembler ----------------------===//
//
// Compiles a module of the `pto` dialect (plus func, scf, arith, and the subset
// of the `llvm` dialect listed in README.md) to a shared object for this host.
//
// Every func.func with a body becomes a C function of the same name: !pto.ptr
// and !llvm.ptr are pointers, index is int64_t, iN and fN their C types (bf16 and
// f16 as uint16_t bit patterns in integer registers are NOT used: _Float16/__bf16).
// Declarations stay undefined symbols that dlopen resolves.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_TARGET_NATIVE_NATIVE_H
#define PTOAS_TARGET_NATIVE_NATIVE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace ptoas::native {

/// Vector instruction sets that code is generated for.
enum class Isa { AVX2, AVX512, AMX };

/// What code is generated for; `host()` is what this CPU offers (CPUID and XCR0),
/// `PTO_ISA=avx2|avx512|amx` lowers it.
struct HostTarget {
  Isa isa;
  std::string cpu;      // LLVM CPU name
  std::string features; // LLVM feature string
  static const HostTarget &host();
};

struct Options {
  HostTarget target = HostTarget::host();
  bool fuse = true;   // fuse pointwise chains, loads, stores, reductions
  bool check = false; // report accesses outside their tensor, with the op's location, when they run
  bool checkOrder = false; // tell of instructions and flags as they run (OrderCheck.h)
  bool reuse = true;       // let tiles whose lives do not overlap share bytes
  std::string dumpDir;     // write <stage>.{mlir,ll,s} here when not empty
};

/// Returns the bytes of an ELF shared object; diagnostics go to the module's context.
mlir::FailureOr<std::vector<char>> compileToSharedObject(mlir::ModuleOp module,
                                                         const Options &options);

/// The function waits for other blocks of its launch: they must run side by side.
bool waitsForOtherBlocks(mlir::Operation *function);

/// Names (without the dialect) of the pto ops that have native code, in alphabetical order: the
/// table that the emitter dispatches by, and what the pass pto-lower-fifos replaces before.
std::vector<std::string> nativeOps();

} // namespace ptoas::native

#endif // PTOAS_TARGET_NATIVE_NATIVE_H
