// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"

namespace tenon::ops::op_eye_like {

OP(eye_like) {
    .name = "EyeLike",
    .since_version = 22,
    .inputs = {{"input"}},
    .attributes = {{"dtype: int", "k: int = 0"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_rank(view, 0, 2));
      TRY(infer_same_type(view));
      if (!view.attributes->has("dtype")) return {};
      const auto dtype = dtype_from_onnx(view.attributes->integer("dtype", 0));
      if (!dtype) return refuse(view, Code::bad_attribute, "'dtype' names no dtype");
      view.outputs[0].dtype = *dtype;
      return {};
    },
    .loop_form = [](const NodeView& view) -> Result<LoopForm> {
      TRY(require_known_ranks(view));
      const Type& result = view.outputs[0];
      Loop loop;
      loop.axes = parallel_axes(*result.shape);
      loop.outputs.push_back(
          full_output(result.dtype, *result.shape, equal(Expr::axis(0) + index_constant(view.attributes->integer("k", 0)), Expr::axis(1))));
      return single_loop_form(std::move(loop));
    },
    .reference = [](Call& call) -> Result<void> {
      Tensor* out = TRY(call.make(0, call.in[0]->shape()));
      const int64_t k = call.view.attributes->integer("k", 0), rows = out->shape()[0], columns = out->shape()[1];
      for (int64_t r = 0; r < rows; ++r) {
        if (r + k >= 0 && r + k < columns) out->set_number(r * columns + r + k, 1);
      }
      return {};
    },
    .first_opset = 9,
    .samples = {{"f32[3,4]", "i64[3,3]; k=1", "f16[2,4]; k=-1, dtype=11", "f32[0,2]; dtype=9"}},
};

}  // namespace tenon::ops::op_eye_like
