//===- ContextPool.cpp - warm MLIR contexts -------------------------------===//
#include "ContextPool.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "pypto/Importer/Importer.h"
#include <mutex>
#include <vector>

using namespace mlir;

namespace pypto {

// Attributes and types stay in a context for its life; it is dropped before they add up.
static constexpr int compilesPerContext = 256;

namespace {
struct Idle {
  std::mutex mutex;
  std::vector<std::pair<std::unique_ptr<MLIRContext>, int>> contexts;
  llvm::DenseMap<MLIRContext *, int> uses;
};
} // namespace

// Never destroyed: threads may compile while the process exits.
static Idle &idle() {
  static Idle *pool = new Idle;
  return *pool;
}

ContextPool::Lease ContextPool::take() {
  {
    std::lock_guard lock(idle().mutex);
    if (!idle().contexts.empty()) {
      auto [context, uses] = std::move(idle().contexts.back());
      idle().contexts.pop_back();
      idle().uses[context.get()] = uses;
      return Lease(std::move(context));
    }
  }
  // Threading off: the modules are small, and a thread pool costs a start.
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false); // errors speak of Python, not of ops
  loadImporterDialects(*context);
  context->loadDialect<pto::PTODialect, LLVM::LLVMDialect>();
  return Lease(std::move(context));
}

ContextPool::Lease::~Lease() {
  if (!context)
    return;
  std::lock_guard lock(idle().mutex);
  int uses = idle().uses[context.get()] + 1;
  idle().uses.erase(context.get());
  if (uses < compilesPerContext && idle().contexts.size() < 8)
    idle().contexts.push_back({std::move(context), uses});
}

} // namespace pypto
