// SPDX-License-Identifier: Apache-2.0
#include "ops/form_helpers.h"
#include "ops/reference_helpers.h"

namespace tenon::ops {

namespace {
bool to_left(const NodeView& view) { return view.attributes->text("direction", "") == "LEFT"; }
}  // namespace

OP(bit_shift) {
    .name = "BitShift",
    .since = 28,
    .inputs = {"x", "y"},
    .attributes = {"direction: string!"},
    .infer = [](NodeView& view) -> Result<void> {
      const std::string direction = view.attributes->text("direction", "");
      if (direction != "LEFT" && direction != "RIGHT") return refuse(view, Code::bad_attribute, "direction").expected("LEFT or RIGHT").found(direction);
      return infer_binary(view, is_integer);
    },
    .form = [](const NodeView& view) {
      const ExprOp op = to_left(view) ? ExprOp::shift_left : ExprOp::shift_right;
      return map_form(view, [op](std::span<const Expr> x) { return binary(op, x[0], x[1]); });
    },
    .reference = [](Call& call) {
      const bool left = to_left(call.view);
      return each(call, Binary(), IntBinary([=](int64_t a, int64_t b) {
                    const int64_t most = std::min<int64_t>(b, 63);
                    return !left ? a >> most : b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
                  }),
                  UnsignedBinary([=](uint64_t a, uint64_t b) { return b > 63 ? 0 : left ? a << b : a >> b; }));
    },
    .first = 11,
    .samples = {"u8[4], u8[4] in 0..7; direction=LEFT", "u32[2,3], u32[3] in 0..31; direction=RIGHT", "u64[2], u64[1] in 0..63; direction=LEFT", "u16[0], u16[1]; direction=RIGHT", "i32[4], i32[4] in 0..31; direction=RIGHT", "i8[4], i8[4] in 0..7; direction=LEFT"},
};

}  // namespace tenon::ops
