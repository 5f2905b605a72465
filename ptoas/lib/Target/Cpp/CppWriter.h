//===- CppWriter.h - lines of C++ in LLVM style ---------------------------===//
//
// Writes statements with their indentation and breaks what is longer than 100 columns
// as clang-format does: behind a comma, aligned with the bracket it stands in.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_TARGET_CPP_CPPWRITER_H
#define PTOAS_LIB_TARGET_CPP_CPPWRITER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace ptoas::cpp {

class CppWriter {
public:
  static constexpr unsigned kColumns = 100;

  explicit CppWriter(unsigned indent = 0) : indent_(indent) {}

  /// A comment in front of the next line, if there is one; a later comment replaces it.
  void comment(std::string text) { comment_ = std::move(text); }
  /// One line at the current indentation, broken where it is too long.
  void line(const llvm::Twine &text);
  /// A preprocessor directive: never indented.
  void directive(llvm::StringRef text) { raw(text); }
  /// A jump label: one level further out than the code around it.
  void label(const llvm::Twine &name);
  /// A line as it is.
  void raw(llvm::StringRef text) {
    text_ += text;
    text_ += '\n';
    ++lines_;
  }
  /// `head {`, and one level deeper.
  void open(const llvm::Twine &head);
  /// `}`, one level further out; `} tail` when there is a tail.
  void close(llvm::StringRef tail = "");
  /// `} else {`
  void reopen(llvm::StringRef middle);

  void indent() { indent_ += 2; }
  void outdent() { indent_ -= 2; }

  unsigned lineCount() const { return lines_; }
  llvm::StringRef text() const { return text_; }
  std::string take() { return std::move(text_); }
  void append(llvm::StringRef text) { text_ += text; }

private:
  std::string text_;
  std::string comment_;
  unsigned indent_;
  unsigned lines_ = 0;
};

} // namespace ptoas::cpp

#endif // PTOAS_LIB_TARGET_CPP_CPPWRITER_H
