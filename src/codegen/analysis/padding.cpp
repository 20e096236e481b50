// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/padding.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

/// The index of an access in one dimension, and its range.
struct Reach {
  Affine index;
  Dim lowest, highest;  ///< of the index, over the axes
  Dim from, to;         ///< an element is loaded where from <= index < to

  /// Whether an element is loaded at all steps.
  bool inside() const { return from.less(lowest + 1).value_or(false) && highest.less(to).value_or(false); }
};

/// The index as an affine function of the axes with more than one step.
std::optional<Affine> affine_over(const Expr& index, const Nest& nest) {
  auto affine = affine_of(index, static_cast<int>(nest.axes.size()));
  for (size_t x = 0; affine && x < nest.axes.size(); ++x)
    if (nest.axes[x].extent == Dim(1)) affine->coefficients[x] = 0;
  return affine;
}

/// nullopt where the sign of a coefficient is unknown. size: of the dimension.
std::optional<Reach> reach_of(Affine index, const Nest& nest, Dim size) {
  Reach r{std::move(index), 0, 0, 0, size};
  r.lowest = r.highest = r.index.offset;
  for (size_t x = 0; x < nest.axes.size(); ++x) {
    const Dim step = r.index.coefficients[x], reach = step * (nest.axes[x].extent - 1);
    if (step.lower() >= 0) r.highest = r.highest + reach;
    else if (step.upper() <= 0) r.lowest = r.lowest + reach;
    else return std::nullopt;
  }
  return r;
}

/// The factor by which the coefficients of `a` are those of `index`; nullopt where there is none, or no axis moves the index.
std::optional<Dim> factor_of(const Affine& a, const Affine& index) {
  std::optional<Dim> factor;
  for (size_t x = 0; x < a.coefficients.size(); ++x) {
    const Dim part = a.coefficients[x], whole = index.coefficients[x];
    if (whole == Dim(0)) {
      if (!(part == Dim(0))) return std::nullopt;
      continue;
    }
    const auto here = exact_quotient(part, whole);
    if (!here || (factor && !(*factor == *here))) return std::nullopt;
    factor = here;
  }
  return factor;
}

/// Expresses a condition over the axes of a nest by the indices of one access. Comparisons of one index narrow Reach::from and to; the
/// remaining parts form the condition `rest`, in which Expr::axis(d) is the index in dimension d.
class IndexCondition {
 public:
  IndexCondition(std::vector<Reach>& reach, const Nest& nest) : reach_(reach), nest_(nest) {}

  /// Adds a conjunction. False: some part of it is no condition on indices.
  bool add(const Expr& within) {
    if (within.op() == ExprOp::logical_and) return add(within.args()[0]) && add(within.args()[1]);
    if (within.op() == ExprOp::constant && within->int_value != 0) return true;
    if (bound(within)) return true;
    const Expr condition = of(within);
    if (condition) rest = rest ? logical_and(rest, condition) : condition;
    return static_cast<bool>(condition);
  }

  Expr rest;

 private:
  struct Comparison {
    size_t dimension;
    Dim factor, offset;  ///< factor * index + offset, compared with 0
  };

  static bool compares(const Expr& e) {
    const bool comparison = e.op() == ExprOp::less || e.op() == ExprOp::less_equal || e.op() == ExprOp::equal;
    return comparison && e.args()[0].dtype() == DType::i64;
  }

  std::optional<Comparison> comparison(const Expr& e) const {
    const auto difference = affine_over(e.args()[0] - e.args()[1], nest_);
    if (!difference) return std::nullopt;
    for (size_t d = 0; d < reach_.size(); ++d)
      if (const auto factor = factor_of(*difference, reach_[d].index))
        return Comparison{d, *factor, difference->offset - *factor * reach_[d].index.offset};
    return std::nullopt;
  }

