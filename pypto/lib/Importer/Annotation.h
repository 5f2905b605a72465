//===- Annotation.h - types and directions of parameters ------------------===//
#ifndef PYPTO_LIB_IMPORTER_ANNOTATION_H
#define PYPTO_LIB_IMPORTER_ANNOTATION_H

#include "DType.h"
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"
#include "pypto/Driver/Compiler.h"
#include "pypto/Importer/PyAst.h"

namespace pypto::importer {

/// One extent of an annotated shape.
struct ExtentSpec {
  std::optional<int64_t> size; // none: known at run time
  std::string name;            // of the DynVar or the scalar parameter
};

/// A parameter as its annotation says, then as specialised.
struct ParamSpec {
  enum Kind { Bare /* no annotation */, Tensor, Tile, Scalar, Array, Tuple };
  std::string name;
  const ast::Node *node = nullptr; // the `arg`
  Kind kind = Bare;
  ParamInfo::Direction direction = ParamInfo::In;
  std::optional<DType> dtype;
  std::optional<std::vector<ExtentSpec>> shape; // none for a bare pl.Tensor
  std::vector<int64_t> strides;
  TensorLayout layout = TensorLayout::ND;
  MemorySpace space = MemorySpace::None;
  int64_t extent = 0;           // arrays
  std::optional<PyValue> baked; // scalars fixed at compile time
};

/// Reads `annotation` (null: none). Errors go to `report(node, kind, message, help)`.
class AnnotationReader {
public:
  using Report = std::function<void(const ast::Node &, ErrorKind, std::string, std::string)>;
  AnnotationReader(Environment *env, Report report) : env(env), report(std::move(report)) {}
  /// Names of scalar parameters seen so far, which later shapes may use.
  std::vector<std::string> scalarNames;
  /// True for names that a body binds to a pl.MemRef.
  std::function<bool(const std::string &)> isMemRef;

  bool read(const ast::Node *annotation, ParamSpec &spec);

private:
  bool tensorSlots(const ast::Node &subscript, ParamSpec &spec);
  bool memRefSlot(const ast::Node &slot);
  bool shapeOf(const ast::Node &list, std::vector<ExtentSpec> &shape);
  bool checkSize(const ast::Node &list, const std::vector<ExtentSpec> &shape);
  bool dtypeOf(const ast::Node &node, std::optional<DType> &dtype);
  bool fail(const ast::Node &node, ErrorKind kind, std::string message, std::string help = "") {
    report(node, kind, std::move(message), std::move(help));
    return false;
  }
  Environment *env;
  Report report;
};

/// "pl.Tensor" for the attribute `pl.Tensor`; "" for other expressions.
std::string dottedName(const ast::Node &node);

} // namespace pypto::importer
#endif // PYPTO_LIB_IMPORTER_ANNOTATION_H
