//===- FunctionEmitter.h - the C++ of one function ------------------------===//
#ifndef PTOAS_LIB_TARGET_CPP_FUNCTIONEMITTER_H
#define PTOAS_LIB_TARGET_CPP_FUNCTIONEMITTER_H

#include "CppNames.h"
#include "CppWriter.h"
#include "ScaleTiles.h"
#include "VariableNames.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include <map>

namespace ptoas::cpp {

/// What the functions of a module share.
struct ModuleState {
  ModuleState(const Options &options, mlir::pto::Arch arch) : options(options), arch(arch) {}

  const Options &options;
  mlir::pto::Arch arch;
  TypeNames types;
  llvm::DenseMap<mlir::Operation *, std::string> functionNames;
  llvm::StringSet<> takenNames; // of functions
  llvm::DenseSet<mlir::Type> checkedTiles;
  llvm::DenseMap<mlir::Value, llvm::StringRef> scaleTiles;
  /// First hardware flag of each FIFO id.
  std::map<int64_t, int64_t> flagBase;
  // Helpers that the file needs.
  bool bitcast = false, eventIdArray = false, random = false;
};

/// The integer an SSA value stands for, through casts; none when it is a run-time value.
std::optional<int64_t> constantInt(mlir::Value value);

/// A number that is known, or the C++ that computes it.
struct Number {
  std::optional<int64_t> constant;
  std::string text; // of a run-time value, safe as an operand of * and +
  std::string spelled() const { return constant ? std::to_string(*constant) : text; }
};

/// A window of global memory before it is an object: base pointer, offset, extents and strides.
struct View {
  std::string base;
  int64_t offset = 0;                   // elements
  llvm::SmallVector<std::string> terms; // run-time parts of the offset
  llvm::SmallVector<Number> shape, stride;
  mlir::Type element;
  mlir::pto::Layout layout = mlir::pto::Layout::Nd;
};

class FunctionEmitter {
public:
  FunctionEmitter(ModuleState &module, mlir::func::FuncOp func);

  /// Entries are marked, or the only definition of a module.
  void markEntry(bool onlyDefinition) {
    entry_ = !func_.isExternal() && (func_->hasAttr("pto.entry") || func_->hasAttr("hacc.entry") ||
                                     (onlyDefinition && func_.isPublic()));
  }
  /// The definition or declaration, ready to print. On failure everything wrong has been reported.
  mlir::FailureOr<std::string> emit();

private:
  // FunctionEmitter.cpp: the frame of a function, values
  mlir::LogicalResult emitBody();
  mlir::LogicalResult emitSignature(std::string &signature);
  void findNeeded();
  std::string newName(llvm::StringRef wish) { return variables_.take(wish); }
  /// Gives `value` a variable.
  llvm::StringRef define(mlir::Value value);
  /// The C++ of a value: its variable, or a literal.
  std::string expr(mlir::Value value);
  std::string literal(mlir::Attribute attr, mlir::Type type);
  /// Names taken inside are free again behind it, as the braces of C++ have it. In functions with
  /// jumps all variables are declared at the top.
  struct Scope {
    explicit Scope(FunctionEmitter &emitter) : emitter(emitter) {
      if (!emitter.jumps_)
        emitter.variables_.enter();
    }
    ~Scope() {
      if (!emitter.jumps_)
        emitter.variables_.leave();
    }
    FunctionEmitter &emitter;
  };
  /// `type name`, with the star of a pointer at the name.
  static std::string declaration(llvm::StringRef type, llvm::StringRef name);
  /// `const T vN = text;`. In functions with jumps declarations stand at the top.
  mlir::LogicalResult result(mlir::Value value, const llvm::Twine &text);
  /// A variable that is assigned later; `init` may be empty.
  mlir::LogicalResult variable(mlir::Value value, llvm::StringRef init);
  void object(llvm::StringRef type, llvm::StringRef name, llvm::StringRef arguments);
  mlir::LogicalResult assignAll(mlir::Operation *op, llvm::ArrayRef<std::string> targets,
                                mlir::ValueRange values);
  void locationComment(mlir::Operation *op);
  bool inKernel() const { return entry_ || kind_; }

  // EmitControlFlow.cpp
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitRegions(mlir::Region &region);
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult emitIndexSwitch(mlir::scf::IndexSwitchOp op);
  mlir::LogicalResult emitInlineRegion(mlir::Operation *op);
  mlir::LogicalResult emitCall(mlir::func::CallOp op);
  mlir::LogicalResult emitReturn(mlir::func::ReturnOp op);
  mlir::LogicalResult emitSection(mlir::Operation *op, llvm::StringRef macro, bool vector);
  mlir::LogicalResult emitJump(mlir::Operation *op, mlir::Block *target, mlir::ValueRange values);
  mlir::LogicalResult emitBranch(mlir::Operation *op);
  mlir::LogicalResult resultVariables(mlir::Operation *op,
                                      llvm::SmallVectorImpl<std::string> &names);

  // EmitScalars.cpp
  mlir::LogicalResult emitArith(mlir::Operation *op);
  mlir::LogicalResult emitArithPair(mlir::Operation *op);

