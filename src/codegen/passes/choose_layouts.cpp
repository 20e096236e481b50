// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/choose_layouts.h"

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/element_numbers.h"
#include "codegen/analysis/readers.h"

namespace tenon::codegen {

namespace {

void each_nest(Plan& plan, const std::function<void(Group&, Nest&)>& f) {
  for (Group& g : plan.groups) {
    for (Nest& n : g.nests) f(g, n);
    if (g.epilogue) f(g, g.epilogue->map);
  }
}

/// Whether the array has the rank of an image: 3 to 5.
bool has_image_rank(const Array& a) { return a.shape.size() >= 3 && a.shape.size() <= 5; }

/// For each dimension, whether a window slides along it: its index has two axes (output position and kernel position).
std::vector<bool> windows_of(const NestAccess& a, const Nest& nest) {
  std::vector<bool> out;
  for (const Expr& e : a.index) {
    auto affine = affine_of(e, static_cast<int>(nest.axes.size()));
    int axes = 0;
    for (size_t x = 0; affine && x < nest.axes.size(); ++x)
      axes += !(affine->coefficients[x] == Dim(0)) && !(nest.axes[x].extent == Dim(1));
    out.push_back(axes > 1);
  }
  return out;
}

/// Whether windows of the access are contiguous parts of its last dimension that do not overlap (the heads in the rows of a product's
/// result), so that they are no windows over the positions of an image.
bool reads_parts_of_rows(const NestAccess& a, const Nest& nest, const std::vector<bool>& windows) {
  if (!windows.back() || std::ranges::count(windows, true) != 1) return false;
  const auto affine = affine_of(a.index.back(), static_cast<int>(nest.axes.size()));
  std::optional<Dim> stride, size;
  for (size_t x = 0; affine && x < nest.axes.size(); ++x) {
    const Dim& coefficient = affine->coefficients[x];
    if (coefficient == Dim(0) || nest.axes[x].extent == Dim(1)) continue;
    if (nest.axes[x].kind == ops::Axis::Kind::parallel) stride = coefficient;
    else if (coefficient == Dim(1)) size = nest.axes[x].extent;
  }
  return stride && size && *stride == *size;
}

bool reduces(const Nest& nest) {
  return std::any_of(nest.axes.begin(), nest.axes.end(), [](const ops::Axis& a) { return a.kind != ops::Axis::Kind::parallel; });
}

/// Detaches reshapes that nothing reads any more, because all readers read the original array: its memory order may then change.
void drop_unread_reshapes(Plan& plan) {
  const Readers readers(plan);
  std::vector<bool> is_visible(plan.arrays.size(), false);
  for (ArrayId a : plan.outputs)
    for (; a >= 0; a = plan.arrays[a].same_bytes) is_visible[a] = true;
  for (ArrayId a = 0; a < static_cast<ArrayId>(plan.arrays.size()); ++a)
    if (readers.of(a).empty() && !is_visible[a]) plan.arrays[a].same_bytes = -1;
}

/// For each array, whether its memory order must not change: operands of attention, reshaped, constant, or visible outside.
std::vector<bool> has_fixed_order(Plan& plan) {
  std::vector<bool> fixed(plan.arrays.size(), false);
  for (size_t a = 0; a < plan.arrays.size(); ++a) {
    const Array& array = plan.arrays[a];
    fixed[a] = fixed[a] || array.fixed_layout || array.constant || array.same_bytes >= 0 || !has_image_rank(array);
    if (array.same_bytes >= 0) fixed[array.same_bytes] = true;
  }
  each_nest(plan, [&](Group& g, Nest& n) {
    if (g.kind() != GroupKind::attention) return;
    for (const NestAccess& a : n.accesses) fixed[a.array] = true;
    for (const NestOutput& o : n.outputs) fixed[o.array] = true;
  });
  return fixed;
}

using Order = std::vector<int>;

/// The order with the channels innermost: the last dimension without a window, or the second where all but the first have one (a grouped
/// convolution).
Order channels_last(const std::vector<bool>& windows) {
  size_t channels = 1;
  for (size_t d = 1; d < windows.size(); ++d)
    if (!windows[d]) channels = d;
  Order order;
  for (size_t d = 0; d < windows.size(); ++d)
    if (d != channels) order.push_back(static_cast<int>(d));
  order.push_back(static_cast<int>(channels));
  return order;
}

/// The axis that runs over a dimension: the only axis in its index, or the parallel one of a window; -1: none.
int axis_of_dimension(const Expr& index, const Nest& nest) {
  auto affine = affine_of(index, static_cast<int>(nest.axes.size()));
  std::vector<int> all, parallel;
  for (int x = 0; affine && x < static_cast<int>(nest.axes.size()); ++x) {
    if (affine->coefficients[x] == Dim(0) || nest.axes[x].extent == Dim(1)) continue;
    all.push_back(x);
    if (nest.axes[x].kind == ops::Axis::Kind::parallel) parallel.push_back(x);
  }
  return all.size() == 1 ? all[0] : parallel.size() == 1 ? parallel[0] : -1;
}

/// The axis of each dimension. A dimension of size 1 without an axis gets a number of its own above all axes.
std::vector<int> axes_of(const std::vector<Expr>& index, const Nest& nest, const DimList& shape) {
  constexpr int kBeyondAxes = 1000;
  std::vector<int> out;
  for (size_t d = 0; d < index.size(); ++d)
    out.push_back(shape[d] == Dim(1) ? kBeyondAxes + static_cast<int>(d) : axis_of_dimension(index[d], nest));
  return out;
}

/// The memory order of an array with axes `to` (by dimension) in which axes come in the order that they have in an array with axes `from`
/// and order `order`; nullopt where a dimension of `to` has an axis that `from` lacks. In a contraction one dimension may lack it (the
/// channels that are summed or computed): it becomes the innermost.
std::optional<Order> order_after(const Order& order, const std::vector<int>& from, const std::vector<int>& to, bool contraction) {
  Order out;
  for (int d : order)
    for (size_t t = 0; t < to.size(); ++t)
      if (from[d] >= 0 && to[t] == from[d]) out.push_back(static_cast<int>(t));
  if (contraction && out.size() + 1 == to.size())
    for (int t = 0; t < static_cast<int>(to.size()); ++t)
      if (std::find(out.begin(), out.end(), t) == out.end()) {
        out.push_back(t);
        break;
      }
  return out.size() == to.size() ? std::optional(out) : std::nullopt;
}

/// An access or output by element number, and the axes of its nest.
struct NumberedPlace {
  Expr* flat;
  const std::vector<ops::Axis>* axes;
};

/// All accesses and outputs by element number, by array.
std::vector<std::vector<NumberedPlace>> numbered_places(Plan& plan) {
  std::vector<std::vector<NumberedPlace>> out(plan.arrays.size());
  each_nest(plan, [&](Group&, Nest& n) {
    for (NestAccess& a : n.accesses)
      if (a.flat) out[a.array].push_back({&a.flat, &n.axes});
    for (NestOutput& o : n.outputs)
      if (o.flat) out[o.array].push_back({&o.flat, &n.axes});
  });
  return out;
}

/// Whether the place is contiguous along the innermost axis.
bool is_contiguous(const Expr& flat, const std::vector<ops::Axis>& axes) {
  const auto place = affine_of(flat, static_cast<int>(axes.size()));
  size_t last = axes.size();
  while (last > 0 && axes[last - 1].extent == Dim(1)) --last;
  return place && last > 0 && place->coefficients[last - 1] == Dim(1);
}

/// Chooses the memory orders of arrays.
class Layouts {
 public:
  explicit Layouts(Plan& plan) : plan_(plan), fixed_(has_fixed_order(plan)), numbered_(numbered_places(plan)) {
    for (const Array& a : plan.arrays) order_.push_back(a.order);
  }

