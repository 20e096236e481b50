// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/places.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {
namespace {

/// Clamps a loaded index, which may be any number, to the dimension.
Expr clamp_index(const Expr& index, Dim extent) {
  if (!mentions(index, ExprOp::input, -1)) return index;
  const Expr i = index.dtype() == DType::i64 ? index : cast(index, DType::i64);
  return max(min(i, Expr::dim(extent) - Expr::integer(DType::i64, 1)), Expr::integer(DType::i64, 0));
}

Expr flat_in(const std::vector<Expr>& index, const Array& array) {
  std::vector<Expr> clamped;
  for (size_t k = 0; k < index.size(); ++k) clamped.push_back(clamp_index(index[k], array.shape[k]));
  const Expr place = flatten(clamped, array.strides);
  return array.halo.empty() ? place : simplify(place + Expr::dim(start_of(array)));
}

/// The places of all accesses, then of all outputs; nullopt where one is not affine.
std::optional<std::vector<Affine>> places_of(const Nest& nest, const Plan& plan) {
  std::vector<Affine> out;
  const int axes = static_cast<int>(nest.axes.size());
  for (const NestAccess& a : nest.accesses) {
    auto affine = affine_of(flat_of(a, plan), axes);
    if (!affine) return std::nullopt;
    out.push_back(std::move(*affine));
  }
  for (const NestOutput& o : nest.outputs) {
    auto affine = affine_of(flat_of(o, plan), axes);
    if (!affine) return std::nullopt;
    out.push_back(std::move(*affine));
  }
  return out;
}

bool axis_is_free(const Nest& nest, int axis) {
  for (const NestAccess& a : nest.accesses)
    if (mentions(a.within, ExprOp::axis, axis) || mentions(a.fill, ExprOp::axis, axis)) return false;
  for (const NestOutput& o : nest.outputs)
    if (mentions(o.value, ExprOp::axis, axis) || mentions(o.within, ExprOp::axis, axis)) return false;
  return true;
}

/// Replaces axes k and k + 1 by one axis that runs over both.
void join_axes(Nest& nest, int k, const std::vector<Affine>& places) {
  // With coefficient_k = coefficient_(k+1) * extent_(k+1) in every place, the pair is one axis with the inner coefficient.
  auto flat_from = [&](const Affine& p) {
    Expr sum = Expr::dim(p.offset);
    for (size_t x = 0; x < nest.axes.size(); ++x) {
      if (static_cast<int>(x) == k) continue;
      const int to = static_cast<int>(x) > k ? static_cast<int>(x) - 1 : static_cast<int>(x);
      if (!(p.coefficients[x] == Dim(0))) sum = sum + Expr::axis(to) * Expr::dim(p.coefficients[x]);
    }
    return simplify(sum);
  };
  for (size_t a = 0; a < nest.accesses.size(); ++a) {
    nest.accesses[a].flat = flat_from(places[a]);
    nest.accesses[a].index.clear();
  }
  for (size_t o = 0; o < nest.outputs.size(); ++o) {
    nest.outputs[o].flat = flat_from(places[nest.accesses.size() + o]);
    nest.outputs[o].index.clear();
  }
  nest.axes[k].extent = nest.axes[k].extent * nest.axes[k + 1].extent;
  nest.axes.erase(nest.axes.begin() + k + 1);
  auto renumber = [&](Expr& e) {
    if (e) e = substitute(e, [&](const ExprNode& n) { return n.op == ExprOp::axis && n.index > k ? Expr::axis(n.index - 1) : Expr(); });
  };
  for (NestAccess& a : nest.accesses) {
    renumber(a.within);
    renumber(a.fill);
  }
  for (NestOutput& o : nest.outputs) {
    renumber(o.value);
    renumber(o.within);
  }
}

bool joinable(const Nest& nest, int k, const std::vector<Affine>& places) {
  if (nest.axes[k].kind != ops::Axis::Kind::parallel || nest.axes[k + 1].kind != ops::Axis::Kind::parallel) return false;
  if (!axis_is_free(nest, k) || !axis_is_free(nest, k + 1)) return false;
  return std::all_of(places.begin(), places.end(),
                     [&](const Affine& p) { return p.coefficients[k] == p.coefficients[k + 1] * nest.axes[k + 1].extent; });
}

}  // namespace

