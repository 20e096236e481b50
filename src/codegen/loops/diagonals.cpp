// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/diagonals.h"

#include <algorithm>

#include "codegen/loops/collect.h"
#include "codegen/loops/diagonal_shift.h"
#include "codegen/loops/inline.h"
#include "codegen/loops/operands.h"
#include "codegen/loops/readers.h"

namespace tenon::codegen {

namespace {

template <class F>
void each_expression(Nest& nest, F f) {
  for (NestOutput& o : nest.outputs) f(o.value);
  for (NestAccess& a : nest.accesses) {
    for (Expr& e : a.index) f(e);
    for (Expr* e : {&a.flat, &a.within, &a.fill})
      if (*e) f(*e);
  }
}

/// A load at the number of an axis itself: most maps have one for each axis.
bool walks(const Nest& map, int axis) {
  const auto plain = [&](const Expr& e) { return e.op() == ExprOp::axis && e->index == axis; };
  return std::ranges::any_of(map.accesses, [&](const NestAccess& a) { return std::ranges::any_of(a.index, plain); });
}

/// The map with its column axis standing for column - row + rows, where nothing depends on the row then; nullopt where something does.
std::optional<Nest> along(const Nest& map, Diagonal d) {
  if (walks(map, d.row) || walks(map, d.column)) return std::nullopt;
  Nest out = map;
  DiagonalShift shift(d, map.axes[d.row].extent);
  bool rows = false, columns = false, fits = true;
  each_expression(out, [&](Expr& e) {
    if (!fits) return;
    rows |= mentions(e, ExprOp::axis, d.row);
    columns |= mentions(e, ExprOp::axis, d.column);
    e = shift(e);
    fits = static_cast<bool>(e);
  });
  return fits && rows && columns ? std::optional(std::move(out)) : std::nullopt;
}

/// As many places as rows and columns together: one more than there are diagonals, so that no size is negative.
DimList band_shape(DimList shape, Diagonal d) {
  shape[d.column] = shape[d.column] + shape[d.row];
  shape.erase(shape.begin() + d.row);
  return shape;
}

/// The nest that computes each diagonal once, into `band`; place `rows` is the main one.
Nest one_a_diagonal(Nest shifted, Diagonal d, ArrayId band) {
  rewrite(shifted, [&](const ExprNode& n) { return n.op == ExprOp::axis && n.index > d.row ? Expr::axis(n.index - 1) : Expr(); });
  shifted.axes[d.column].extent = shifted.axes[d.column].extent + shifted.axes[d.row].extent;
  shifted.axes.erase(shifted.axes.begin() + d.row);
  NestOutput& o = shifted.outputs[0];
  o.array = band;
  o.index.clear();
  for (size_t k = 0; k < shifted.axes.size(); ++k) o.index.push_back(Expr::axis(static_cast<int>(k)));
  return shifted;
}

class Bands {
 public:
  explicit Bands(Plan& plan) : plan_(plan), readers_(plan) {}

  void run() {
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      const Group& group = plan_.groups[g];
      if (group.kind != GroupKind::nests || group.nests.size() != 1 || !is_map(group.nests[0])) continue;
      if (const auto d = diagonal_of(group.nests[0]); d && may_change(group.nests[0].outputs[0].array)) store(g, *d);
    }
  }

 private:
  /// All readers name the elements by their index.
  bool may_change(ArrayId made) const {
    if (readers_.is_output(made) || readers_.writers(made) != 1 || plan_.arrays[made].fixed_layout) return false;
    return std::ranges::all_of(readers_.of(made), [&](size_t g) { return reads_by_index(plan_.groups[g], made); });
  }

  bool reads_by_index(const Group& group, ArrayId made) const {
    if (group.kind == GroupKind::contract && reads(group.nests[0], made)) return false;
    if (!group.inputs.empty()) return false;
    const auto fits = [&](const Nest& nest) {
      return std::ranges::all_of(nest.accesses, [&](const NestAccess& a) {
        if (a.array == made) return !a.flat;
        for (ArrayId same = a.array; same >= 0; same = plan_.arrays[same].same_bytes)
          if (same == made) return false;
        return true;
      });
    };
    return std::ranges::all_of(group.nests, fits) && (!group.epilogue || fits(group.epilogue->map));
  }

  static bool reads(const Nest& nest, ArrayId made) {
    return std::ranges::any_of(nest.accesses, [&](const NestAccess& a) { return a.array == made; });
  }

  void store(size_t g, Diagonal d) {
    const Nest map = plan_.groups[g].nests[0];
    const ArrayId made = map.outputs[0].array;
    const ArrayId band = add_temporary(plan_, plan_.arrays[made].dtype, band_shape(plan_.arrays[made].shape, d));
    const Expr rows = Expr::dim(map.axes[d.row].extent);
    plan_.groups[g].nests[0] = one_a_diagonal(*along(map, d), d, band);
    for (size_t reader : readers_.of(made)) {
      Group& group = plan_.groups[reader];
      for (Nest& n : group.nests) redirect(n, made, band, d, rows);
      if (group.epilogue) redirect(group.epilogue->map, made, band, d, rows);
    }
  }

  static void redirect(Nest& nest, ArrayId made, ArrayId band, Diagonal d, const Expr& rows) {
    for (NestAccess& a : nest.accesses) {
      if (a.array != made) continue;
      a.array = band;
      a.index[d.column] = simplify(a.index[d.column] - a.index[d.row] + rows);
      a.index.erase(a.index.begin() + d.row);
    }
  }

  Plan& plan_;
  const Readers readers_;
};

}  // namespace

std::optional<Diagonal> diagonal_of(const Nest& map) {
  if (!is_map(map)) return std::nullopt;
  const int axes = static_cast<int>(map.axes.size());
  for (int column = axes - 1; column > 0; --column)
    for (int row = column - 1; row >= 0; --row) {
      if (map.axes[row].extent == Dim(1) || map.axes[column].extent == Dim(1)) continue;
      if (along(map, {row, column})) return Diagonal{row, column};
    }
  return std::nullopt;
}

void store_diagonals(Plan& plan) { Bands(plan).run(); }

}  // namespace tenon::codegen