  bool bound(const Expr& e) {
    if (!compares(e) || e.op() == ExprOp::equal) return false;
    const auto c = comparison(e);
    if (!c) return false;
    Reach& r = reach_[c->dimension];
    const Dim open = e.op() == ExprOp::less ? 1 : 0;
    if (c->factor == Dim(1)) r.to = min(r.to, Dim(1) - c->offset - open);
    else if (c->factor == Dim(-1)) r.from = max(r.from, c->offset + open);
    else return false;
    return true;
  }

  /// The condition over indices; null where it is none.
  Expr of(const Expr& e) const {
    if (!mentions(e, ExprOp::axis)) return mentions(e, ExprOp::input) ? Expr() : e;
    if (compares(e)) {
      const auto c = comparison(e);
      if (!c) return {};
      const Expr index = Expr::axis(static_cast<int>(c->dimension));
      return Expr::make(e.op(), DType::boolean,
                        {simplify(index * Expr::dim(c->factor) + Expr::dim(c->offset)), Expr::integer(DType::i64, 0)});
    }
    const bool joins = e.op() == ExprOp::logical_and || e.op() == ExprOp::logical_or || e.op() == ExprOp::logical_not;
    if (!joins) return {};
    std::vector<Expr> args;
    for (const Expr& a : e.args()) {
      args.push_back(of(a));
      if (!args.back()) return {};
    }
    return Expr::make(e.op(), e.dtype(), std::move(args));
  }

  std::vector<Reach>& reach_;
  const Nest& nest_;
};

/// The ranges of an access in all dimensions.
struct Padded {
  std::vector<Reach> reach;
  Expr rest;  ///< in addition to the bounds: over the indices, as axes
};
/// nullopt where the access cannot be padded.
std::optional<Padded> padded_of(const NestAccess& access, const Nest& nest, const Plan& plan) {
  const Array& source = plan.arrays[access.array];
  if (access.flat || mentions(access.fill, ExprOp::axis) || mentions(access.fill, ExprOp::input)) return std::nullopt;
  Padded out;
  for (size_t d = 0; d < access.index.size(); ++d) {
    auto index = affine_over(access.index[d], nest);
    auto reach = index ? reach_of(std::move(*index), nest, source.shape[d]) : std::nullopt;
    if (!reach) return std::nullopt;
    out.reach.push_back(std::move(*reach));
  }
  IndexCondition condition(out.reach, nest);
  if (access.within && !condition.add(access.within)) return std::nullopt;
  out.rest = condition.rest;
  return out;
}

/// A nest whose axes are the dimensions of the copy in their memory order, so that contiguous ones can be joined.
class CopyNest {
 public:
  CopyNest(size_t rank, const std::vector<int>& order) : place(rank) {
    for (size_t k = 0; k < rank; ++k) place[order.empty() ? k : static_cast<size_t>(order[k])] = Expr::axis(static_cast<int>(k));
    nest.axes.resize(rank, {ops::Axis::Kind::parallel, Dim(1)});
  }
  void set_extent(size_t d, Dim extent) { nest.axes[static_cast<size_t>(place[d]->index)].extent = extent; }

  Nest nest;
  std::vector<Expr> place;  ///< the axis of each dimension
};

/// One nest that reads each element of the copy, or its fill where the condition is false. shape: of the copy.
Nest copy_by_element(const Padded& how, const NestAccess& access, const DimList& shape, const std::vector<int>& order) {
  CopyNest copy(how.reach.size(), order);
  NestAccess read{access.array, access.dtype, {}, {}, Expr(), access.fill};
  for (size_t d = 0; d < how.reach.size(); ++d) {
    const Reach& r = how.reach[d];
    copy.set_extent(d, shape[d]);
    const Expr at = r.inside() ? copy.place[d] : simplify(copy.place[d] + Expr::dim(r.lowest));
    read.index.push_back(at);
    if (r.inside()) continue;
    const Expr fits = logical_and(Expr::dim(r.from) <= at, at < Expr::dim(r.to));
    read.within = read.within ? logical_and(read.within, fits) : fits;
  }
  const Expr rest = substitute(how.rest, [&](const ExprNode& n) { return n.op == ExprOp::axis ? read.index[n.index] : Expr(); });
  read.within = read.within ? logical_and(read.within, rest) : rest;
  copy.nest.accesses.push_back(std::move(read));
  copy.nest.outputs.push_back({-1, access.dtype, Expr::input(0, access.dtype), ops::Combine::none, copy.place, {}, {}});
  return std::move(copy.nest);
}

