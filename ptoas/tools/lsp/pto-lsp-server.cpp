//===- pto-lsp-server.cpp - language server for `.pto` text -----------------===//
//
// MLIR's language server with the dialects of a `.pto` file: errors while typing, definitions and
// uses, hover. It knows no documentation of ops, so this process passes the messages between the
// editor and that server (a child) on, and adds the documentation of the op to answers on hover and
// puts what the assembler says of a text in place of its errors.
//
//===----------------------------------------------------------------------===//
#include "Documents.h"
#include "Messages.h"
#include "OpDocs.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "ptoas/Driver/Assembler.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/thread.h"
#include <csignal>
#include <mutex>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace json = llvm::json;

static constexpr unsigned kMaxNesting = 200; // of objects and arrays in a message

namespace {
/// Ids of the hover requests whose answers are on their way.
class HoverRequests {
public:
  void note(const json::Object &message) {
    if (message.getString("method") != "textDocument/hover")
      return;
    if (const json::Value *id = message.get("id")) {
      std::lock_guard lock(mutex_);
      ids_.insert(llvm::formatv("{0}", *id).str());
    }
  }
  bool take(const json::Object &answer) {
    const json::Value *id = answer.get("id");
    std::lock_guard lock(mutex_);
    return id && ids_.erase(llvm::formatv("{0}", *id).str());
  }

private:
  std::mutex mutex_;
  std::set<std::string> ids_;
};
} // namespace

// The answer with the documentation of the op that it is about, which stands first, in quotes.
static std::string addDocumentation(llvm::StringRef message, HoverRequests &requests) {
  llvm::Expected<json::Value> value = json::parse(message);
  if (!value) {
    llvm::consumeError(value.takeError());
    return message.str();
  }
  json::Object *object = value->getAsObject();
  if (!object || !requests.take(*object))
    return message.str();
  json::Object *result = object->getObject("result");
  json::Object *contents = result ? result->getObject("contents") : nullptr;
  std::optional<llvm::StringRef> text;
  if (contents)
    text = contents->getString("value");
  if (!text || !text->starts_with("\""))
    return message.str();
  llvm::StringRef documentation =
      ptoas::getOpDocumentation(text->drop_front().take_until([](char c) { return c == '"'; }));
  if (documentation.empty())
    return message.str();
  (*contents)["kind"] = "markdown";
  (*contents)["value"] = (documentation + "\n\n---\n" + *text).str();
  return llvm::formatv("{0}", *value).str();
}

// The errors that the assembler finds in a text stand in place of those of MLIR, which ends at the
// first.
static std::string replaceErrors(const std::string &message, const ptoas::Documents &documents) {
  if (!llvm::StringRef(message).contains("textDocument/publishDiagnostics"))
    return message;
  llvm::Expected<json::Value> value = json::parse(message);
  if (!value) {
    llvm::consumeError(value.takeError());
    return message;
  }
  json::Object *object = value->getAsObject();
  json::Object *params = object ? object->getObject("params") : nullptr;
  json::Array *list = params ? params->getArray("diagnostics") : nullptr;
  std::optional<llvm::StringRef> uri;
  if (list && object->getString("method") == "textDocument/publishDiagnostics")
    uri = params->getString("uri");
  std::optional<std::string> text = uri ? documents.text(*uri) : std::nullopt;
  if (!text)
    return message;
  json::Array better = ptoas::assemblerDiagnostics(*text, *uri);
  *list = better.empty() ? ptoas::plainDiagnostics(std::move(*list)) : std::move(better);
  return llvm::formatv("{0}", *value).str();
}

// Passes messages on until one side closes its end.
static void passOn(int from, int to,
                   llvm::function_ref<std::optional<std::string>(llvm::StringRef)> change) {
  ptoas::MessageReader reader(from);
  while (std::optional<std::string> message = reader.next()) {
    std::optional<std::string> changed = change(*message);
    if (changed && !ptoas::writeMessage(to, *changed))
      break;
  }
  ::close(to);
}

static int serve(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ptoas::registerPtoDialects(registry);
  bool failed = true;
  // Text that nests deeply needs a deep stack: the parser calls itself once per level.
  llvm::thread server(std::optional<unsigned>(1u << 30), [&] {
    failed = mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
  });
  server.join();
  return failed;
}

static int complain(const llvm::Twine &what) {
  llvm::errs() << "pto-lsp-server: " << what << "\n";
  return 1;
}

// What MLIR's server can read; on any other message it ends, or runs out of stack.
static llvm::Expected<json::Value> parseRequest(llvm::StringRef message) {
  if (ptoas::nestsDeeper(message, kMaxNesting))
    return llvm::createStringError("it nests too deeply");
  llvm::Expected<json::Value> value = json::parse(message);
  if (!value)
    return value;
  const json::Object *object = value->getAsObject();
  if (!object || object->getString("jsonrpc") != "2.0")
    return llvm::createStringError("it is no object of JSON-RPC 2.0");
  return value;
}

int main(int argc, char **argv) {
  // With flags (--help, the test mode of MLIR) it is MLIR's server alone.
  if (argc > 1)
    return serve(argc, argv);
  ::signal(SIGPIPE, SIG_IGN);
  int toServer[2], fromServer[2];
  if (::pipe(toServer) || ::pipe(fromServer))
    return complain("cannot make pipes");
  pid_t server = ::fork();
  if (server < 0)
    return complain("cannot start the server process");
  if (server == 0) {
    ::dup2(toServer[0], 0);
    ::dup2(fromServer[1], 1);
    for (int end : {toServer[0], toServer[1], fromServer[0], fromServer[1]})
      ::close(end);
    return serve(argc, argv);
  }
  ::close(toServer[0]);
  ::close(fromServer[1]);
  HoverRequests requests;
  ptoas::Documents documents;
  llvm::thread answers(std::optional<unsigned>(64u << 20), [&] {
    passOn(fromServer[0], 1, [&](llvm::StringRef message) {
      return replaceErrors(addDocumentation(message, requests), documents);
    });
    // Nobody answers any more, so there is nothing left to wait for.
    int status = 0;
    ::waitpid(server, &status, 0);
    if (!WIFEXITED(status))
      ::_exit(complain("the server process ended by a signal"));
    ::_exit(WEXITSTATUS(status));
  });
  passOn(0, toServer[1], [&](llvm::StringRef message) -> std::optional<std::string> {
    llvm::Expected<json::Value> request = parseRequest(message);
    if (!request) {
      complain("a message is ignored: " + llvm::toString(request.takeError()));
      return std::nullopt;
    }
    requests.note(*request->getAsObject());
    documents.note(*request->getAsObject());
    return message.str();
  });
  answers.join();
  return 0;
}
