//===- PtoEmitter.h - state of the lowering to the pto dialect ------------===//
//
// LowerToPTO.cpp: signature, buffers, control flow.
// EmitMemory.cpp: global memory (BlockedLayout.cpp: in NZ blocks).
// EmitTileOps.cpp: instructions (EmitLogic.cpp: bitwise ones on narrower elements; EmitScales.cpp:
// products of block-scaled floats).
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_TRANSFORMS_PTOEMITTER_H
#define PYPTO_LIB_TRANSFORMS_PTOEMITTER_H

#include "TileStorage.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "pypto/Dialect/PyPTO/IR/OpTable.h"
#include "pypto/Transforms/Passes.h"
#include <map>

namespace pypto {

/// Parameters of a kernel after lowering, in order.
struct KernelSignature {
  struct Hidden {
    enum Kind { Dim, BlockIdx, BlockNum, SubblockIdx, Stride } kind;
    unsigned tensor = 0,
             axis =
                 0; // Dim, Stride: where its value is found (tensor = position among the tensors)
  };
  llvm::SmallVector<unsigned> tensors, scalars; // positions in the function before lowering
  llvm::SmallVector<Hidden> hidden;
};

class PtoEmitter {
public:
  PtoEmitter(mlir::func::FuncOp kernel, const PtoOptions &options)
      : old(kernel), options(options), storage(kernel, options.reuseOperands),
        b(kernel.getContext()), loc(kernel.getLoc()) {}

  /// Builds the pto function in front of the old one; null on error. The old one can be erased
  /// then.
  mlir::func::FuncOp run();
  const KernelSignature &signature() const { return params; }

private:
  using Value = mlir::Value;
  using Operation = mlir::Operation;
  template <typename T> using Ref = llvm::ArrayRef<T>;

  /// A tile as instructions use it: a handle whose type or operands carry the valid extents.
  struct Tile {
    Value handle, rows, cols;
  };
  /// A parameter in global memory.
  struct Memory {
    Value pointer;
    llvm::SmallVector<Value> dims, strides;
    Value view; // made on first use
    bool columnMajor = false;
    bool blocked = false;                                            // NZ, MX (BlockedLayout.cpp)
    bool isColumn() const { return columnMajor && dims.size() > 2; } // [.., M, 1], packed
  };
  /// A window of a parameter: offsets per axis, and the axes that the value still has.
  struct Window {
    unsigned argument = 0;
    llvm::SmallVector<Value> offsets;
    llvm::SmallVector<unsigned> axes;
  };