  void run() {
    each_nest(plan_, [&](Group&, Nest& n) { set_initial_orders(n); });
    for (bool changed = true; changed;) {
      changed = false;
      each_nest(plan_, [&](Group& g, Nest& n) {
        const bool contraction = g.kind() == GroupKind::contract && !(g.epilogue && &n == &g.epilogue->map);
        if (g.kind() == GroupKind::nests || g.kind() == GroupKind::contract) changed |= propagate(n, contraction);
      });
    }
    for (size_t a = 0; a < order_.size(); ++a) {
      if (order_[a] == plan_.arrays[a].order) continue;
      for (const NumberedPlace& n : numbered_[a]) *n.flat = *number_in(order_[a], static_cast<ArrayId>(a), n);
      plan_.arrays[a].order = order_[a];
      plan_.arrays[a].strides = strides_of(plan_.arrays[a]);
    }
  }

 private:
  /// Sets the order of an array that has none yet and may change. Whether it did.
  bool set_order(ArrayId a, Order order) {
    if (fixed_[a] || !order_[a].empty()) return false;
    // A place by element number that is contiguous must stay so in the new order.
    const auto stays_contiguous = [&](const NumberedPlace& n) {
      const auto flat = number_in(order, a, n);
      return flat && is_contiguous(*flat, *n.axes);
    };
    if (!std::ranges::all_of(numbered_[a], stays_contiguous)) return false;
    order_[a] = std::move(order);
    return true;
  }

