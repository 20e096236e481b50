// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_reverse_sequence {

OP(reverse_sequence) {
    .name = "ReverseSequence",
    .since_version = 28,
    .inputs = {{"input", "sequence_lens"}},
    .attributes = {{"batch_axis: int = 1", "time_axis: int = 0"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_rank(view, 0, 2, -1));
      TRY(require_rank(view, 1, 1));
      if (ranks_known(view, {0, 1})) {
        const int batch = TRY(normalise_axis(view, view.attributes->integer("batch_axis", 1), view.rank(0)));
        TRY(require_equal(view, view.type(1).dim(0), view.type(0).dim(batch), "numbers of lengths and of batches"));
      }
      if (const auto lengths = known_ints(view, 1); lengths && ranks_known(view, {0})) {
        const int time = TRY(normalise_axis(view, view.attributes->integer("time_axis", 0), view.rank(0)));
        for (int64_t n : *lengths) {
          if (n < 0) return refuse(view, Code::index_out_of_range, "a length is negative").found(std::to_string(n));
          TRY(require_at_least(view, view.type(0).dim(time), n, "a length is larger than the time axis"));
        }
      }
      return infer_same_type(view);
    },
    .loop_form = [](const NodeView& view) -> Result<LoopForm> {
      TRY(require_known_ranks(view));
      const Type& result = view.outputs[0];
      const int batch = TRY(normalise_axis(view, view.attributes->integer("batch_axis", 1), view.rank(0)));
      const int time = TRY(normalise_axis(view, view.attributes->integer("time_axis", 0), view.rank(0)));
      Loop loop;
      loop.axes = parallel_axes(*result.shape);
      const Expr given = cast(load(loop, operand_access(view, 1, {Expr::axis(batch)})), DType::i64), at = Expr::axis(time);
      loop.index_checks.push_back({.access = 0, .extent = result.dim(time) + 1});
      const Expr length = min(given, size_expr(result.dim(time)));  // whatever the data say, nothing is read after the end
      std::vector<Expr> index = axis_indices(view.rank(0));
      index[static_cast<size_t>(time)] = select(at < length, length - index_constant(1) - at, at);
      const Expr value = load(loop, operand_access(view, 0, std::move(index)));
      loop.outputs.push_back(full_output(result.dtype, *result.shape, value));
      return single_loop_form(std::move(loop));
    },
    .reference = [](Call& call) -> Result<void> {
      const Tensor& x = *call.in[0];
      const size_t batch = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("batch_axis", 1), x.rank())));
      const size_t time = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("time_axis", 0), x.rank())));
      const Ints lengths = ints_of(call, 1);
      if (static_cast<int64_t>(lengths.size()) != x.shape()[batch])
        return refuse(call.view, Code::shape_mismatch, "one length a batch is needed");
      for (int64_t n : lengths) {
        if (n < 0 || n > x.shape()[time])
          return refuse(call.view, Code::index_out_of_range, "a length is larger than the time axis").found(std::to_string(n));
      }
      const Sizes strides = strides_of(x.shape());
      return gather_elements(call, x, x.shape(), [&](const Sizes& at) {
        Sizes from = at;
        const int64_t n = lengths[static_cast<size_t>(at[batch])];
        if (at[time] < n) from[time] = n - 1 - at[time];
        return offset_of(from, strides);
      });
    },
    .first_opset = 10,
    .samples = {{"f32[4,3], i64[3] = [4, 2, 1]", "f32[3,4,2], i64[3] = [0, 2, 4]; batch_axis=0, time_axis=1", "i64[4,2], i64[2] = [3, 1]"}},
};

}  // namespace tenon::ops::op_reverse_sequence
