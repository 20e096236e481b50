// SPDX-License-Identifier: Apache-2.0
#include "codegen/collect/index_checks.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

/// The number of the access whose loaded value the index is, as it is or wrapped where negative. -1: the index is something else.
int access_of_index(const Expr& index) {
  if (index.op() == ExprOp::input) return index->index;
  if (index.op() == ExprOp::cast) return access_of_index(index.args()[0]);
  if (index.op() != ExprOp::select) return -1;
  const int access = access_of_index(index.args()[2]);
  return mentions(index, ExprOp::axis) ? -1 : access;
}

/// Whether dimension d of the loaded index has a fixed component (GatherND), so that the index is one column of its array.
bool is_component(const NestAccess& access, size_t d, const Plan& plan) {
  return !mentions(access.index[d], ExprOp::axis) && !(plan.arrays[access.array].shape[d] == Dim(1));
}

/// Appends the loaded indices among `index`, by which `table` is accessed. within: the condition of the access; an index that it tests is
/// left out, since it is in range then.
void add_loaded_indices(const std::vector<Expr>& index, const Expr& within, ArrayId table, const Nest& nest, const Plan& plan,
                        std::vector<LoadedIndex>& out) {
  for (size_t d = 0; d < index.size(); ++d) {
    const int k = access_of_index(index[d]);
    if (k < 0 || !is_integer(nest.accesses[k].dtype) || (within && mentions(within, ExprOp::input, k))) continue;
    const NestAccess& from = nest.accesses[k];
    bool whole = true;
    for (size_t x = 0; x < from.index.size(); ++x) whole &= !is_component(from, x, plan);
    out.push_back({from, storage_of(from.array, plan), whole, plan.arrays[table].shape[d], index[d].op() == ExprOp::select});
  }
}

}  // namespace

std::vector<LoadedIndex> loaded_indices(const Nest& nest, std::span<const ops::IndexCheck> places, const Plan& plan) {
  std::vector<LoadedIndex> out;
  for (const NestAccess& a : nest.accesses) add_loaded_indices(a.index, a.within, a.array, nest, plan, out);
  for (const ops::IndexCheck& p : places) {
    const NestAccess& from = nest.accesses[static_cast<size_t>(p.access)];
    out.push_back({.load = from, .array = storage_of(from.array, plan), .extent = p.extent});
  }
  for (const NestOutput& o : nest.outputs) add_loaded_indices(o.index, o.within, o.array, nest, plan, out);
  return out;
}

Nest index_range_nest(const LoadedIndex& index, Plan& plan) {
  Nest nest;
  NestAccess access = index.load;
  for (size_t d = 0; d < access.index.size(); ++d) {
    if (is_component(index.load, d, plan)) continue;
    access.index[d] = Expr::axis(static_cast<int>(nest.axes.size()));
    nest.axes.push_back({ops::Axis::Kind::reduced, plan.arrays[access.array].shape[d]});
  }
  nest.accesses.push_back(std::move(access));
  const Expr element = Expr::input(0, nest.accesses[0].dtype);
  for (const ops::Combine combine : {ops::Combine::min, ops::Combine::max}) {
    plan.arrays.emplace_back().dtype = DType::i64;
    const Expr value = nest.accesses[0].dtype == DType::i64 ? element : Expr::make(ExprOp::cast, DType::i64, {element});
    nest.outputs.push_back(
        {static_cast<ArrayId>(plan.arrays.size() - 1), DType::i64, value, nest.axes.empty() ? ops::Combine::none : combine, {}, {}, {}});
  }
  return nest;
}

}  // namespace tenon::codegen
