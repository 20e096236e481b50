// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_tile {

namespace {

/// Before opset 6 the operands were the number of tiles and the one axis.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 6) return {};
  const ir::NodeView view = graph.view(node);
  const auto axis = known_number(view, 2);
  if (!view.type(0).has_rank() || !axis)
    return refuse(view, Code::not_supported, "not supported yet: opset below 6 with an axis or a rank that is not known");
  const int at = TRY(normalise_axis(view, static_cast<int64_t>(*axis), view.rank(0)));
  ir::Builder build(graph, node);
  const ir::ValueId often = build("Cast", {graph.node(node).inputs[1]}, {{"to", static_cast<int64_t>(DType::i64)}});
  const ir::ValueId repeats = build("Concat",
                                    {build.ints(Ints(static_cast<size_t>(at), 1)), build("Reshape", {often, build.ints({1})}),
                                     build.ints(Ints(static_cast<size_t>(view.rank(0) - at - 1), 1))},
                                    {{"axis", int64_t{0}}});
  TRY(build.status());
  graph.set_operand(node, 1, repeats);
  graph.set_operand(node, 2, {});
  return {};
}

}  // namespace

OP(tile) {
    .name = "Tile",
    .since_version = 13,
    .inputs = {{"input", "repeats"}},
    .infer = [](NodeView& view) -> Result<void> {
      Type type(dtype_of(view, 0));
      if (ranks_known(view, {0})) {
        const auto repeats = known_elements(view, 1);
        DimList shape;
        if (repeats && static_cast<int>(repeats->size()) != view.rank(0))
          return refuse(view, Code::shape_mismatch, "repeats has a wrong length");
        for (size_t a = 0; repeats && a < repeats->size(); ++a)
          if ((*repeats)[a].upper() < 0) return refuse(view, Code::shape_mismatch, "a repeat is negative").found((*repeats)[a].text());
        for (int a = 0; a < view.rank(0); ++a)
          shape.push_back(repeats ? view.type(0).dim(a) * (*repeats)[static_cast<size_t>(a)] : view.symbols->fresh());
        type.shape = std::move(shape);
      }
      set_output(view, 0, std::move(type));
      return {};
    },
    .loop_form = [](const NodeView& view) -> Result<LoopForm> {
      TRY(require_known_ranks(view));
      std::vector<Expr> index;
      for (int a = 0; a < view.rank(0); ++a) {
        const Dim size = view.type(0).dim(a);
        const Expr at = Expr::axis(a);
        if (size == Dim(1)) index.push_back(index_constant(0));
        else index.push_back(size.known_equal(view.outputs[0].dim(a)) ? at : binary(ExprOp::mod, at, size_expr(size)));
      }
      return index_form(view, 0, std::move(index));
    },
    .reference = [](Call& call) -> Result<void> {
      const Tensor& x = *call.in[0];
      const Ints repeats = ints_of(call, 1);
      if (repeats.size() != x.shape().size()) return refuse(call.view, Code::shape_mismatch, "repeats has a wrong length");
      Sizes shape = x.shape();
      for (size_t d = 0; d < shape.size(); ++d) {
        const auto size = checked_mul(shape[d], repeats[d]);
        if (!size || repeats[d] < 0) return refuse(call.view, Code::size_overflow, "a repeat is negative, or the result too large");
        shape[d] = *size;
      }
      const Sizes strides = strides_of(x.shape());
      return gather_elements(call, x, shape, [&](const Sizes& at) {
        int64_t position = 0;
        for (size_t d = 0; d < at.size(); ++d) position += at[d] % x.shape()[d] * strides[d];
        return position;
      });
    },
    .upgrade = upgrade,
    .samples = {{"f32[2,3], i64[2] = [2, 1]", "f32[2,3], i64[2] = [1, 3]", "f16[1,2], i64[2] = [2, 2]", "i64[3], i64[1] = [0]",
                 "bool[], i64[0] = []", "f64[0,2], i64[2] = [2, 2]"}},
};

}  // namespace tenon::ops::op_tile
