//===- Walker.h - from statements to SSA ----------------------------------===//
//
// One Walker builds one function of the module. It walks the statements in order
// and keeps, for each Python name, the value it stands for; control flow turns
// names that were bound again and are read later into block arguments and
// results. Inline functions are walked in a new Frame at the place of the call.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_IMPORTER_WALKER_H
#define PYPTO_LIB_IMPORTER_WALKER_H

#include "Annotation.h"
#include "Liveness.h"
#include "Val.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "pypto/Dialect/PyPTO/IR/OpTable.h"
#include "pypto/Driver/Compiler.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

namespace pypto::importer {

/// A function of the module that calls can name.
struct KernelInfo {
  mlir::func::FuncOp func;
  std::string name;
  std::vector<ParamSpec> params;
  std::set<int> written;    // parameters that the body writes
  std::vector<int> returns; // as attribute pypto.returns
  std::vector<Val> results; // of those that alias no parameter; types only
};

/// What all functions of one module share.
struct ModuleState {
  mlir::MLIRContext *context;
  const Program &program;
  const CompileOptions &options;
  std::vector<Diagnostic> &diagnostics;
  std::vector<int> &bakeScalars;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::map<std::string, KernelInfo> kernels; // by function and argument types
  std::set<std::string> symbols;
  std::vector<const Function *> building;             // kernels under construction, for recursion
  std::vector<std::shared_ptr<const Function>> alive; // functions found through names
};

using Variables = std::map<std::string, Val>;

struct Frame {
  const Function *function = nullptr;
  Frame *outer = nullptr; // caller, for inline functions
  Span callSite;
  Variables vars;
  std::unique_ptr<Liveness> liveness;
  Names locals; // every name that the function assigns
  bool strictSsa = false;
  std::map<std::string, std::pair<std::string, int>> dynamicDims; // DynVar -> parameter, axis
  std::map<std::string, std::pair<std::string, int64_t>>
      memRefs; // names of pl.MemRef: its own, slots
  std::optional<Val> result;
};

/// How a block of statements was left.
enum class Flow { Next, Stopped };

class Walker {
public:
  Walker(ModuleState &module) : m(module), b(module.context) {}

  /// Builds `function` for the given parameters. False if errors were reported.
  bool build(const Function &function, std::vector<ParamSpec> params, llvm::StringRef functionType,
             bool isEntry, KernelInfo &info);

private:
  //===-- Errors (Errors.cpp) --===//
  Val error(ErrorKind kind, const ast::Node &at, const llvm::Twine &message,
            const llvm::Twine &help = "");
  Val syntax(const ast::Node &at, const llvm::Twine &message, const llvm::Twine &help = "") {
    return error(ErrorKind::Syntax, at, message, help);
  }
  Val typeError(const ast::Node &at, const llvm::Twine &message, const llvm::Twine &help = "") {
    return error(ErrorKind::Type, at, message, help);
  }
  Val unsupported(const ast::Node &at, const llvm::Twine &message, const llvm::Twine &help = "") {
    return error(ErrorKind::Unsupported, at, message, help);
  }
  Val invalid(const ast::Node &at, const llvm::Twine &message, const llvm::Twine &help = "") {
    return error(ErrorKind::InvalidOperation, at, message, help);
  }
  void warning(const ast::Node &at, const llvm::Twine &message, const llvm::Twine &help = "");
  mlir::Location locationOf(const ast::Node &node);
  /// A value must be known at compile time and depends on run-time scalar parameters of the entry.
  bool askToBake(const Val &value);

  //===-- Values (Values.cpp) --===//
  Val scalar(mlir::Value value, DType type, std::optional<Affine> affine = std::nullopt);
  Val constantInt(int64_t value, DType type = DType::Index);
  Val constantFloat(double value, DType type = DType::FP32);
  Val constantBool(bool value);
  Val none() const;
  Val tuple(std::vector<Val> items) const;
  Val fromPython(const PyValue &value);
  Val unknown() const { return Val(); }
  mlir::Value materialise(const Val &scalar, mlir::Location loc);
  Val castScalar(const Val &value, DType to, mlir::Location loc);
  /// As `index`; reports and returns null if it is no integer.
  mlir::Value indexOf(const Val &value, const ast::Node &at);
  mlir::Type typeOf(const Val &value);
  mlir::Type elementType(DType type);
  /// A value of `like`'s type around an SSA value of the wider type, with fresh symbols where
  /// extents are not constants.
  Val like(const Val &pattern, mlir::Value value);
  Val shaped(Val::Kind kind, DType type, std::vector<Affine> shape, std::vector<Affine> valid = {});
  Val dimension(const Val &tensor, int axis, mlir::Location loc);
  int newRoot() { return nextRoot++; }
  /// Same type for Python: kind, element type, shape (valid extents may differ).
  bool sameType(const Val &a, const Val &b, bool looseScalars = true);

