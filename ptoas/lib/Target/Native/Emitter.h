//===- Emitter.h - one function of the pto dialect to LLVM IR -------------===//
//
// ModuleEmitter makes the LLVM module; FunctionEmitter walks one function in
// program order. Scalar code is emitted as it is met; regular tile ops wait in a
// RowGroup until something ends it, and then become one loop nest.
//
// Files: Emitter.cpp (functions, storage, groups), ControlFlow.cpp (scf, calls),
// ScalarOps.cpp (arith and scalar pto ops), LlvmOps.cpp (llvm dialect subset),
// TileOps.cpp (ops that become NestOps), Matrix.cpp (cube side), Irregular.cpp
// (ops that call compiled functions), NestEmitter.cpp (groups to loops).
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_TARGET_NATIVE_EMITTER_H
#define PTOAS_LIB_TARGET_NATIVE_EMITTER_H

#include "RowGroup.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "ptoas/Dialect/PTO/IR/PlaceText.h"
#include "ptoas/Target/Native/Native.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include <deque>
#include <map>

namespace ptoas::native {

/// What stands where a tile of this type has no data.
llvm::Constant *padConstant(const VecBuilder &vb, Elem elem, mlir::pto::PadValue pad);

/// How reports call the extents of a tile.
inline constexpr llvm::StringLiteral validRowsText = "the number of valid rows of a tile";
inline constexpr llvm::StringLiteral validColsText = "the number of valid columns of a tile";

/// Which part of the emitter an op goes to (NativeOps.def).
enum class Handler { Regular, Matrix, Irregular, Views, Scalar, Comm, Lowered };

class ModuleEmitter {
public:
  ModuleEmitter(llvm::Module &module, const Options &options) : module(module), options(options) {}
  mlir::LogicalResult emit(mlir::ModuleOp source);

  /// LLVM type of a scalar, pointer or array; null for others.
  llvm::Type *typeOf(mlir::Type type);
  /// A function of the light runtime library (pto_kernels) or libm.
  llvm::FunctionCallee runtime(llvm::StringRef name, llvm::Type *result,
                               llvm::ArrayRef<llvm::Type *> params);
  llvm::Function *declare(mlir::func::FuncOp func);
  bool avx512() const { return options.target.isa != Isa::AVX2; }

  llvm::Module &module;
  const Options &options;
  /// Numbers given out, and texts, for the order of queues (Order.cpp).
  unsigned orderFunctions = 0, orderTiles = 0, orderAccesses = 0, orderSites = 0;
  llvm::StringMap<llvm::Constant *> orderTexts;

private:
  mlir::LogicalResult emitGlobals(mlir::ModuleOp source);
};

class FunctionEmitter {
public:
  FunctionEmitter(ModuleEmitter &owner, mlir::func::FuncOp source, llvm::Function *function);
  mlir::LogicalResult emit();

  // ---- values --------------------------------------------------------------
  llvm::Value *value(mlir::Value v) { return values.lookup(v); }
  llvm::Value *index(int64_t v) { return b.getInt64(v); }
  /// Any integer or index value as i64 (sign-extended).
  llvm::Value *asIndex(mlir::Value v);
  llvm::Type *typeOf(mlir::Type type) { return owner.typeOf(type); }
  llvm::CallInst *callRuntime(llvm::StringRef name, llvm::ArrayRef<llvm::Value *> args,
                              llvm::Type *result = nullptr);
  llvm::AllocaInst *stackSlot(llvm::Type *type, const llvm::Twine &name = "");

  // ---- storage -------------------------------------------------------------
  /// Where instructions find the tile: its bytes, or the copy of those in boxes.
  llvm::Value *tilePointer(const TileInfo &tile);
  llvm::Value *addressOf(const TileInfo &tile);
  llvm::Value *validRows(const TileInfo &tile) { return validExtent(tile, 0); }
  llvm::Value *validCols(const TileInfo &tile) { return validExtent(tile, 1); }
  /// Storage of this function that no handle names, 64-byte aligned.
  llvm::Value *privateStorage(int64_t bytes);
  llvm::Value *elementPointer(llvm::Value *base, llvm::Value *elements, unsigned bytes);

  // ---- groups --------------------------------------------------------------
  void flush();
  void addNest(std::unique_ptr<NestOp> op);
  void keepInputs(NestOp &op);
  void keepInMemory(const TileInfo &tile);
  mlir::Value pointerRoot(mlir::Value pointer);
  Access tileAccess(mlir::Value handle, Spread spread = Spread::Full);
  Access maskAccess(mlir::Value handle);
  /// A view as rows x cols; fails when it has no such form (then it is copied by dimensions).
  mlir::FailureOr<Access> viewAccess(const GmView &view, llvm::Value *&rows, llvm::Value *&cols);
  /// Signed minimum and maximum, folded where both are constants.
  llvm::Value *smaller(llvm::Value *a, llvm::Value *b);
  llvm::Value *larger(llvm::Value *a, llvm::Value *b);

  ModuleEmitter &owner;
  mlir::func::FuncOp source;
  llvm::Function *function;
  llvm::IRBuilder<> b;

