//===- Liveness.h - which names are used later ----------------------------===//
//
// Plain data flow over the statements of one function. The importer makes block
// arguments and results only for names that somebody reads afterwards, so that
// temporaries of a loop body or scope stay local to it.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_IMPORTER_LIVENESS_H
#define PYPTO_LIB_IMPORTER_LIVENESS_H

#include "pypto/Importer/PyAst.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pypto::importer {

using Names = std::set<std::string>;
using Statements = std::vector<std::unique_ptr<ast::Node>>;

class Liveness {
public:
  /// `atExit` are names that stay visible after the function: parameters of inline functions.
  Liveness(const ast::Node &function, const Names &atExit);

  /// Names read on some path after `statement`.
  const Names &after(const ast::Node &statement) const { return find(out, statement); }
  /// Names read by an iteration of the loop, or after it, before they are assigned.
  const Names &atLoopHead(const ast::Node &loop) const { return find(head, loop); }

private:
  static const Names &find(const std::map<const ast::Node *, Names> &map, const ast::Node &key);
  Names block(const Statements &statements, Names live);
  Names statement(const ast::Node &node, const Names &live);
  Names loop(const ast::Node &node, const Names &live);

  std::map<const ast::Node *, Names> out, head;
  std::vector<std::pair<Names, Names>> loops; // live after break, after continue
};

/// Names that an expression reads.
void namesRead(const ast::Node *expr, Names &names);

struct Assigned {
  Names strong; // targets of assignments
  Names weak;   // arguments of calls, which may write through them
};
void namesAssigned(const ast::Node &statement, Assigned &names);
Assigned namesAssigned(const Statements &statements);

/// True for a call of `pl.<path>`.
bool isCallOf(const ast::Node *expr, const char *path);

} // namespace pypto::importer
#endif // PYPTO_LIB_IMPORTER_LIVENESS_H
