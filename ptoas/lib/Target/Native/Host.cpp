//===- Host.cpp - what this CPU offers ------------------------------------===//
//
// LLVM's feature query already honours CPUID and the state the OS saves (XCR0).
// Code is generated for a feature level plus the listed extras, never for a CPU
// name: virtual machines mask features that a name implies.
//
//===----------------------------------------------------------------------===//
#include "llvm/TargetParser/Host.h"
#include "ptoas/Target/Native/Native.h"
#include "llvm/ADT/StringMap.h"
#include <cstdlib>

using namespace ptoas::native;

static HostTarget makeTarget(Isa isa, const llvm::StringMap<bool> &have) {
  HostTarget target;
  target.isa = isa;
  if (isa == Isa::AVX2) {
    target.cpu = "x86-64-v3";
    return target;
  }
  target.cpu = "x86-64-v4";
  for (const char *extra : {"avx512fp16", "avx512vnni", "avx512vbmi", "avx512vbmi2"})
    if (have.lookup(extra)) {
      if (!target.features.empty())
        target.features += ",";
      target.features += std::string("+") + extra;
    }
  return target;
}

const HostTarget &HostTarget::host() {
  static const HostTarget target = [] {
    llvm::StringMap<bool> have = llvm::sys::getHostCPUFeatures();
    Isa isa = Isa::AVX2;
    if (have.lookup("avx512f") && have.lookup("avx512bw") && have.lookup("avx512vl") &&
        have.lookup("avx512dq") && have.lookup("avx512cd")) {
      isa = Isa::AVX512;
      if (have.lookup("amx-tile") && have.lookup("amx-bf16") && have.lookup("amx-int8"))
        isa = Isa::AMX;
    }
    if (const char *wish = std::getenv("PTO_ISA")) {
      llvm::StringRef name(wish);
      // A wish lowers the level; it cannot invent hardware.
      if (name == "avx2")
        isa = Isa::AVX2;
      else if (name == "avx512" && isa == Isa::AMX)
        isa = Isa::AVX512;
    }
    return makeTarget(isa, have);
  }();
  return target;
}