  friend class NestEmitter;

private:
  using Result = mlir::LogicalResult;
  struct RootStorage {
    llvm::Instruction *pointer = nullptr; // GEP on the frame, offset patched at the end
    int64_t bytes = 0;
    mlir::Block *home = nullptr;    // block of the allocation
    unsigned first = ~0u, last = 0; // lifetime in op numbers, for reuse
  };
  /// A left/right/mat tile that is read where its data came from.
  struct TileView {
    llvm::Value *base, *rowStride, *colStride;
    const TileInfo *tile = nullptr; // where the data lies; null: global memory
    mlir::Value gmRoot;
  };

  llvm::Value *validExtent(const TileInfo &tile, unsigned axis);
  void resetKnownExtents(mlir::Region &region);
  void numberOps();
  /// The root's bytes are in use during `op` (in its home block: during the op around it).
  void extendLife(RootStorage &root, mlir::Operation *op);
  void layOutFrame();
  llvm::Value *rootPointer(unsigned root);

  Result emitBlock(mlir::Block &block, bool skipTerminator);
  Result emitOp(mlir::Operation &op);
  Result emitByHandler(mlir::Operation &op, Handler handler);
  // Checks.cpp
  void leaveIf(llvm::Value *wrong, llvm::function_ref<void()> report);
  Result requireWithin(mlir::Operation &op, llvm::Value *number, llvm::Value *high,
                       const llvm::Twine &subject);
  Result requireWithin(mlir::Operation &op, mlir::Value number, int64_t high,
                       const llvm::Twine &subject);
  bool isWithin(llvm::Value *number, int64_t high);
  Result checkRanges(mlir::Operation &op);
  void checkExtents(NestOp &op);
  Result checkTileRanges(mlir::Operation &op, mlir::Value handle);
  Result checkViewRanges(mlir::Operation &op, mlir::Value view);
  void checkWindows(mlir::Operation &op);
  void checkWindow(mlir::Operation &op, mlir::pto::PartitionViewOp part);
  void checkAddress(mlir::Operation &op);
  llvm::SmallVector<llvm::Value *, 2> movedExtents(mlir::Operation &op, mlir::Value view);
  static std::string nameOfTensor(mlir::Value view, mlir::func::FuncOp function);
  // Order.cpp
  struct ByteRuns {
    llvm::Value *start, *count, *pitch, *run; // as in OrderAccess
  };
  struct OrderOperands;
  void tellOf(mlir::Operation &op);
  void tellOfInstruction(mlir::Operation &op, mlir::pto::PIPE pipe);
  void tellOfOrder(mlir::Operation &op);
  llvm::Value *orderCheck();
  llvm::Value *startOf(mlir::Value handle);
  ByteRuns bytesOfTile(mlir::Value handle, bool whole);
  ByteRuns windowOfNz(mlir::Value handle, llvm::Value *row, llvm::Value *col, llvm::Value *rows,
                      llvm::Value *cols);
  std::optional<ByteRuns> windowOfMove(mlir::Operation &op, mlir::Value handle);
  void addTileAccess(OrderOperands &all, mlir::Value tile, const ByteRuns &bytes, unsigned flags);
  void addGlobalAccess(OrderOperands &all, mlir::Value handle, llvm::ArrayRef<llvm::Value *> most,
                       unsigned flags);
  void addAccess(OrderOperands &all, const llvm::Twine &name, llvm::StringRef space, int64_t key,
                 const int64_t (&bytes)[4], unsigned flags, unsigned tile, unsigned first);
  llvm::Constant *text(llvm::StringRef text);
  // Boxes.cpp
  Result emitInBoxes(mlir::Operation &op, llvm::function_ref<Result()> emit);
  void copyBoxes(const TileInfo &home, bool back);
  void placeInCopy(mlir::Operation &op);
  // Comm.cpp
  mlir::FailureOr<bool> emitComm(mlir::Operation &op);
  llvm::Value *describeAnyView(mlir::Value handle);
  // ControlFlow.cpp
  Result emitFor(mlir::scf::ForOp op);
  Result emitIf(mlir::scf::IfOp op);
  Result emitWhile(mlir::scf::WhileOp op);
  Result emitCall(mlir::func::CallOp op);
  Result emitReturn(mlir::func::ReturnOp op);
  // ScalarOps.cpp
  mlir::FailureOr<bool> emitArith(mlir::Operation &op);
  mlir::FailureOr<bool> emitScalarPto(mlir::Operation &op);
  llvm::Value *guardedDivide(mlir::Operation &op, bool sign, bool remainder);
  llvm::Value *floorDivide(llvm::Value *x, llvm::Value *y);
  llvm::Value *ceilDivide(llvm::Value *x, llvm::Value *y);
  llvm::Value *divide(llvm::Value *x, llvm::Value *y, bool sign, bool remainder);
  llvm::Value *arrayElement(mlir::Operation &op, mlir::Value array, mlir::ValueRange indices);
  mlir::FailureOr<bool> emitThreads(mlir::pto::SectionSimtOp section);
  llvm::Value *announced(int which);
  llvm::Value *place();
  llvm::Constant *constantOfAttr(mlir::Attribute attr, mlir::Type type);
  // LlvmOps.cpp
  mlir::FailureOr<bool> emitLlvm(mlir::Operation &op);
  // Views.cpp
  mlir::FailureOr<bool> emitViews(mlir::Operation &op);
  Result emitLoad(mlir::pto::TileOpInterface op);
  Result emitStore(mlir::pto::TileOpInterface op);
  /// Elements of a tile, or of a copy of it, as rows and columns.
  struct Picture {
    llvm::Value *base, *rowStride, *colStride;
    Elem elem;
    int64_t capacity; // elements
  };
  enum class Transfer { Load, Store, Add };
  Picture pictureOf(const TileInfo &tile);
  Result copyByDimensions(mlir::Operation *op, const GmView &view, const Picture &tile,
                          Transfer way);
  void padBehind(mlir::pto::TileOpInterface load, llvm::Value *rows, llvm::Value *cols);
  // TileOps.cpp
  mlir::FailureOr<bool> emitRegular(mlir::pto::TileOpInterface op);
  mlir::FailureOr<bool> emitReduction(mlir::pto::TileOpInterface op);
  mlir::FailureOr<bool> emitGenerated(mlir::pto::TileOpInterface op);
  std::unique_ptr<NestOp> newNest(mlir::Operation *op, mlir::Value out);
  llvm::Value *scalarAs(mlir::Value scalar, Elem elem);
  // Moves.cpp
  mlir::FailureOr<bool> emitMove(mlir::pto::TileOpInterface op);
  Access windowAccess(mlir::Value tile, mlir::Value row, mlir::Value col);
  Access windowAccess(mlir::Value tile, llvm::Value *row, llvm::Value *col);
  void convertOnTheWay(mlir::pto::TileOpInterface op, NestOp &nest);
  // Matrix.cpp
  mlir::FailureOr<bool> emitMatrix(mlir::pto::TileOpInterface op);
  bool tryView(mlir::pto::TileOpInterface op);
  bool readsOnlyValid(mlir::Value handle);
  bool canReadInPlace(mlir::Operation *write, mlir::Value handle, const TileInfo *source);
  std::optional<TileView> viewOf(mlir::Value handle);
  TileView readTile(mlir::Value handle);
  // SmallFloats.cpp
  mlir::FailureOr<bool> emitSmallFloats(mlir::pto::TileOpInterface op);
  mlir::FailureOr<bool> emitPacked(mlir::pto::TileOpInterface op);
  mlir::FailureOr<bool> exitInto(mlir::pto::TileOpInterface op);
  mlir::FailureOr<bool> emitQuantMx(mlir::pto::TileOpInterface op);
  // Irregular.cpp
  mlir::FailureOr<bool> emitIrregular(mlir::pto::TileOpInterface op);
  llvm::Value *describe(mlir::Value handle);
  llvm::Value *describeView(const GmView &view);

