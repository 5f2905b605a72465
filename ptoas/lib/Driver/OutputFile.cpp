//===- OutputFile.cpp - files that appear complete or not at all -----------===//
#include "ptoas/Driver/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

using llvm::StringRef;

static std::string cannot(StringRef path, const llvm::Twine &reason) {
  return ("cannot write '" + path + "': " + reason).str();
}

static std::string finish(llvm::raw_fd_ostream &stream, StringRef path) {
  stream.flush();
  if (!stream.has_error())
    return {};
  std::string reason = stream.error().message();
  stream.clear_error();
  return cannot(path, reason);
}

// A link stays one: what it leads to is replaced.
static llvm::SmallString<128> behindLink(StringRef path) {
  llvm::SmallString<128> target(path);
  if (llvm::sys::fs::is_symlink_file(path) && llvm::sys::fs::real_path(path, target))
    target = path;
  return target;
}

std::string ptoas::writeOutput(StringRef path,
                               llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (path == "-") {
    print(llvm::outs());
    return finish(llvm::outs(), path);
  }
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (error)
      return cannot(path, error.message());
    print(stream);
    return finish(stream, path);
  }
  llvm::SmallString<128> target = behindLink(path);
  auto temporary = llvm::sys::fs::TempFile::create(target + ".temp-%%%%%%");
  if (!temporary)
    return cannot(path, llvm::toString(temporary.takeError()));
  std::string problem;
  {
    llvm::raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
    print(stream);
    problem = finish(stream, path);
  }
  // Who may read a file is for its owner to say.
  if (auto known = llvm::sys::fs::getPermissions(target))
    (void)llvm::sys::fs::setPermissions(temporary->FD, *known);
  if (!problem.empty()) {
    llvm::consumeError(temporary->discard());
    return problem;
  }
  if (llvm::Error error = temporary->keep(target))
    return cannot(path, llvm::toString(std::move(error)));
  return {};
}

void ptoas::dropOutput(StringRef path, StringRef input) {
  if (path == "-" || !llvm::sys::fs::is_regular_file(path) ||
      (input != "-" && llvm::sys::fs::equivalent(path, input)))
    return;
  (void)llvm::sys::fs::remove(behindLink(path));
}