  //===-- Expressions (Expressions.cpp, ScalarOps.cpp, Subscripts.cpp) --===//
  Val expr(const ast::Node &node);
  Val name(const ast::Node &node);
  Val attribute(const ast::Node &node);
  Val binary(const ast::Node &node, llvm::StringRef op, const Val &left, const Val &right);
  Val scalarBinary(const ast::Node &node, llvm::StringRef op, Val left, Val right);
  Val foldBinary(const ast::Node &node, llvm::StringRef op, const Val &left, const Val &right);
  Val unary(const ast::Node &node);
  Val compare(const ast::Node &node);
  Val compareOne(const ast::Node &node, llvm::StringRef op, Val left, Val right);
  Val boolean(const ast::Node &node);
  Val conditional(const ast::Node &node);
  Val minMax(const ast::Node &node, bool isMax, const Val &left, const Val &right);
  bool commonType(const ast::Node &node, llvm::StringRef what, Val &left, Val &right);
  Val logicalNot(const Val &value, mlir::Location loc);
  bool isCompileTime(const ast::Node &node);
  std::optional<PyValue> evaluatePython(const ast::Node &node, std::string *why = nullptr);

  struct Window {
    std::vector<Val> offsets, sizes;
    std::vector<int64_t> dropped; // axes with a scalar index
    bool allScalar = true;
  };
  bool parseWindow(const ast::Node &subscript, const Val &base, Window &window);
  Val subscript(const ast::Node &node);
  Val subscriptOf(const ast::Node &node, const Val &base);
  bool storeSubscript(const ast::Node &target, const Val &source, const ast::Node &statement);
  Val slice(const ast::Node &at, const Val &base, const Window &window,
            const std::vector<Val> *valid, bool clamp, llvm::StringRef padValue);
  bool checkWindow(const ast::Node &at, llvm::StringRef what, const Val &base,
                   llvm::ArrayRef<Val> offsets, llvm::ArrayRef<Affine> extents);

  //===-- Calls (Calls.cpp, Binder.cpp, Inline.cpp, Tasks.cpp) --===//
  struct Bound {
    const ast::Node *call = nullptr;
    const SignatureRow *signature = nullptr;
    std::string name;                               // as written below pl
    std::map<std::string, Val> values;              // by Python parameter
    std::map<std::string, const ast::Node *> nodes; // where they were given
    bool has(const char *parameter) const {
      auto it = values.find(parameter);
      return it != values.end() && it->second.kind != Val::None;
    }
    const Val &operator[](const char *parameter) const {
      static const Val missing = [] {
        Val v;
        v.kind = Val::None;
        return v;
      }();
      auto it = values.find(parameter);
      return it == values.end() ? missing : it->second;
    }
    const ast::Node &at(const char *parameter) const {
      auto it = nodes.find(parameter);
      return it == nodes.end() ? *call : *it->second;
    }
  };
  Val call(const ast::Node &node);
  Val languageCall(const ast::Node &node, const std::string &path);
  Val funcAttributes(const ast::Node &node);
  bool specialCall(const ast::Node &node, const std::string &path, Val &result);
  bool bind(const ast::Node &node, const std::string &path, Bound &bound);
  const SignatureRow *chooseSignature(const ast::Node &node, const std::string &path,
                                      llvm::ArrayRef<SignatureRow> rows);
  Val buildOp(Bound &bound);
  Val buildOp(llvm::StringRef python, const ast::Node &at,
              std::vector<std::pair<std::string, Val>> arguments,
              std::map<std::string, const ast::Node *> nodes = {});
  struct OpParts {
    std::map<std::string, llvm::SmallVector<mlir::Value>> groups;
    llvm::SmallVector<mlir::NamedAttribute> attributes;
  };
  bool collectParts(Bound &bound, OpParts &parts, llvm::ArrayRef<Val> results);
  mlir::Operation *create(llvm::StringRef op, mlir::Location loc, OpParts &parts,
                          llvm::ArrayRef<mlir::Type> results,
                          llvm::SmallVector<std::unique_ptr<mlir::Region>> regions = {});
  Val finish(const Val &type, mlir::Value value);
  Val writeBack(Bound &bound, const Val &target, mlir::Operation *op);
  std::optional<DType> dtypeArgument(const Bound &bound, const char *parameter);
  bool integers(const Val &list, const ast::Node &at, llvm::StringRef what,
                std::vector<Affine> &out, std::vector<Val> *values = nullptr,
                bool constant = false);
  std::optional<std::string> enumArgument(const Val &value, llvm::StringRef enumName,
                                          const ast::Node &at, llvm::StringRef parameter);
  void rebindArgument(const ast::Node *argument, const Val &result);

