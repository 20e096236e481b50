// SPDX-License-Identifier: Apache-2.0
#include "ops/form/form.h"

#include <algorithm>

namespace tenon::ops {

Expr size_expr(Dim size) { return size.is_number() ? index_constant(size.value()) : Expr::dim(size); }

DType compute_dtype(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }

namespace {
Expr cast_expr(Expr e, DType dtype) { return e.dtype() == dtype && !e->untyped ? e : cast(e, dtype); }
}  // namespace

Expr widen(Expr e) { return cast_expr(e, compute_dtype(e.dtype())); }

std::vector<Expr> axis_indices(int count, int first) {
  std::vector<Expr> out;
  for (int i = 0; i < count; ++i) out.push_back(Expr::axis(first + i));
  return out;
}

std::vector<Expr> broadcast_index(const DimList& from, const DimList& to, int first) {
  std::vector<Expr> out;
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t axis = i + to.size() - from.size();
    const Expr at = Expr::axis(first + static_cast<int>(axis));
    if (from[i] == Dim(1)) out.push_back(index_constant(0));
    else if (from[i].is_number() || from[i].known_equal(to[axis])) out.push_back(at);
    else out.push_back(at * Expr::dim(select(equal_to(from[i], 1), 0, 1)));
  }
  return out;
}

std::vector<Axis> parallel_axes(const DimList& shape) {
  std::vector<Axis> out;
  for (Dim d : shape) out.push_back({Axis::Kind::parallel, d});
  return out;
}

Access read(const NodeView& view, size_t input, std::vector<Expr> index) {
  Access a;
  a.source = {Source::Kind::operand, static_cast<int>(input), 0};
  a.dtype = view.type(input).dtype;
  a.index = std::move(index);
  return a;
}

Access read_earlier(int loop, int output, DType dtype, std::vector<Expr> index) {
  Access a;
  a.source = {Source::Kind::earlier, loop, output};
  a.dtype = dtype;
  a.index = std::move(index);
  return a;
}

Expr load(Loop& loop, Access access) {
  const Expr e = Expr::input(static_cast<int>(loop.accesses.size()), access.dtype);
  loop.accesses.push_back(std::move(access));
  return e;
}

Expr wrapped_index(Expr loaded, Dim size) {
  const Expr i = cast_expr(loaded, DType::i64);
  return select(i < index_constant(0), i + size_expr(size), i);
}

Result<void> require_ranks(const NodeView& view) {
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    if (view.has(i) && !view.type(i).has_rank())
      return refuse(view, Code::not_supported, "not supported yet: a loop form for an operand of unknown rank");
  }
  for (const Type& t : view.outputs) {
    if (!t.has_rank()) return refuse(view, Code::not_supported, "not supported yet: a loop form for a result of unknown rank");
  }
  return {};
}

Output whole(DType dtype, const DimList& shape, Expr value) {
  Output out;
  out.dtype = dtype;
  out.shape = shape;
  out.value = cast_expr(value, dtype);
  return out;
}

LoopForm single(Loop loop) {
  LoopForm form;
  for (size_t k = 0; k < loop.outputs.size(); ++k) form.results.push_back({Source::Kind::earlier, 0, static_cast<int>(k)});
  form.loops.push_back(std::move(loop));
  return form;
}

LoopForm chain(std::vector<Loop> loops) {
  LoopForm form;
  form.results.push_back({Source::Kind::earlier, static_cast<int>(loops.size()) - 1, 0});
  form.loops = std::move(loops);
  return form;
}

Result<LoopForm> map_form(const NodeView& view, const MapBody& body) {
  TRY(require_ranks(view));
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  std::vector<Expr> values;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    if (!view.has(i)) values.emplace_back();
    else values.push_back(widen(load(loop, read(view, i, broadcast_index(*view.type(i).shape, *result.shape)))));
  }
  loop.outputs.push_back(whole(result.dtype, *result.shape, body(values)));
  return single(std::move(loop));
}

Result<LoopForm> index_form(const NodeView& view, size_t input, std::vector<Expr> index, Expr within, Expr fill) {
  TRY(require_ranks(view));
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  Access access = read(view, input, std::move(index));
  access.within = within;
  access.fill = fill;
  const Expr value = load(loop, std::move(access));
  loop.outputs.push_back(whole(result.dtype, *result.shape, value));
  return single(std::move(loop));
}

Expr linear_index(std::span<const Expr> index, const DimList& shape) {
  Expr position;
  for (size_t i = 0; i < index.size(); ++i) position = position ? position * size_expr(shape[i]) + index[i] : index[i];
  return position ? position : index_constant(0);
}

std::vector<Expr> unlinear_index(Expr position, const DimList& shape) {
  std::vector<Expr> out(shape.size());
  Dim stride = 1;
  bool any = false;
  for (size_t k = shape.size(); k-- > 0;) {
    if (shape[k] == Dim(1)) {
      out[k] = index_constant(0);
      continue;
    }
    const Expr shifted = any ? position / size_expr(stride) : position;
    const bool outermost = std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(k), [](Dim d) { return d == Dim(1); });
    out[k] = outermost ? shifted : binary(ExprOp::mod, shifted, size_expr(shape[k]));
    stride = stride * shape[k];
    any = true;
  }
  return out;
}

