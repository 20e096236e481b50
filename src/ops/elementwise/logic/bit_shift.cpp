// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_bit_shift {

namespace {

bool shifts_left(const NodeView& view) { return view.attributes->text("direction", "") == "LEFT"; }

/// Shifts by the width or more give -1 for a right shift of a negative x, else 0.
Expr shifted(Expr x, Expr y, bool left, DType dtype) {
  const Expr zero = Expr::integer(dtype, 0), width = Expr::integer(dtype, bits_of(dtype));
  const Expr moved = binary(left ? ExprOp::shift_left : ExprOp::shift_right, x, y);
  if (!is_signed(dtype)) return select(y < width, moved, zero);
  const Expr fill = left ? zero : select(x < zero, Expr::integer(dtype, -1), zero);
  return select(logical_and(zero <= y, y < width), moved, fill);
}

int64_t shifted(int64_t x, int64_t y, bool left, int64_t width) {
  if (y < 0 || y >= width) return !left && x < 0 ? -1 : 0;
  return left ? static_cast<int64_t>(static_cast<uint64_t>(x) << y) : x >> y;
}

}  // namespace

OP(bit_shift) {
    .name = "BitShift",
    .since_version = 28,
    .inputs = {{"x", "y"}},
    .attributes = {{"direction: string!"}},
    .infer = [](NodeView& view) -> Result<void> {
      const std::string direction = view.attributes->text("direction", "");
      if (direction != "LEFT" && direction != "RIGHT")
        return refuse(view, Code::bad_attribute, "direction").expected("LEFT or RIGHT").found(direction);
      return infer_binary(view, is_integer);
    },
    .loop_form =
        [](const NodeView& view) {
          const bool left = shifts_left(view);
          const DType dtype = dtype_of(view, 0);
          return map_form(view, [=](std::span<const Expr> x) { return shifted(x[0], x[1], left, dtype); });
        },
    .reference =
        [](Call& call) {
          const bool left = shifts_left(call.view);
          const int64_t width = bits_of(call.in[0]->dtype());
          return map_elements(call, FloatBinary(), IntBinary([=](int64_t a, int64_t b) { return shifted(a, b, left, width); }),
                              UnsignedBinary([=](uint64_t a, uint64_t b) { return b > 63 ? 0
                                                                                  : left ? a << b
                                                                                         : a >> b; }));
        },
    .first_opset = 11,
    .samples = {{"u8[4], u8[4] in 0..7; direction=LEFT", "u32[2,3], u32[3] in 0..31; direction=RIGHT",
                 "u64[2], u64[1] in 0..63; direction=LEFT", "u16[0], u16[1]; direction=RIGHT", "i32[4], i32[4] in 0..31; direction=RIGHT",
                 "i8[4], i8[4] in 0..7; direction=LEFT", "i16[4], i16[4] = [-1, 16, 20, 3]; direction=RIGHT",
                 "i32[2], i32[2] = [-1, 32]; direction=LEFT"}},
};

}  // namespace tenon::ops::op_bit_shift
