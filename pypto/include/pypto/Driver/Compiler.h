//===- Compiler.h - from a Python program to machine code -----------------===//
//
// The whole compiler behind a plain C++ interface: the bindings and tests use
// only this. Everything runs in process; nothing is written to disk.
// Thread-safe: each call owns its MLIRContext (a warm one is reused from a pool).
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_DRIVER_COMPILER_H
#define PYPTO_DRIVER_COMPILER_H

#include "pypto/Diagnostic.h"
#include "pypto/Importer/PyAst.h"
#include <map>
#include <string>
#include <string_view>

namespace pypto {

/// One argument of the specialisation, in parameter order.
struct ArgSpec {
  enum Kind {
    Absent /* signature mode: take the annotation */,
    Tensor,
    Scalar,
    RuntimeScalar
  } kind = Absent;
  std::string dtype;            // "FP32" …
  std::vector<int64_t> shape;   // of the sample; dims bound to a DynVar become dynamic
  std::vector<int64_t> strides; // elements; empty = contiguous row-major
  PyValue value;                // Scalar
};

struct CompileOptions {
  std::string platform = "a2a3sim"; // a2a3 a2a3sim a5 a5sim
  bool autoScope = true;
  bool emitPto = false; // fill CompiledUnit::pto
  /// The texts have the addresses of tiles (level3); without, the assembler places them (level2).
  bool bakeAddresses = true;
  bool emitDumps = false;   // fill CompiledUnit::dumps
  bool importOnly = false;  // stop after import and verification
  bool lowerOnly = false;   // stop before code generation
  bool emitLowered = false; // fill CompiledUnit::lowered
  /// The entry is a kernel: there is one, and with hostBuildGraph it reads and writes no data of
  /// tensors itself.
  bool kernelContract = false;
  bool hostBuildGraph = false;
  bool reuseMemory = true; // native target: tiles with disjoint lives share bytes
  bool fuse = true;
  bool check = false; // accesses outside their tensor are reported when they run
};

struct ParamInfo {
  std::string name;
  enum Direction { In, Out, InOut } direction = In;
  bool isTensor = true;
  std::string dtype;
  std::vector<int64_t> shape; // -1 = dynamic
  std::vector<std::string>
      dynamicNames;             // per dim, "" for static; equal names must agree at run time
  std::vector<int64_t> strides; // empty = contiguous row-major; what the code was compiled for
  std::string layout;           // "" = row-major; NZ, MX_A_ZZ, MX_B_NN
};

/// A kernel, for manifests.
struct KernelDescription {
  std::string name;
  std::string coreType;                      // aic, aiv, mix
  std::vector<ParamInfo::Direction> tensors; // directions of its tensor parameters
};

struct CompiledUnit {
  std::string name;
  std::vector<char> sharedObject;
  std::string entrySymbol;              // a SimplerOrchFn
  std::vector<ParamInfo> params;        // tensors and run-time scalars in call order, as declared
  std::vector<ParamInfo> loweredParams; // the same as the code takes them
  std::vector<int> returns;             // parameter index that result i aliases
  std::vector<std::string> kernels;     // names, for reports
  std::vector<KernelDescription> kernelDescriptions; // what the entry launches, by first use
  std::string lowered;                    // the program before code generation, for compileLowered
  std::map<std::string, std::string> pto; // kernel (or group) name -> .pto text
  std::map<std::string, std::string> cpp; // kernel name -> C++ text, filled with pto
  std::map<std::string, std::string> cppProblems;         // kernel name -> why it has none
  std::vector<std::pair<std::string, std::string>> dumps; // stage name -> IR text, in order
  std::vector<std::pair<std::string, double>> stageMilliseconds;
};

struct CompileResult {
  bool ok = false;
  CompiledUnit unit;                   // one entry
  std::vector<CompiledUnit> others;    // class programs with several orchestrations
  std::vector<Diagnostic> diagnostics; // errors and warnings, in source order
  std::vector<int>
      bakeScalars;        // arguments that must be passed again as Scalar (a constant is needed)
  std::string reproducer; // after an internal error: the IR that the code generator failed on
};

/// Machine code for a CompiledUnit::lowered text, for this host. Fills sharedObject and
/// diagnostics.
CompileResult compileLowered(std::string_view text, const CompileOptions &options);

CompileResult compile(const Program &program, const std::vector<ArgSpec> &args,
                      const CompileOptions &options);

} // namespace pypto
#endif // PYPTO_DRIVER_COMPILER_H