  // Structure (LowerToPTO.cpp).
  void buildSignature();
  void setKernelKind();
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emit(Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  bool emitScalar(Operation *op);
  Value castScalar(Value value, mlir::Type from, mlir::Type to);

  // Global memory (EmitMemory.cpp, BlockedLayout.cpp).
  mlir::LogicalResult emitLoad(LoadOp op);
  mlir::LogicalResult emitStore(StoreOp op);
  mlir::LogicalResult emitElement(Operation *op);
  Window windowOf(Value tensor);
  Memory &memoryOf(unsigned argument) { return memories[argument]; }
  Value viewOf(unsigned argument);
  /// The window as a pto view; null after an error.
  Value partition(const Window &window, Ref<Value> sizes);
  Value flatOffset(const Window &window, Ref<Value> indices);
  Value blockedView(unsigned argument);
  Value blockedPartition(const Window &window, Ref<Value> sizes);
  Value blockedOffset(const Memory &memory, TensorType type, Ref<Value> at);

  // Carried values: scalars stay results, tiles live in buffers, open valid extents travel as
  // scalars.
  struct Carried {
    llvm::SmallVector<Value> values;
  };
  static bool isBuffer(mlir::Type type) { return mlir::isa<TileType, ArrayType>(type); }
  void addCarried(Value value, mlir::Type as, llvm::SmallVectorImpl<Value> &out);
  void carriedTypes(mlir::Type type, llvm::SmallVectorImpl<mlir::Type> &out);
  /// Binds `old` to the values behind `next`, which it advances.
  void bindCarried(Value old, mlir::ValueRange values, unsigned &next, Value arraySource);
  /// Copies sources into the buffers of targets where they differ, as if all at once.
  void transfer(mlir::ValueRange sources, mlir::ValueRange targets);

  /// An element type as the pto dialect has it.
  static mlir::Type ptoElement(mlir::Type element);

  // Buffers.
  mlir::pto::TileBufType bufferType(TileType type, int64_t rows, int64_t cols);
  /// The extents that memory has for a tile. Those of a `flat` one are what they are: something
  /// counts its elements through.
  TileType physical(TileType type, bool flat) const;
  void findTileForms();
  /// `physical` of the tiles in a buffer.
  TileType formOf(TileType type, unsigned buffer) const;
  Value allocate(TileType physicalType, Value rows, Value cols);
  Value sharedHandle(unsigned buffer);
  Tile &define(Value result, Value rows, Value cols);
  Value narrowed(Value handle, Value rows, Value cols);
  Tile tile(Value value) { return tiles.lookup(value); }

  // Instructions (EmitTileOps.cpp).
  mlir::LogicalResult emitTileOp(Operation *op, const OpRow *row);
  mlir::LogicalResult emitView(Operation *op);
  /// The tile's handle; a window with gaps between its rows is copied first.
  Value withoutGaps(Value value);
  mlir::LogicalResult emitProduct(Operation *op, const OpRow *row);
  /// The buffer of `result` with the accumulator's contents.
  Tile accumulateInto(Value accumulator, Value result);
  // Block-scaled products (EmitScales.cpp).
  mlir::LogicalResult emitScaledProduct(MatmulMxOp op);
  void findScale(Value scale, Value handle);
  mlir::LogicalResult emitAssemble(AssembleOp op);
  /// and, or, xor of 32-bit elements in the text form for A2/A3, which has them on 8 and 16 bits
  /// (EmitLogic.cpp).
  bool needsHalves(llvm::StringRef mnemonic, mlir::Type element) const;
  mlir::LogicalResult emitInHalves(Operation *op, llvm::StringRef mnemonic);
  Value asHalves(Value handle, Value rows, Value cols);
  mlir::LogicalResult emitSystem(Operation *op);
  Operation *instruction(llvm::StringRef mnemonic, mlir::ValueRange operands,
                         Ref<mlir::NamedAttribute> attrs = {}, Ref<int32_t> segments = {});
  void copy(Tile from, Value to);
  void copyInto(Value source,
                Value result); // contents of `source` into the buffer of `result` unless shared
  Value scalarFor(Value value, mlir::Type element);
  Value constantElement(mlir::Attribute value, mlir::Type element);
  Value smaller(Value a, Value c);

  Value index(int64_t value);
  Value mapped(Value value) { return scalars.lookup(value); }
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value) {
    return b.getNamedAttr(name, value);
  }

  mlir::func::FuncOp old, made;
  PtoOptions options;
  TileStorage storage;
  mlir::OpBuilder b;
  mlir::Location loc;
  KernelSignature params;
  mlir::Block *entry = nullptr;
  mlir::LogicalResult complete = mlir::success();
  bool columnsAsRows = false;   // text form: pointwise instructions take columns as rows
  Operation *headEnd = nullptr; // constants and views go before, shared buffers behind
  mlir::IRMapping scalars;
  llvm::DenseMap<Value, Tile> tiles;
  llvm::DenseMap<Value, Value> arrays;
  llvm::DenseMap<unsigned, Value> shared;
  llvm::DenseSet<unsigned> flatBuffers;          // read as other shapes or by position in the tile
  llvm::DenseMap<unsigned, int64_t> maskColumns; // of masks as wide as what is compared
  llvm::DenseMap<int64_t, int64_t> boxRows;      // rows of tiles that go to mat -> a box of theirs
  llvm::DenseMap<int64_t, int64_t> leastBytes; // columns -> of the narrowest element of such tiles
  std::map<int64_t, Value> constants;          // every number may occur, DenseMap reserves two
  llvm::DenseMap<unsigned, Memory> memories;
  llvm::DenseMap<int, Value> specials; // Hidden::Kind -> argument
};

/// The same entry as C++ text, for the text form; "" where an element type has no C++ name.
std::string kernelWrapper(mlir::func::FuncOp kernel, const KernelSignature &signature);

/// The C entry of a kernel: unpacks `int64_t *args` (spec simpler 4.1) and calls it.
void emitKernelEntry(mlir::func::FuncOp kernel, const KernelSignature &signature,
                     mlir::func::FuncOp before);

/// Scalar conversion with the signedness that the types say; floats truncate towards zero. Unsigned
/// types are represented by signless ones of their width.
mlir::Value convertScalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type from, mlir::Type to);
mlir::Type signless(mlir::Type type);
/// Floor division and modulo on signless integers.
mlir::Value floorDivide(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lhs, mlir::Value rhs,
                        bool remainder);

} // namespace pypto

#endif // PYPTO_LIB_TRANSFORMS_PTOEMITTER_H