  //===-- Type deduction (Deduce*.cpp): result types of ops, errors reported --===//
  bool deduce(Bound &bound, std::vector<Val> &results);
  /// Reports a size that no memory has; `list` is the list of extents, if one is written.
  bool checkSize(const ast::Node &list, llvm::StringRef what, const Val &value);
  bool deduceCreate(Bound &bound, std::vector<Val> &results);
  bool deduceMove(Bound &bound, std::vector<Val> &results);
  bool deduceReshape(Bound &bound, std::vector<Val> &results);
  bool deduceElementwise(Bound &bound, std::vector<Val> &results);
  bool deduceReduce(Bound &bound, std::vector<Val> &results);
  bool deduceExpand(Bound &bound, std::vector<Val> &results);
  bool deduceMatmul(Bound &bound, std::vector<Val> &results);
  bool deduceMatmulMx(Bound &bound, const Val &l, const Val &r, std::vector<Val> &results);
  bool deduceGather(Bound &bound, std::vector<Val> &results);
  bool deduceSystem(Bound &bound, std::vector<Val> &results);
  Val resultLike(const Val &operand, DType type);
  /// A constant axis of `of`, which may be counted from the end; the op gets it counted from 0.
  /// None after an error.
  std::optional<size_t> axisArgument(Bound &bound, const char *parameter, const Val &of);
  bool shapedArgument(Bound &bound, const char *parameter, Val &out, size_t minRank = 1,
                      size_t maxRank = 5);
  bool binaryTypes(Bound &bound, const char *left, const char *right, bool allowCast, Val &result);
  Val &argument(Bound &bound, const char *parameter) { return bound.values[parameter]; }

  //===-- Functions (Inline.cpp, Kernels.cpp) --===//
  Val callFunction(const ast::Node &node, const Function &callee);
  bool bindArguments(const ast::Node &node, const Function &callee,
                     std::vector<std::pair<std::string, Val>> &bound,
                     std::vector<const ast::Node *> &nodes, const Names &ignoredKeywords,
                     size_t firstPositional, bool allowMissing);
  Val inlineCall(const ast::Node &node, const Function &callee,
                 const std::vector<std::pair<std::string, Val>> &arguments,
                 const std::vector<const ast::Node *> &nodes);
  struct Launch {
    llvm::SmallVector<mlir::Value> deps, predicateIndices;
    mlir::Value coreNum, predicateTensor;
    std::string predicateOp;
    int64_t predicateTarget = 0;
    bool syncStart = false, allowEarlyResolve = false;
  };
  Val launch(const ast::Node &node, const Function &callee,
             std::vector<std::pair<std::string, Val>> arguments,
             const std::vector<const ast::Node *> &nodes, Launch &launch, Val *task);
  const Function *resolveFunction(const ast::Node &callee);
  bool isKernel(const Function &function) const;
  KernelInfo *kernelFor(const ast::Node &node, const Function &callee,
                        const std::vector<Val> &arguments,
                        const std::vector<const ast::Node *> &nodes);

  //===-- Tasks (Tasks.cpp) --===//
  Val submit(const ast::Node &node, bool spmd);
  void memRefStatement(const ast::Node &target, const ast::Node &call);
  bool checkMemRefSlots(const ast::Node &annotation);
  /// The call that a statement consists of: where a submit may stand.
  const ast::Node *submitStatement = nullptr;
  bool dependencies(const ast::Node &list, llvm::SmallVectorImpl<mlir::Value> &deps);
  bool predicate(const ast::Node &node, Launch &launch);
  bool tensorList(const ast::Node &list, llvm::StringRef keyword,
                  llvm::SmallVectorImpl<mlir::Value> &tensors);
  bool literalBool(const ast::Node &node, llvm::StringRef keyword, bool &value);

