// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/scalar.h"
#include "ops/versions/versions.h"

namespace tenon::ops {

namespace {

bool holds(std::span<const int> axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

}  // namespace

RowLoop reduce_rows(const DimList& shape, std::span<const int> row) {
  RowLoop r;
  const int rank = static_cast<int>(shape.size());
  r.whole.resize(rank);
  for (const bool reduced : {false, true}) {
    for (int k = 0; k < rank; ++k) {
      if (holds(row, k) != reduced) continue;
      r.whole[k] = Expr::axis(static_cast<int>(r.loop.axes.size()));
      if (!reduced) r.kept.push_back(r.whole[k]);
      r.loop.axes.push_back({reduced ? Axis::Kind::reduced : Axis::Kind::parallel, shape[k]});
    }
  }
  return r;
}

RowLoop map_rows(const DimList& shape, std::span<const int> row) {
  RowLoop r;
  for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
    r.whole.push_back(Expr::axis(k));
    if (!holds(row, k)) r.kept.push_back(r.whole[k]);
    r.loop.axes.push_back({Axis::Kind::parallel, shape[k]});
  }
  return r;
}

RowLoop each_row(const DimList& shape, std::span<const int> row) {
  RowLoop r;
  for (const Dim& d : without(shape, row)) {
    r.kept.push_back(Expr::axis(static_cast<int>(r.loop.axes.size())));
    r.loop.axes.push_back({Axis::Kind::parallel, d});
  }
  return r;
}

DimList reduced_shape(const DimList& shape, std::span<const int> row, bool keepdims) {
  DimList out;
  for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
    if (!holds(row, k)) out.push_back(shape[k]);
    else if (keepdims) out.push_back(1);
  }
  return out;
}

void emit(RowLoop& rows, DType dtype, DimList shape, Expr value, Combine combine) {
  const bool reduces =
      std::any_of(rows.loop.axes.begin(), rows.loop.axes.end(), [](const Axis& a) { return a.kind != Axis::Kind::parallel; });
  Output out;
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.value = cast(std::move(value), dtype);
  out.combine = reduces ? combine : Combine::none;
  rows.loop.outputs.push_back(std::move(out));
}

void emit_kept(RowLoop& rows, DType dtype, const DimList& shape, std::span<const int> row, bool keepdims, Expr value, Combine combine) {
  emit(rows, dtype, reduced_shape(shape, row, keepdims), std::move(value), combine);
  if (!keepdims) return;
  size_t next = 0;
  for (int k = 0; k < static_cast<int>(shape.size()); ++k)
    rows.loop.outputs.back().index.push_back(holds(row, k) ? index_constant(0) : rows.kept[next++]);
}

Expr row_count(const DimList& shape, std::span<const int> row, DType dtype) {
  Dim n = 1;
  for (int k : row) n = n * shape[k];
  return n.is_number() && is_float(dtype) ? Expr::constant(dtype, static_cast<double>(n.value())) : cast(size_expr(n), dtype);
}

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> out;
  for (int k = first; k < rank; ++k) out.push_back(k);
  return out;
}

Result<std::optional<std::vector<int>>> reduced_axes(const NodeView& view) {
  using Axes = std::optional<std::vector<int>>;
  if (!view.type(0).has_rank()) return Axes();
  const bool noop = view.attributes->integer("noop_with_empty_axes", 0) != 0;
  std::optional<Ints> given;
  if (!view.has(1) || known_length(view, 1) == 0) given = Ints();
  else given = known_ints(view, 1);
  if (!given) return Axes();
  if (!given->empty()) return Axes(TRY(normal_axes(view, *given, view.rank(0))));
  return Axes(noop ? std::vector<int>() : axes_from(0, view.rank(0)));
}

