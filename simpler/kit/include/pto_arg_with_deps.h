//===- pto_arg_with_deps.h - arguments that carry their dependencies ------===//
#pragma once
#include "pto_orchestration_api.h"

template <int N = 16> class CoreTaskArgsWithDeps : public CoreTaskArgs {
public:
  void add_dep(PTO2TaskId id) { add(id, static_cast<DepFlags>(DEP_WAIT | DEP_RETAIN)); }
  /// Ordering only.
  void add_dep_wait(PTO2TaskId id) { add(id, DEP_WAIT); }

private:
  void add(PTO2TaskId id, DepFlags kind) {
    if (count_ == N) {
      has_error = true;
      error_msg = "add_dep: more dependencies than the capacity of CoreTaskArgsWithDeps";
      return;
    }
    ids_[count_] = id;
    kinds_[count_++] = kind;
    set_dependencies(nullptr, 0);
    set_dependencies_with_kinds(ids_, kinds_, count_);
  }

  PTO2TaskId ids_[N];
  DepFlags kinds_[N];
  int32_t count_ = 0;
};
