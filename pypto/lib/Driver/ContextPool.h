//===- ContextPool.h - warm MLIR contexts ---------------------------------===//
//
// Making a context and loading its dialects costs more than compiling a small kernel; each
// compile borrows one and gives it back.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_DRIVER_CONTEXTPOOL_H
#define PYPTO_LIB_DRIVER_CONTEXTPOOL_H

#include "mlir/IR/MLIRContext.h"
#include <memory>

namespace pypto {

class ContextPool {
public:
  class Lease {
  public:
    explicit Lease(std::unique_ptr<mlir::MLIRContext> context) : context(std::move(context)) {}
    ~Lease();
    mlir::MLIRContext &operator*() { return *context; }
    mlir::MLIRContext *operator->() { return context.get(); }

  private:
    std::unique_ptr<mlir::MLIRContext> context;
  };
  /// A context for one compile. Thread-safe.
  static Lease take();
};

} // namespace pypto

#endif // PYPTO_LIB_DRIVER_CONTEXTPOOL_H