std::vector<Expr> reshape_index(const DimList& from, const DimList& to) {
  std::vector<Expr> out;
  size_t i = 0, j = 0;
  while (i < from.size()) {
    if (j < to.size() && from[i].known_equal(to[j])) {
      out.push_back(Expr::axis(static_cast<int>(j)));
      ++i, ++j;
      continue;
    }
    // The shortest runs of both whose products are the same; where there is none, all that is left.
    size_t end_i = from.size(), end_j = to.size();
    for (size_t n = i + j + 1; n < from.size() + to.size() && end_i + end_j > n; ++n) {
      for (size_t a = i; a <= from.size() && a <= n; ++a) {
        const size_t b = n - a;
        if (b < j || b > to.size()) continue;
        const Dim p = product(DimList(from.begin() + static_cast<std::ptrdiff_t>(i), from.begin() + static_cast<std::ptrdiff_t>(a)));
        const Dim q = product(DimList(to.begin() + static_cast<std::ptrdiff_t>(j), to.begin() + static_cast<std::ptrdiff_t>(b)));
        if (!p.known_equal(q)) continue;
        end_i = a, end_j = b;
        break;
      }
    }
    const DimList group_to(to.begin() + static_cast<std::ptrdiff_t>(j), to.begin() + static_cast<std::ptrdiff_t>(end_j));
    const DimList group_from(from.begin() + static_cast<std::ptrdiff_t>(i), from.begin() + static_cast<std::ptrdiff_t>(end_i));
    const Expr position = linear_index(axis_indices(static_cast<int>(group_to.size()), static_cast<int>(j)), group_to);
    for (Expr& e : unlinear_index(position, group_from)) out.push_back(std::move(e));
    i = end_i, j = end_j;
  }
  return out;
}

DimList without(const DimList& shape, std::span<const int> axes) {
  DimList out;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(shape[static_cast<size_t>(i)]);
  }
  return out;
}

namespace {

std::vector<Expr> kept_indices(int rank, std::span<const int> axes) {
  std::vector<Expr> out;
  for (int i = 0; i < rank; ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(Expr::axis(i));
  }
  return out;
}

std::vector<Axis> row_axes(const DimList& shape, std::span<const int> axes, bool reduced) {
  std::vector<Axis> out = parallel_axes(shape);
  if (reduced) {
    for (int a : axes) out[static_cast<size_t>(a)].kind = Axis::Kind::reduced;
  }
  return out;
}

/// Index of the reduced tensor (without `axes`) in a loop over the result, which kept them as 1 or dropped them.
std::vector<Expr> result_index(int rank, std::span<const int> axes, bool keepdims) {
  return keepdims ? kept_indices(rank, axes) : axis_indices(rank - static_cast<int>(axes.size()));
}

}  // namespace

Result<LoopForm> reduce_form(const NodeView& view, std::span<const int> axes, bool keepdims, Combine combine,
                             const std::function<Expr(Expr)>& before, const std::function<Expr(Expr, Expr)>& after) {
  TRY(require_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const int rank = static_cast<int>(shape.size());
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = row_axes(shape, axes, true);
  Expr value = widen(load(loop, read(view, 0, axis_indices(rank))));
  if (before) value = before(value);
  const DType dtype = value.dtype();
  const bool two = static_cast<bool>(after) || dtype != result.dtype;
  Output out = whole(dtype, two ? without(shape, axes) : *result.shape, value);
  out.combine = axes.empty() ? Combine::none : combine;
  if (!two && keepdims) {
    out.index = axis_indices(rank);
    for (int a : axes) out.index[static_cast<size_t>(a)] = index_constant(0);
  }
  loop.outputs.push_back(std::move(out));
  if (!two) return single(std::move(loop));
  Loop last;
  last.axes = parallel_axes(*result.shape);
  Expr reduced = load(last, read_earlier(0, 0, dtype, result_index(rank, axes, keepdims)));
  Dim count = 1;
  for (int a : axes) count = count * shape[static_cast<size_t>(a)];
  if (after) reduced = after(reduced, size_expr(count));
  last.outputs.push_back(whole(result.dtype, *result.shape, reduced));
  return chain({std::move(loop), std::move(last)});
}

Result<LoopForm> row_form(const NodeView& view, std::span<const int> axes, std::span<const RowStep> steps) {
  TRY(require_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const int rank = static_cast<int>(shape.size());
  std::vector<Loop> loops;
  for (size_t s = 0; s < steps.size(); ++s) {
    const bool reduced = steps[s].combine != Combine::none && !axes.empty();
    Loop loop;
    loop.axes = row_axes(shape, axes, reduced);
    std::vector<Expr> values = {widen(load(loop, read(view, 0, axis_indices(rank))))};
    for (size_t k = 0; k < s; ++k) {
      const bool row = steps[k].combine != Combine::none;
      values.push_back(
          load(loop, read_earlier(static_cast<int>(k), 0, steps[k].dtype, row ? kept_indices(rank, axes) : axis_indices(rank))));
    }
    const bool last = s + 1 == steps.size();
    Output out = whole(last ? view.outputs[0].dtype : steps[s].dtype, steps[s].combine != Combine::none ? without(shape, axes) : shape,
                       steps[s].body(values));
    out.combine = reduced ? steps[s].combine : Combine::none;
    loop.outputs.push_back(std::move(out));
    loops.push_back(std::move(loop));
  }
  return chain(std::move(loops));
}

}  // namespace tenon::ops