  std::optional<Expr> number_in(const Order& order, ArrayId a, const NumberedPlace& n) const {
    return number_in_order(*n.flat, plan_.arrays[a].shape, order, *n.axes);
  }

  /// Sets the orders of images that a window slides over, and of the results.
  void set_initial_orders(const Nest& n) {
    if (!reduces(n)) return;
    if (n.accesses.size() == 1) return set_pooling_orders(n);
    for (const NestAccess& a : n.accesses) {
      const std::vector<bool> windows = windows_of(a, n);
      if (!has_image_rank(plan_.arrays[a.array]) || plan_.arrays[a.array].constant || std::count(windows.begin(), windows.end(), true) == 0)
        continue;
      set_order(a.array, channels_last(windows));
      set_result_orders(n, windows.size());
    }
  }

  /// Sets the order of a convolution's results, whose dimensions are batch, channels, positions.
  void set_result_orders(const Nest& n, size_t rank) {
    std::vector<bool> positions(rank, true);
    positions[0] = positions[1] = false;
    for (const NestOutput& o : n.outputs)
      if (plan_.arrays[o.array].shape.size() == rank) set_order(o.array, channels_last(positions));
  }

  /// Sets the orders of a pooling. Where its image stays row-major, so do its results: changing their order would take longer. A reduction
  /// over parts of rows has the same loops but reads no image: its data stay row-major too.
  void set_pooling_orders(const Nest& n) {
    const ArrayId data = n.accesses[0].array;
    const std::vector<bool> windows = windows_of(n.accesses[0], n);
    if (!has_image_rank(plan_.arrays[data]) || plan_.arrays[data].constant || std::ranges::count(windows, true) == 0) return;
    const bool parts = reads_parts_of_rows(n.accesses[0], n, windows);
    const bool stays_row_major = order_[data].empty() && (fixed_[data] || row_major_poolings_.contains(data) || parts);
    for (const NestOutput& o : n.outputs)
      if (stays_row_major) row_major_poolings_.insert(o.array);
    if (stays_row_major) return;
    // A separable pooling has a pass for each dimension: dimensions without a window in this pass are positions too.
    std::vector<bool> positions(windows.size(), true);
    positions[0] = positions[1] = false;
    const bool slides_positions = windows.size() > 2 && !windows[0] && !windows[1];
    set_order(data, channels_last(slides_positions ? positions : windows));
    set_result_orders(n, windows.size());
  }

  /// Gives the arrays of a loop the order of the first of them that has one. Whether an order was set.
  bool propagate(const Nest& n, bool contraction) {
    struct Side {
      ArrayId array;
      std::vector<int> axes;
    };
    std::vector<Side> sides;
    for (const NestAccess& a : n.accesses)
      if (!a.flat) sides.push_back({a.array, axes_of(a.index, n, plan_.arrays[a.array].shape)});
    for (const NestOutput& o : n.outputs)
      if (!o.flat) sides.push_back({o.array, axes_of(o.index, n, plan_.arrays[o.array].shape)});
    bool changed = false;
    for (const Side& from : sides) {
      if (order_[from.array].empty()) continue;
      for (const Side& to : sides)
        if (auto order = order_after(order_[from.array], from.axes, to.axes, contraction))
          changed |= set_order(to.array, std::move(*order));
    }
    return changed;
  }

  Plan& plan_;
  const std::vector<bool> fixed_;
  const std::vector<std::vector<NumberedPlace>> numbered_;
  std::vector<Order> order_;              ///< by array; empty: not chosen yet
  std::set<ArrayId> row_major_poolings_;  ///< results of poolings over row-major images
};

}  // namespace

void choose_layouts(Plan& plan) {
  drop_unread_reshapes(plan);
  Layouts(plan).run();
  recompute_all_roles(plan);
}

}  // namespace tenon::codegen