  TileModel model;
  RowGroup group;
  llvm::DenseMap<mlir::Value, llvm::Value *> values;
  llvm::DenseMap<mlir::Value, GmView> views;
  llvm::DenseMap<mlir::Value, llvm::Value *> dynamicStarts;
  struct Extents {
    llvm::AllocaInst *slot[2] = {};
    llvm::Value *known[2] = {};
  };
  llvm::DenseMap<mlir::Value, Extents> extents; // resized handles
  llvm::DenseMap<mlir::Value, TileView> tileViews;
  llvm::SmallVector<mlir::Value, 16> madeViews; // handles, by the blocks that we are in
  /// What numbers are known to be at most (and not negative), from some op of a block on.
  llvm::DenseMap<std::pair<llvm::Value *, mlir::Block *>, int64_t> limits;
  bool isRefused = false; // the current op, by something that cannot say so itself
  llvm::BasicBlock *faultExit = nullptr;
  /// Of tiles in boxes: the copy that the current instruction works on, by home, and where in it
  /// the parts of the tile begin.
  llvm::DenseMap<mlir::Value, llvm::Value *> boxCopies, boxOffsets;
  std::deque<TileInfo> windows; // parts of tiles that single ops name
  std::vector<RootStorage> rootStorage;
  std::map<std::pair<unsigned, int64_t>, llvm::Value *> pointers;
  /// Numbers of an op and of the last op inside it.
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> opNumbers;
  mlir::Operation *current = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Value> pointerRoots;
  llvm::BasicBlock *entry = nullptr;
  llvm::Value *announcedIds[4] = {}, *placeOfFunction = nullptr, *orderOfFunction = nullptr;
  llvm::DenseMap<mlir::Value, unsigned> orderTiles; // of allocations
  llvm::Instruction *frame = nullptr;               // placeholder
  llvm::SmallVector<llvm::ReturnInst *, 2> returns;
};

using mlir::pto::placeOf;

/// Emits the loops of a group at the current position of the function.
void emitGroup(FunctionEmitter &function, RowGroup &group);

} // namespace ptoas::native
#endif
