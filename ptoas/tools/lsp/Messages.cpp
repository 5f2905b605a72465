//===- Messages.cpp - messages of the language server protocol -------------===//
#include "Messages.h"
#include <cerrno>
#include <unistd.h>

using namespace ptoas;

// A message holds the text of a file, so it may be large, but not without limit.
static constexpr size_t kMaxMessage = size_t(1) << 30;

bool MessageReader::fill() {
  char buffer[1 << 16];
  ssize_t got;
  do
    got = ::read(file_, buffer, sizeof(buffer));
  while (got < 0 && errno == EINTR);
  if (got <= 0)
    return false;
  bytes_.append(buffer, got);
  return true;
}

std::optional<std::string> MessageReader::next() {
  size_t end;
  while ((end = bytes_.find("\r\n\r\n")) == std::string::npos)
    if (bytes_.size() > (1 << 16) || !fill())
      return std::nullopt;
  llvm::StringRef header(bytes_.data(), end);
  size_t length = 0;
  bool found = false;
  while (!header.empty()) {
    auto [line, rest] = header.split("\r\n");
    header = rest;
    if (line.consume_front_insensitive("content-length:"))
      found = !line.trim().getAsInteger(10, length);
  }
  if (!found || length > kMaxMessage)
    return std::nullopt;
  bytes_.erase(0, end + 4);
  while (bytes_.size() < length)
    if (!fill())
      return std::nullopt;
  std::string body = bytes_.substr(0, length);
  bytes_.erase(0, length);
  return body;
}

bool ptoas::nestsDeeper(llvm::StringRef text, unsigned limit) {
  unsigned depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    char sign = text[at];
    if (sign == '"')
      for (++at; at < text.size() && text[at] != '"'; ++at)
        at += text[at] == '\\';
    depth += sign == '{' || sign == '[';
    depth -= depth && (sign == '}' || sign == ']');
    if (depth > limit)
      return true;
  }
  return false;
}

bool ptoas::writeMessage(int file, llvm::StringRef body) {
  std::string message = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body.str();
  for (size_t done = 0; done < message.size();) {
    ssize_t put = ::write(file, message.data() + done, message.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    done += put;
  }
  return true;
}