Expr flat_of(const NestAccess& access, const Plan& plan) {
  if (access.flat) {
    const Array& a = plan.arrays[access.array];
    return mentions(access.flat, ExprOp::input, -1) ? clamp_index(access.flat, product(a.shape)) : access.flat;
  }
  return flat_in(access.index, plan.arrays[access.array]);
}

Expr flat_of(const NestOutput& output, const Plan& plan) {
  return output.flat ? output.flat : flat_in(output.index, plan.arrays[output.array]);
}

void collapse(Nest& nest, const Plan& plan, int from) {
  auto places = places_of(nest, plan);
  for (int k = from; places && k + 1 < static_cast<int>(nest.axes.size());) {
    if (!joinable(nest, k, *places)) {
      ++k;
      continue;
    }
    join_axes(nest, k, *places);
    for (Affine& p : *places) p.coefficients.erase(p.coefficients.begin() + k);
  }
}

namespace {

/// The terms of a sum, those that are direct by a load apart from the others.
void split_terms(const Expr& sum, Expr& direct, Expr& loaded) {
  if (sum.op() == ExprOp::add) {
    for (const Expr& term : sum.args()) split_terms(term, direct, loaded);
    return;
  }
  Expr& to = mentions(sum, ExprOp::input) ? loaded : direct;
  to = to ? to + sum : sum;
}

/// Each access of the expression has one index for all points, which depends on no load.
bool loads_single_numbers(const Expr& e, const Nest& nest) {
  const auto moves = [](const Expr& at) { return mentions(at, ExprOp::axis) || mentions(at, ExprOp::input); };
  for (size_t k = 0; k < nest.accesses.size(); ++k) {
    const NestAccess& a = nest.accesses[k];
    if (mentions(e, ExprOp::input, static_cast<int>(k)) && (a.within || moves(a.flat) || std::ranges::any_of(a.index, moves))) return false;
  }
  return !mentions(e, ExprOp::axis);
}

}  // namespace

std::optional<EpiloguePlaces> epilogue_places(const Epilogue& epilogue, const Nest& nest, const Plan& plan) {
  const int axes = static_cast<int>(nest.axes.size());
  const Nest& map = epilogue.map;
  if (nest.outputs[0].flat || std::ranges::any_of(map.outputs, [](const NestOutput& o) { return mentions(o.value, ExprOp::axis); }))
    return std::nullopt;
  auto in_sum = [&](const ExprNode& n) { return n.op == ExprOp::axis ? nest.outputs[0].index[n.index] : Expr(); };
  auto place_of = [&](const Expr& flat) { return affine_of(simplify(substitute(flat, in_sum)), axes); };
  const Dim width = epilogue.columns > 1 ? map.axes.back().extent : Dim(1);
  EpiloguePlaces out;
  for (const NestAccess& a : map.accesses) {
    if (a.within) return std::nullopt;
    Expr direct = Expr::integer(DType::i64, 0), loaded;
    split_terms(flat_of(a, plan), direct, loaded);
    auto place = !loaded || loads_single_numbers(loaded, map) ? place_of(direct) : std::nullopt;
    if (!place) return std::nullopt;
    const bool is_sum = a.array == nest.outputs[0].array;
    const int column = !is_sum ? -1 : epilogue.columns == 1 ? 0 : static_cast<int>(floor_div(place->offset, width).value());
    out.reads.push_back({std::move(*place), std::move(loaded), column});
  }
  for (const NestOutput& o : map.outputs) {
    auto place = place_of(flat_of(o, plan));
    if (!place) return std::nullopt;
    out.results.push_back(std::move(*place));
  }
  return out;
}

}  // namespace tenon::codegen
