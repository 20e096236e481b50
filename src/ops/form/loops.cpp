// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"

#include "ops/core/refuse.h"
#include "ops/infer/types.h"

namespace tenon::ops {

DType compute_dtype(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }

Expr to_compute_dtype(Expr e) { return cast_expr(e, compute_dtype(e.dtype())); }

std::vector<Axis> parallel_axes(const DimList& shape) {
  std::vector<Axis> out;
  for (Dim d : shape) out.push_back({Axis::Kind::parallel, d});
  return out;
}

Access operand_access(const NodeView& view, size_t input, std::vector<Expr> index) {
  Access a;
  a.source = {Source::Kind::operand, static_cast<int>(input), 0};
  a.dtype = view.type(input).dtype;
  a.index = std::move(index);
  return a;
}

Access loop_output_access(int loop, int output, DType dtype, std::vector<Expr> index) {
  Access a;
  a.source = {Source::Kind::loop, loop, output};
  a.dtype = dtype;
  a.index = std::move(index);
  return a;
}

Expr load(Loop& loop, Access access) {
  const Expr e = Expr::input(static_cast<int>(loop.accesses.size()), access.dtype);
  loop.accesses.push_back(std::move(access));
  return e;
}

Result<void> require_known_ranks(const NodeView& view) {
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    if (view.has(i) && !view.type(i).has_rank())
      return refuse(view, Code::not_supported, "not supported yet: a loop form for an operand of unknown rank");
  }
  for (const Type& t : view.outputs) {
    if (!t.has_rank()) return refuse(view, Code::not_supported, "not supported yet: a loop form for a result of unknown rank");
  }
  return {};
}

Output full_output(DType dtype, const DimList& shape, Expr value) {
  Output out;
  out.dtype = dtype;
  out.shape = shape;
  out.value = cast_expr(value, dtype);
  return out;
}

LoopForm single_loop_form(Loop loop) {
  LoopForm form;
  for (size_t k = 0; k < loop.outputs.size(); ++k) form.results.push_back({Source::Kind::loop, 0, static_cast<int>(k)});
  form.loops.push_back(std::move(loop));
  return form;
}

LoopForm loop_sequence_form(std::vector<Loop> loops) {
  LoopForm form;
  form.results.push_back({Source::Kind::loop, static_cast<int>(loops.size()) - 1, 0});
  form.loops = std::move(loops);
  return form;
}

Result<LoopForm> map_form(const NodeView& view, const MapBody& body) {
  TRY(require_known_ranks(view));
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  std::vector<Expr> values;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    if (!view.has(i)) values.emplace_back();
    else values.push_back(to_compute_dtype(load(loop, operand_access(view, i, broadcast_index(*view.type(i).shape, *result.shape)))));
  }
  loop.outputs.push_back(full_output(result.dtype, *result.shape, body(values)));
  return single_loop_form(std::move(loop));
}

Result<LoopForm> index_form(const NodeView& view, size_t input, std::vector<Expr> index, Expr within, Expr fill) {
  TRY(require_known_ranks(view));
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  Access access = operand_access(view, input, std::move(index));
  access.within = within;
  access.fill = fill;
  const Expr value = load(loop, std::move(access));
  loop.outputs.push_back(full_output(result.dtype, *result.shape, value));
  return single_loop_form(std::move(loop));
}

}  // namespace tenon::ops
