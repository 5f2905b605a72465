//===- Recursion.cpp - functions that call themselves ----------------------===//
#include "ptoas/Dialect/PTO/Transforms/Recursion.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

// Depth first over the calls, with a list instead of calls of its own: a chain may be long.
LogicalResult mlir::pto::checkRecursion(ModuleOp module) {
  SymbolTable symbols(module);
  enum State { Open, Done };
  DenseMap<Operation *, State> states;
  struct Step {
    Operation *function;
    SmallVector<std::pair<CallOpInterface, Operation *>> calls;
  };
  auto enter = [&](Operation *function) {
    states[function] = Open;
    Step step{function, {}};
    function->walk([&](CallOpInterface call) {
      auto name = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
      if (Operation *callee = name ? symbols.lookup(name.getRootReference()) : nullptr)
        step.calls.push_back({call, callee});
    });
    return step;
  };
  bool failedAny = false;
  for (auto root : module.getOps<FunctionOpInterface>()) {
    SmallVector<Step> stack;
    if (!states.count(root))
      stack.push_back(enter(root));
    while (!stack.empty()) {
      if (stack.back().calls.empty()) {
        states[stack.back().function] = Done;
        stack.pop_back();
        continue;
      }
      auto [call, callee] = stack.back().calls.pop_back_val();
      auto known = states.find(callee);
      if (known == states.end()) {
        stack.push_back(enter(callee));
      } else if (known->second == Open) {
        call->emitError() << "recursion: '@" << SymbolTable::getSymbolName(callee).getValue()
                          << "' calls itself, here or through the functions that it calls";
        failedAny = true;
      }
    }
  }
  return failure(failedAny);
}
