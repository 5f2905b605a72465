//===- LowerTrigonometry.cpp - sine and cosine as tile arithmetic ---------===//
//
// The vector unit has no trigonometric instruction. x is reduced by n * pi in four parts (Cody and
// Waite), each of them exact in f32 products with |n| < 2^13, and the rest goes through an odd
// polynomial of degree 9 (minimax on [-pi/2, pi/2]); the parity of n gives the sign.
//
//===----------------------------------------------------------------------===//
#include "TensorToTile.h"
#include "TileShape.h"

using namespace mlir;

namespace pypto {

LogicalResult TensorToTile::lowerSineCosine(Operation *op, bool cosine) {
  Value x = tile(op->getOperand(0));
  TileType type = flatTileType(op->getResult(0).getType());
  if (!type.getElementType().isF32())
    return op->emitError() << (cosine ? "cos" : "sin") << " takes FP32";
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(value)));
  };
  auto binary = [&](StringRef name, Value a, Value c) { return make(name, type, {a, c}); };
  auto ints = TileType::get(type.getShape(), b.getI32Type(), MemorySpace::None, type.getValid());
  auto nearest = [&](Value v) {
    Value i = make("cast", ints, v, attr("mode", b.getStringAttr("rint")));
    return make("cast", type, i, attr("mode", b.getStringAttr("rint")));
  };
  // sin(x): n = round(x / pi). cos(x) = sin(x + pi/2): n = round(x / pi - 1/2) + 1/2 half turns.
  Value turns = binary("mul", x, number(0.318309886183790671));
  Value n = cosine ? nearest(binary("sub", turns, number(0.5))) : nearest(turns);
  Value shift = cosine ? binary("add", n, number(0.5)) : n;
  Value r = x;
  for (double part :
       {3.140625, 9.67502593994140625e-4, 1.509957990978376432e-7, 5.1266879180999225e-15})
    r = binary("sub", r, binary("mul", shift, number(part)));
  Value square = binary("mul", r, r);
  Value sum = binary("mul", square, number(2.6083159809786593541503e-6));
  sum = binary("add", sum, number(-1.981069071916863322258e-4));
  sum = binary("add", binary("mul", sum, square), number(8.33307858556509017944336e-3));
  sum = binary("add", binary("mul", sum, square), number(-0.166666597127914428710938));
  Value sine = binary("add", r, binary("mul", binary("mul", r, square), sum));
  // (-1)^n = 1 - 2 (n - 2 floor(n / 2)); for cosine n counts from -1/2, which turns the sign.
  Value half = binary("mul", n, number(0.5));
  Value whole = make("cast", ints, half, attr("mode", b.getStringAttr("floor")));
  whole = make("cast", type, whole, attr("mode", b.getStringAttr("rint")));
  Value odd = binary("sub", n, binary("mul", whole, number(2)));
  Value sign =
      binary("add", binary("mul", odd, number(cosine ? 2.0 : -2.0)), number(cosine ? -1.0 : 1.0));
  map.map(op->getResult(0), binary("mul", sine, sign));
  return success();
}

} // namespace pypto