  // EmitForms.cpp
  std::optional<mlir::LogicalResult> emitForm(mlir::Operation *op);
  mlir::LogicalResult emitTileOp(mlir::pto::TileOpInterface op);
  mlir::LogicalResult emitInstruction(mlir::pto::TileOpInterface op);
  bool holds(mlir::Operation *op, llvm::StringRef condition);
  bool isThere(mlir::Operation *op, llvm::StringRef name);
  llvm::SmallVector<mlir::Value> operandsOf(mlir::Operation *op, llvm::StringRef name);
  mlir::LogicalResult expand(mlir::Operation *op, llvm::StringRef text, std::string &out);
  mlir::LogicalResult emitText(mlir::Operation *op, llvm::StringRef text);
  mlir::LogicalResult emitMergeSort(mlir::Operation *op);
  mlir::LogicalResult checkAttributes(mlir::pto::TileOpInterface op);
  mlir::LogicalResult unifyTypes(mlir::pto::TileOpInterface op);

  // EmitViews.cpp
  mlir::LogicalResult emitViewOp(mlir::Operation *op, bool &known);
  mlir::LogicalResult emitMakeView(mlir::pto::MakeTensorViewOp op);
  mlir::LogicalResult emitPartition(mlir::pto::PartitionViewOp op);
  mlir::LogicalResult emitViewFact(mlir::Operation *op, mlir::Value view, mlir::Value dim,
                                   bool stride);
  mlir::LogicalResult emitGlobal(mlir::Operation *op, mlir::Value value, const View &view);
  mlir::LogicalResult emitTile(mlir::Operation *op, mlir::Value handle, mlir::pto::TileBufType type,
                               llvm::StringRef validRow, llvm::StringRef validCol);
  void warnOfTile(mlir::Operation *op, mlir::pto::TileBufType type);
  /// A tile object; the extents are used where the type leaves them open.
  void declareTile(llvm::StringRef name, llvm::StringRef typeName, mlir::pto::TileBufType type,
                   llvm::StringRef validRow, llvm::StringRef validCol);
  /// Another handle of the bytes of a tile, with this type; its name.
  std::string sameBytesAs(mlir::Value handle, mlir::pto::TileBufType type);
  mlir::LogicalResult emitWindow(mlir::Operation *op, mlir::ValueRange offsets,
                                 mlir::ValueRange valid);
  mlir::LogicalResult emitRetyped(mlir::Operation *op);
  mlir::LogicalResult emitMultiTileGet(mlir::pto::MultiTileGetOp op);
  const View *viewOf(mlir::Value value);
  bool needsObject(mlir::Value view);
  Number number(mlir::Value value);
  /// The C++ type of a value; a window's differs from the one in the module.
  std::optional<std::string> typeName(mlir::Value value);
  std::optional<llvm::StringRef> tileName(mlir::Value handle, mlir::pto::TileBufType type) {
    return module_.types.tile(placed(type), module_.scaleTiles.lookup(handle));
  }
  /// The type with the order that its boxes have on this architecture.
  mlir::pto::TileBufType placed(mlir::pto::TileBufType type);
  mlir::pto::TileBufType cppTile(mlir::Value handle);
  std::pair<std::string, std::string> validOf(mlir::Value handle);
  static std::string pointerOf(const View &view);

  // EmitFifos.cpp: FIFOs, signals, comm
  mlir::LogicalResult emitFifoOp(mlir::Operation *op, bool &known);
  mlir::LogicalResult emitSignal(mlir::Operation *op, bool set);
  mlir::LogicalResult emitInitPipe(mlir::Operation *op);
  struct Pipe {
    std::string name, type;
    std::string epilogue; // FixpipeParams of its pushes, if any
  };
  mlir::LogicalResult emitPipeObject(mlir::Operation *op, Pipe &pipe, int64_t flags,
                                     int64_t direction, bool throughGlobal, int64_t slotSize,
                                     int64_t slots, int64_t localSlots, bool noSplit,
                                     llvm::StringRef memory, llvm::StringRef c2v,
                                     llvm::StringRef v2c);
  mlir::LogicalResult emitTransfer(mlir::Operation *op, llvm::StringRef name, mlir::Value entry,
                                   const Pipe &pipe, int64_t split, llvm::StringRef lane);
  mlir::LogicalResult emitEntry(mlir::Operation *op, mlir::Value entry, mlir::Value validRow,
                                mlir::Value validCol);
  mlir::LogicalResult emitGroupCopy(mlir::Operation *op);
  std::string splitAxis(int64_t split);

  ModuleState &module_;
  mlir::func::FuncOp func_;
  bool entry_ = false;
  std::optional<mlir::pto::KernelKind> kind_;
  bool jumps_ = false; // more than one block: variables are declared at the top
  CppWriter out_{2};
  std::vector<std::string> top_; // declarations, when jumps_
  llvm::DenseMap<mlir::Value, std::string> names_;
  llvm::DenseMap<mlir::Value, View> views_;
  llvm::DenseMap<mlir::Value, mlir::pto::TileBufType> tileTypes_; // windows
  llvm::DenseMap<mlir::Value, std::string> objectTypes_;          // of views
  llvm::DenseMap<mlir::Block *, std::string> labels_;
  llvm::DenseSet<mlir::Operation *> unneeded_;
  std::map<int64_t, Pipe> pipes_;                 // FIFOs by id
  llvm::DenseMap<mlir::Value, Pipe> pipeHandles_; // FIFOs by handle
  std::vector<std::string> resultNames_;          // references that several results are written to
  VariableNames variables_;
  /// Tiles with another handle while their op is written, and the name to go back to.
  llvm::SmallVector<std::pair<mlir::Value, std::string>> renamed_;
  mlir::FileLineColLoc lastPlace_;
  bool hasFfts_ = false;
};

} // namespace ptoas::cpp

#endif // PTOAS_LIB_TARGET_CPP_FUNCTIONEMITTER_H
