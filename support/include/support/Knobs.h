//===- Knobs.h - environment variables, typed -----------------------------===//
//
// Each accessor reads the environment at the call: knobs::CacheDir(), …. The list
// is tools/knobs.toml. A value that the type does not allow gives the default; the
// Python side reports it (`pypto.knobs.get` raises).
//
//===----------------------------------------------------------------------===//
#ifndef SUPPORT_KNOBS_H
#define SUPPORT_KNOBS_H

#include <cstdint>
#include <string>
#include <type_traits>

namespace pto::knobs {

using Flag = bool;
using Int = int64_t;
using Size = uint64_t; // bytes
using Text = std::string;

/// Parsers of the types; `fallback` when `text` is null, empty or not of the type.
bool parse(const char *text, bool fallback);
int64_t parse(const char *text, int64_t fallback);
uint64_t parse(const char *text, uint64_t fallback);
std::string parse(const char *text, const char *fallback);
const char *read(const char *env);

#define PTO_KNOB(Name, Env, Type, Default, Help)                                                   \
  inline Type Name() {                                                                             \
    using Fallback = std::conditional_t<std::is_same_v<Type, Text>, const char *, Type>;           \
    return parse(read(Env), Fallback(Default));                                                    \
  }
#include "support/Knobs.def"
#undef PTO_KNOB

} // namespace pto::knobs
#endif // SUPPORT_KNOBS_H
