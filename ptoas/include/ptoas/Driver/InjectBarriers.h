//===- InjectBarriers.h - order by barriers alone -------------------------===//
#ifndef PTOAS_DRIVER_INJECTBARRIERS_H
#define PTOAS_DRIVER_INJECTBARRIERS_H

#include "mlir/IR/BuiltinOps.h"

namespace ptoas {

/// A barrier of all queues in front of every instruction: slow, and right by construction; for
/// finding out whether a wrong result comes from missing flags. Functions with flags or barriers of
/// their own are changed too.
void injectBarriers(mlir::ModuleOp module);

} // namespace ptoas

#endif // PTOAS_DRIVER_INJECTBARRIERS_H
