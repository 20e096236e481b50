// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/store_diagonals.h"

#include <algorithm>

#include "codegen/analysis/diagonal.h"
#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/padding.h"
#include "codegen/analysis/readers.h"

namespace tenon::codegen {

namespace {

/// The shape in which one dimension of rows + columns elements replaces the two dimensions of the diagonals. That is one more than there
/// are diagonals, so that no size is negative.
DimList band_shape(DimList shape, Diagonal d) {
  shape[d.column] = shape[d.column] + shape[d.row];
  shape.erase(shape.begin() + d.row);
  return shape;
}

/// The nest that computes the element of each diagonal into `band`, in which the main diagonal has the number of rows as its index.
Nest nest_over_diagonals(Nest shifted, Diagonal d, ArrayId band) {
  rewrite(shifted, [&](const ExprNode& n) { return n.op == ExprOp::axis && n.index > d.row ? Expr::axis(n.index - 1) : Expr(); });
  shifted.axes[d.column].extent = shifted.axes[d.column].extent + shifted.axes[d.row].extent;
  shifted.axes.erase(shifted.axes.begin() + d.row);
  NestOutput& o = shifted.outputs[0];
  o.array = band;
  o.index.clear();
  for (size_t k = 0; k < shifted.axes.size(); ++k) o.index.push_back(Expr::axis(static_cast<int>(k)));
  return shifted;
}

/// Replaces arrays with equal elements along diagonals by arrays of one element for each diagonal (bands).
class DiagonalStore {
 public:
  explicit DiagonalStore(Plan& plan) : plan_(plan), readers_(plan) {}

  void run() {
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      const Group& group = plan_.groups[g];
      if (group.kind() != GroupKind::nests || group.nests.size() != 1 || !is_map(group.nests[0])) continue;
      if (const auto d = diagonal_of(group.nests[0]); d && may_change_shape(group.nests[0].outputs[0].array)) store(g, *d);
    }
  }

 private:
  /// Whether the array may change its shape: all its readers read it by index.
  bool may_change_shape(ArrayId original) const {
    if (readers_.is_output(original) || readers_.writers(original) != 1 || plan_.arrays[original].fixed_layout) return false;
    return std::ranges::all_of(readers_.of(original), [&](size_t g) { return reads_by_index(plan_.groups[g], original); });
  }

  bool reads_by_index(const Group& group, ArrayId original) const {
    if (group.kind() == GroupKind::contract && reads(group.nests[0], original)) return false;
    if (!group.inputs.empty()) return false;
    const auto fits = [&](const Nest& nest) {
      return std::ranges::all_of(nest.accesses, [&](const NestAccess& a) {
        if (a.array == original) return !a.flat;
        for (ArrayId same = a.array; same >= 0; same = plan_.arrays[same].same_bytes)
          if (same == original) return false;
        return true;
      });
    };
    return std::ranges::all_of(group.nests, fits) && (!group.epilogue || fits(group.epilogue->map));
  }

  static bool reads(const Nest& nest, ArrayId original) {
    return std::ranges::any_of(nest.accesses, [&](const NestAccess& a) { return a.array == original; });
  }

  /// Replaces the result of group g by a band, in the group and in all readers.
  void store(size_t g, Diagonal d) {
    const Nest map = plan_.groups[g].nests[0];
    const ArrayId original = map.outputs[0].array;
    const ArrayId band = add_temporary(plan_, plan_.arrays[original].dtype, band_shape(plan_.arrays[original].shape, d));
    const Expr rows = Expr::dim(map.axes[d.row].extent);
    plan_.groups[g].nests[0] = nest_over_diagonals(*shift_to_diagonals(map, d), d, band);
    for (size_t reader : readers_.of(original)) {
      Group& group = plan_.groups[reader];
      for (Nest& n : group.nests) redirect(n, original, band, d, rows);
      if (group.epilogue) redirect(group.epilogue->map, original, band, d, rows);
    }
  }

  /// Lets the nest read the band in place of the original array.
  static void redirect(Nest& nest, ArrayId original, ArrayId band, Diagonal d, const Expr& rows) {
    for (NestAccess& a : nest.accesses) {
      if (a.array != original) continue;
      a.array = band;
      a.index[d.column] = simplify(a.index[d.column] - a.index[d.row] + rows);
      a.index.erase(a.index.begin() + d.row);
    }
  }

  Plan& plan_;
  const Readers readers_;
};

}  // namespace

void store_diagonals(Plan& plan) { DiagonalStore(plan).run(); }

}  // namespace tenon::codegen
