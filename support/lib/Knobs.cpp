//===- Knobs.cpp - parsing of environment variables -----------------------===//
#include "support/Knobs.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace pto::knobs {
namespace {

std::string lower(std::string_view text) {
  std::string result;
  for (char c : text)
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

} // namespace

const char *read(const char *env) { return std::getenv(env); }

bool parse(const char *text, bool fallback) {
  if (!text)
    return fallback;
  std::string word = lower(text);
  if (word == "1" || word == "on" || word == "true" || word == "yes")
    return true;
  if (word == "0" || word == "off" || word == "false" || word == "no")
    return false;
  return fallback;
}

int64_t parse(const char *text, int64_t fallback) {
  if (!text)
    return fallback;
  std::string_view word = text;
  int64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() ? value : fallback;
}

uint64_t parse(const char *text, uint64_t fallback) {
  if (!text)
    return fallback;
  std::string_view word = text;
  int shift = 0;
  if (word.ends_with("iB"))
    word.remove_suffix(2);
  else if (word.ends_with('B'))
    word.remove_suffix(1);
  if (!word.empty()) {
    switch (word.back()) {
    case 'k':
    case 'K':
      shift = 10;
      break;
    case 'm':
    case 'M':
      shift = 20;
      break;
    case 'g':
    case 'G':
      shift = 30;
      break;
    }
    if (shift)
      word.remove_suffix(1);
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  bool whole = error == std::errc() && end == word.data() + word.size();
  return whole && value <= (UINT64_MAX >> shift) ? value << shift : fallback;
}

std::string parse(const char *text, const char *fallback) {
  return text && *text ? text : fallback;
}

} // namespace pto::knobs
