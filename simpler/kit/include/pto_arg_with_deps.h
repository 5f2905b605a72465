//===- pto_arg_with_deps.h - arguments that carry their dependencies ------===//
#pragma once
#include "pto_orchestration_api.h"

template <int N = 16> class CoreTaskArgsWithDeps : public CoreTaskArgs {
public:
  void add_dep(PTO2TaskId id) {
    if (count_ == N) {
      has_error = true;
      error_msg = "add_dep: more dependencies than the capacity of CoreTaskArgsWithDeps";
      return;
    }
    ids_[count_++] = id;
    set_dependencies(nullptr, 0);
    set_dependencies(ids_, count_);
  }
  /// Ordering only; buffers are kept by the tasks that name them.
  void add_dep_wait(PTO2TaskId id) { add_dep(id); }

private:
  PTO2TaskId ids_[N];
  int32_t count_ = 0;
};
