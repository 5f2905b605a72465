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
  bool emitPto = false;    // fill CompiledUnit::pto
  bool emitDumps = false;  // fill CompiledUnit::dumps
  bool importOnly = false; // stop after import and verification
  bool lowerOnly = false;  // stop before code generation
  bool reuseMemory = true; // native target: tiles with disjoint lives share bytes
  bool fuse = true;
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
};

struct CompiledUnit {
  std::string name;
  std::vector<char> sharedObject;
  std::string entrySymbol;                // a SimplerOrchFn
  std::vector<ParamInfo> params;          // tensors and run-time scalars in call order
  std::vector<int> returns;               // parameter index that result i aliases
  std::vector<std::string> kernels;       // names, for reports
  std::map<std::string, std::string> pto; // kernel (or group) name -> .pto text
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

CompileResult compile(const Program &program, const std::vector<ArgSpec> &args,
                      const CompileOptions &options);

} // namespace pypto
#endif // PYPTO_DRIVER_COMPILER_H