Result<void> infer_reduce(NodeView& view, bool (*accepted)(DType), std::string_view wanted) {
  TRY(require_dtype(view, 0, accepted, wanted));
  TRY(require_dtype(view, 1, is_index, "i64"));
  Type out(dtype_of(view, 0));
  const bool keepdims = view.attributes->integer("keepdims", 1) != 0;
  if (const auto axes = TRY(reduced_axes(view))) {
    out.shape = reduced_shape(*view.type(0).shape, *axes, keepdims);
  } else if (view.type(0).has_rank() && keepdims) {
    out.shape.emplace();
    for (int k = 0; k < view.rank(0); ++k) out.shape->push_back(view.symbols->fresh());
  } else if (view.type(0).has_rank() && known_length(view, 1)) {
    const int64_t left = view.rank(0) - *known_length(view, 1);
    if (left < 0) return refuse(view, Code::axis_out_of_range, "more axes than the operand has");
    out.shape.emplace();
    for (int64_t k = 0; k < left; ++k) out.shape->push_back(view.symbols->fresh());
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<void> infer_number_reduce(NodeView& view) { return infer_reduce(view, is_number, "a number type"); }
Result<void> infer_extreme_reduce(NodeView& view) { return infer_reduce(view, is_comparable, "a number type or bool"); }
int lowest_opset_of_extreme(const NodeView& view) {
  return std::max(is_short_integer(dtype_of(view, 0)) ? 12 : 7, lowest_opset_of_reduce<18>(view));
}
Result<void> infer_float_reduce(NodeView& view) { return infer_reduce(view, is_real_arithmetic, "f16, bf16, f32 or f64"); }

Result<LoopForm> form_of_reduce(const NodeView& view, Combine combine, Expr (*before)(Expr), Expr (*after)(Expr, Expr)) {
  TRY(require_ranks(view));
  const auto axes = TRY(reduced_axes(view));
  if (!axes) return refuse(view, Code::not_supported, "not supported yet: a loop form where axes are known at run time only");
  const DimList& shape = *view.type(0).shape;
  const bool keepdims = view.attributes->integer("keepdims", 1) != 0;
  const DType dtype = view.outputs[0].dtype, wide = compute_dtype(dtype);
  RowLoop sum = reduce_rows(shape, *axes);
  Expr x = sum.operand(view, 0);
  if (before) x = before(x);
  if (wide == dtype && !after) {
    emit_kept(sum, dtype, shape, *axes, keepdims, x, combine);
    return single(std::move(sum.loop));
  }
  emit(sum, wide, without(shape, *axes), x, combine);
  RowLoop last = each_row(shape, *axes);
  Expr total = last.of_row(0, wide);
  if (after) total = after(total, row_count(shape, *axes, wide));
  emit_kept(last, dtype, shape, *axes, keepdims, total);
  return chain({std::move(sum.loop), std::move(last.loop)});
}

int64_t smallest_integer(DType dtype) {
  if (dtype == DType::boolean || !is_signed(dtype)) return 0;
  return static_cast<int64_t>(uint64_t{1} << (bits_of(dtype) - 1)) * (bits_of(dtype) == 64 ? 1 : -1);
}

int64_t largest_integer(DType dtype) {
  if (dtype == DType::boolean) return 1;
  const int bits = bits_of(dtype) - (is_signed(dtype) ? 1 : 0);
  return bits == 64 ? -1 : static_cast<int64_t>((uint64_t{1} << bits) - 1);
}

Result<void> reference_of_reduce(Call& call, const std::function<double(std::span<const double>)>& number,
                                 const std::function<int64_t(std::span<const int64_t>)>& integer) {
  const Tensor& x = *call.in[0];
  const bool noop = call.view.attributes->integer("noop_with_empty_axes", 0) != 0,
             keepdims = call.view.attributes->integer("keepdims", 1) != 0;
  std::vector<bool> reduced(x.rank(), false);
  const Ints given = ints_of(call, 1);
  for (int64_t axis : given) {
    if (!wrap_axis(axis, x.rank())) return refuse(call.view, Code::axis_out_of_range, "an axis lies outside of the operand's rank");
    reduced[axis] = true;
  }
  if (given.empty() && !noop) reduced.assign(x.rank(), true);
  Sizes shape;
  std::vector<int> row;
  for (int k = 0; k < x.rank(); ++k) {
    if (reduced[k]) row.push_back(k);
    if (!reduced[k]) shape.push_back(x.shape()[k]);
    else if (keepdims) shape.push_back(1);
  }
  Tensor& y = *TRY(call.make(0, shape));
  const RowOffsets at = row_offsets(x.shape(), row);
  auto run = [&](auto from, const auto& function, auto store) {
    decltype(from) elements(at.inner.size());
    for (size_t b = 0; b < at.bases.size(); ++b) {
      for (size_t k = 0; k < at.inner.size(); ++k) elements[k] = from[at.bases[b] + at.inner[k]];
      store(static_cast<int64_t>(b), function(std::span(std::as_const(elements))));
    }
  };
  if (is_float(x.dtype())) run(numbers_of(x), number, [&](int64_t i, double v) { y.set_number(i, v); });
  else if (integer) run(integers_of(x), integer, [&](int64_t i, int64_t v) { y.set_integer(i, v); });
  else return refuse(call.view, Code::dtype_mismatch, "integers are not accepted");
  return {};
}

Result<void> reference_of_extreme(Call& call, bool largest) {
  const DType dtype = call.in[0]->dtype();
  const auto is_less = [dtype](int64_t a, int64_t b) { return dtype == DType::u64 ? uint64_t(a) < uint64_t(b) : a < b; };
  return reference_of_reduce(
      call,
      [&](std::span<const double> row) {
        return std::accumulate(row.begin(), row.end(), largest ? -INFINITY : double{INFINITY}, largest ? maximum : minimum);
      },
      [&](std::span<const int64_t> row) {
        int64_t best = largest ? smallest_integer(dtype) : largest_integer(dtype);
        for (int64_t v : row)
          if (largest ? is_less(best, v) : is_less(v, best)) best = v;
        return best;
      });
}

RowOffsets row_offsets(const Sizes& shape, std::span<const int> row) {
  RowOffsets out;
  const Sizes strides = strides_of(shape);
  for (const bool inside : {false, true}) {
    std::vector<int64_t> offsets{0};
    for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
      if (holds(row, k) != inside) continue;
      std::vector<int64_t> next;
      next.reserve(offsets.size() * shape[k]);
      for (int64_t base : offsets)
        for (int64_t i = 0; i < shape[k]; ++i) next.push_back(base + i * strides[k]);
      offsets = std::move(next);
    }
    (inside ? out.inner : out.bases) = std::move(offsets);
  }
  return out;
}

Result<void> axes_to_operand(ir::Graph& graph, ir::NodeId node, int) { return attribute_to_operand(graph, node, "axes", 1); }
/// Before opset 20 bool had no order.
static Result<void> reduce_as_integers(ir::Graph& graph, ir::NodeId node) {
  const ir::Attributes attributes = graph.node(node).attributes;
  return write_as(graph, node, [&](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
    std::vector<ir::ValueId> operands(in.begin(), in.end());
    operands[0] = as_dtype(build, in[0], DType::boolean, DType::i32);
    return std::vector{as_dtype(build, build.many(*view.op, std::move(operands), 1, attributes)[0], DType::i32, DType::boolean)};
  });
}

Result<void> axes_to_attribute(ir::Graph& graph, ir::NodeId node, int opset) {
  // ReduceMax and ReduceMin have a newer form that differs in dtypes alone.
  if (opset < 20 && graph.value(graph.node(node).inputs[0]).type.dtype == DType::boolean) return reduce_as_integers(graph, node);
  if (opset >= 18) return {};
  graph.erase_attribute(node, "noop_with_empty_axes");
  return operand_to_attribute(graph, node, 1, "axes");
}

Result<int> axis_attribute(const NodeView& view, int64_t otherwise) {
  if (!view.type(0).has_rank()) return 0;
  return normal_axis(view, view.attributes->integer("axis", otherwise), view.rank(0));
}

Result<void> axis_downgrade(ir::Graph& graph, ir::NodeId node, int) {
  const NodeView view = graph.view(node);
  const int axis = TRY(axis_attribute(view)), last = view.rank(0) - 1;
  if (axis == last) {
    graph.set_attribute(node, "axis", int64_t{last});
    return {};
  }
  return write_as(graph, node, [&](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) {
    Ints swap;
    for (int k = 0; k <= last; ++k) swap.push_back(k == axis ? last : k == last ? axis : k);
    ir::Attributes attributes;
    attributes.set("axis", int64_t{last});
    const ir::ValueId turned = build("Transpose", {in[0]}, {{"perm", swap}});
    return std::vector{build("Transpose", build.many(*view.op, {turned}, 1, std::move(attributes)), {{"perm", swap}})};
  });
}

Result<void> upgrade_flattened_axis(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 13) return {};
  const ir::NodeView view = graph.view(node);
  const int64_t axis = view.attributes->integer("axis", 1);
  if (!view.type(0).has_rank()) {
    if (axis == -1) return {};
    return refuse(view, Code::not_supported, "not supported yet: opset below 13 on an operand of unknown rank");
  }
  const int rank = view.rank(0), from = rank == 0 ? 0 : TRY(normal_axis(view, axis, rank));
  graph.set_attribute(node, "axis", int64_t{-1});
  if (from == rank - 1) return {};
  const ir::ValueId x = graph.node(node).inputs[0], y = graph.node(node).outputs[0];
  ir::Builder before(graph, node);
  const ir::ValueId flat = before("Flatten", {x}, {{"axis", int64_t{from}}}), shape = before("Shape", {x});
  TRY(before.status());
  graph.set_operand(node, 0, flat);
  TRY(ir::infer(graph, node));
  ir::Builder after(graph, graph.next(node));
  const ir::ValueId back = after("Reshape", {y, shape}, {{"allowzero", int64_t{1}}});
  TRY(after.status());
  const std::string name = graph.value(y).name;
  if (!name.empty()) {
    graph.set_name(y, graph.unique_name(name));
    graph.set_name(back, name);
  }
  const std::vector<ir::Use> uses = graph.value(y).uses;
  for (const ir::Use& use : uses) {
    if (use.is_output()) graph.set_output(use.slot, back);
    else if (!(use.node == graph.value(back).producer)) graph.set_operand(use.node, use.slot, back);
  }
  return {};
}

}  // namespace tenon::ops