/// Two nests: one fills the whole copy, one then copies the elements that are inside. Both write whole rows.
std::vector<Nest> copy_by_rows(const Padded& how, const NestAccess& access, const DimList& shape, const std::vector<int>& order) {
  CopyNest around(how.reach.size(), order), inside(how.reach.size(), order);
  NestAccess read{access.array, access.dtype, {}, {}, {}, {}};
  NestOutput out{-1, access.dtype, Expr::input(0, access.dtype), ops::Combine::none, {}, {}, {}};
  for (size_t d = 0; d < how.reach.size(); ++d) {
    const Reach& r = how.reach[d];
    around.set_extent(d, shape[d]);
    if (r.inside()) {
      inside.set_extent(d, shape[d]);
      read.index.push_back(inside.place[d]);
      out.index.push_back(inside.place[d]);
      continue;
    }
    const Dim first = max(r.from, r.lowest);
    inside.set_extent(d, max(min(r.to, r.highest + 1) - first, Dim(0)));
    read.index.push_back(simplify(inside.place[d] + Expr::dim(first)));
    out.index.push_back(simplify(inside.place[d] + Expr::dim(first - r.lowest)));
  }
  inside.nest.accesses.push_back(std::move(read));
  inside.nest.outputs.push_back(std::move(out));
  around.nest.outputs.push_back({-1, access.dtype, access.fill, ops::Combine::none, around.place, {}, {}});
  return {std::move(around.nest), std::move(inside.nest)};
}

}  // namespace

ArrayId add_temporary(Plan& plan, DType dtype, DimList shape, std::vector<int> order) {
  Array a;
  a.dtype = dtype;
  a.shape = std::move(shape);
  a.order = std::move(order);
  a.strides = strides_in_order(a.shape, a.order);
  plan.arrays.push_back(std::move(a));
  return static_cast<ArrayId>(plan.arrays.size() - 1);
}

std::optional<std::vector<IndexBounds>> index_bounds_of(const NestAccess& access, const Nest& nest, const Plan& plan) {
  const auto how = padded_of(access, nest, plan);
  if (!how || how->rest) return std::nullopt;
  std::vector<IndexBounds> out;
  for (const Reach& r : how->reach) out.push_back({r.from, r.to, r.inside(), r.lowest, r.highest});
  return out;
}

bool can_be_padded(const NestAccess& access, const Nest& nest, const Plan& plan) {
  return !access.within || padded_of(access, nest, plan).has_value();
}

bool pad_operand(NestAccess& access, const Nest& nest, Plan& plan, std::vector<Nest>& before) {
  if (!access.within) return true;
  const auto how = padded_of(access, nest, plan);
  if (!how) return false;
  const std::vector<int> order = plan.arrays[access.array].order;
  DimList shape;
  for (size_t d = 0; d < how->reach.size(); ++d) {
    const Reach& r = how->reach[d];
    shape.push_back(r.inside() ? plan.arrays[access.array].shape[d] : max(r.highest - r.lowest + 1, Dim(0)));
  }
  std::vector<Nest> copies =
      how->rest ? std::vector{copy_by_element(*how, access, shape, order)} : copy_by_rows(*how, access, shape, order);
  for (size_t d = 0; d < how->reach.size(); ++d)
    if (!how->reach[d].inside()) access.index[d] = simplify(access.index[d] - Expr::dim(how->reach[d].lowest));
  access.within = access.fill = Expr();
  access.array = add_temporary(plan, access.dtype, std::move(shape), order);
  for (Nest& copy : copies) {
    copy.outputs[0].array = access.array;
    copy.nodes = nest.nodes;
    before.push_back(std::move(copy));
  }
  return true;
}

}  // namespace tenon::codegen
