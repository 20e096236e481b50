// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops::op_size {

OP(size) {
    .name = "Size",
    .since_version = 25,
    .inputs = {{"data"}},
    .outputs = {{"size"}},
    .infer = [](NodeView& view) -> Result<void> {
      set_output(view, 0, Type(DType::i64, {}));
      if (ranks_known(view, {0})) set_data(view, 0, {view.type(0).count()});
      return {};
    },
    .loop_form = [](const NodeView& view) -> Result<LoopForm> {
      TRY(require_known_ranks(view));
      Loop loop;
      loop.outputs.push_back(full_output(DType::i64, {}, size_expr(view.type(0).count())));
      return single_loop_form(std::move(loop));
    },
    .reference = [](Call& call) -> Result<void> {
      Tensor* out = TRY(call.make(0, {}));
      out->set_integer(0, call.in[0]->count());
      return {};
    },
    .samples = {{"f32[2,3]", "i64[]", "f16[0,4]"}},
};

}  // namespace tenon::ops::op_size
