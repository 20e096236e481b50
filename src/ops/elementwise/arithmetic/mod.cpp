// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops::op_mod {

OP(mod) {
    .name = "Mod",
    .since_version = 28,
    .inputs = {{"a", "b"}},
    .attributes = {{"fmod: int = 0"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_binary(view));
      if (view.attributes->integer("fmod", 0) == 0 && !is_float(view.outputs[0].dtype)) {  // of floats a zero keeps the dividend's sign
        propagate_data(view, [](Dim a, Dim b) { return b.lower() > 0 ? std::optional(mod(a, b)) : std::nullopt; });
      }
      return {};
    },
    .loop_form =
        [](const NodeView& view) {
          const ExprOp op = view.attributes->integer("fmod", 0) != 0 ? ExprOp::rem : ExprOp::mod;
          return map_form(view, [op](std::span<const Expr> x) { return binary(op, x[0], x[1]); });
        },
    .reference =
        [](Call& call) {
          const bool c_style = call.view.attributes->integer("fmod", 0) != 0;
          return map_elements(call, FloatBinary([=](double a, double b) {
                                const double r = std::fmod(a, b);
                                return !c_style && r != 0 && (r < 0) != (b < 0) ? r + b : r;
                              }),
                              IntBinary([=](int64_t a, int64_t b) {
                                if (b == 0 || b == -1) return int64_t{0};
                                return c_style ? a % b : floor_mod(a, b);
                              }),
                              UnsignedBinary([](uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }));
        },
    .lowest_opset =
        [](const NodeView& view) {  // of floats, ONNX has C's remainder alone
          return is_float(dtype_of(view, 0)) && view.attributes->integer("fmod", 0) == 0 ? kNeverExported : 10;
        },
    .first_opset = 10,
    .samples = {{"i64[6] = [-7, 7, -7, 7, 5, 0], i64[6] = [3, 3, -3, -3, 1, 3]", "i64[4] = [-7, 7, -7, 7], i64[4] = [3, 3, -3, -3]; fmod=1",
                 "f32[2,3], f32[3] in 0.5..2; fmod=1", "f16[4], f16[1] in 0.5..2; fmod=1", "u8[3], u8[3] in 1..5",
                 "u64[1] = 18446744073709551615, u64[1] = 10", "f64[0], f64[1]; fmod=1"}},
};

}  // namespace tenon::ops::op_mod