  //===-- Statements (Statements.cpp) --===//
  Flow block(const Statements &statements, size_t first = 0);
  void statement(const ast::Node &node);
  void assign(const ast::Node &target, const Val &value, const ast::Node &statement);
  void bindName(const ast::Node &target, const std::string &name, const Val &value);
  void annotatedAssign(const ast::Node &node);
  void augmentedAssign(const ast::Node &node);
  void expressionStatement(const ast::Node &node);
  void returnStatement(const ast::Node &node);
  void leave(const ast::Node &node); // break, continue
  void yieldStatement(const ast::Node &call, const ast::Node *target, const ast::Node &statement);

  //===-- Control flow (Branches.cpp, Loops.cpp) --===//
  void ifStatement(const ast::Node &node);
  /// Builds an scf.if; each arm changes the variables of the frame.
  void branch(const ast::Node &at, const Val &condition, const Names &candidates, const Names &live,
              llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise);
  void forStatement(const ast::Node &node);
  void whileStatement(const ast::Node &node);
  struct LoopForm {
    const ast::Node *node = nullptr;
    enum Kind { Range, Parallel, Pipeline, Unroll, While, CondWhile, SplitAiv } kind = Range;
    std::string index; // "" for while
    Val low, high, step;
    int64_t stage = 0;
    std::vector<std::string> carriedNames; // of init_values
    std::vector<Val> inits;
    bool yields = false;
    llvm::SmallVector<mlir::NamedAttribute> attributes;
    std::string splitMode; // split_aiv
  };
  bool parseLoop(const ast::Node &node, LoopForm &form);
  void unrollLoop(const LoopForm &form);
  void buildLoop(LoopForm &form);
  std::string canBreak() const;
  /// In a kernel: what global memory holds now, as a value; other values as they are.
  Val loaded(const Val &value, const ast::Node &at);
  /// The same value under a type that knows less of its valid extents.
  mlir::Value retype(mlir::Value value, mlir::Type type, mlir::Location loc);

  //===-- Scopes (Scopes.cpp) --===//
  void withStatement(const ast::Node &node);
  void atScope(const ast::Node &node, const ast::Node &call, const ast::Node *as);
  void spmdScope(const ast::Node &node, const ast::Node &call, const ast::Node *as,
                 const ast::Node *index);
  void runtimeScope(const ast::Node &node, const ast::Node &call, bool manual);
  void clusterScope(const ast::Node &node, const ast::Node &call);
  void splitAivLoop(const ast::Node &node, const ast::Node &call);
  bool parseOptimizations(const ast::Node &list, OpParts &parts);
  bool nameHint(const ast::Node &node, std::string &hint);
  /// Walks `body` in a region of its own; names that are read afterwards become results.
  mlir::Operation *region(const ast::Node &at, llvm::StringRef op, OpParts &parts, bool hasTask,
                          bool toGlobal, llvm::ArrayRef<mlir::Type> blockArguments,
                          llvm::function_ref<void(mlir::Block &)> body);

  struct Context {
    bool inKernel = false; // ops run on a core
    bool inSpmd = false;
    bool inCluster = false;
    bool inSplitAiv = false;
    std::string splitMode; // of the surrounding pl.split_aiv
    bool manual = false;
    bool autoScope = true;
    int loopDepth = 0;
    std::vector<std::string> loops; // kinds, innermost last
  };

  ModuleState &m;
  mlir::OpBuilder b;
  Symbols symbols;
  Frame *frame = nullptr;
  Context context;
  int nextRoot = 0;
  std::map<int, int> rootParameter; // buffer -> parameter of the function
  std::set<int> writtenRoots;
  std::map<std::string, Span>
      lostWrites; // Out parameter -> where its name was bound to something else
  std::vector<std::string> *yieldTargets = nullptr; // hidden names that pl.yield_ assigns
  std::vector<std::pair<std::string, std::string>> yieldedNames; // name -> hidden name
  std::map<std::string, int> parameterIndex;
  /// Names that one arm of a branch binds while the other does not know them yet: their likely
  /// type.
  std::map<std::string, Val> guesses;
  const Function *top = nullptr;
};

} // namespace pypto::importer
#endif // PYPTO_LIB_IMPORTER_WALKER_H
