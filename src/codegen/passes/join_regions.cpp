// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/join_regions.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "codegen/analysis/fixed_strides.h"
#include "codegen/analysis/readers.h"
#include "codegen/analysis/region_axes.h"

namespace tenon::codegen {

namespace {

/// Builds a region by adding one group after the other.
class RegionBuilder {
 public:
  RegionBuilder(const Plan& plan, size_t first) : plan_(plan), first_(first) {
    const Group& g = plan.groups[first];
    if (!can_run_by_parts(g, plan)) return;
    axes_of_groups_.push_back(task_axes(g, plan));
    drop_small_task_axes(axes_of_groups_[0], g, plan);
    for (const int x : axes_of_groups_[0]) extents_.push_back(g.nests[0].axes[x].extent);
    if (divides_evenly(extents_) && add_weights(g)) record_writes(g, axes_of_groups_[0]);
    else extents_.clear();
  }

  /// The number of groups in the region.
  size_t size() const { return axes_of_groups_.size(); }

  /// Adds the group after the last one, where that is possible. Whether it did.
  bool try_join(const Group& g) {
    if (extents_.empty() || !can_run_by_parts(g, plan_)) return false;
    auto axes = axes_of(g);
    drop_small_task_axes(axes, g, plan_);
    if (axes.empty()) return false;
    const DimList extents(extents_.begin(), extents_.begin() + static_cast<ptrdiff_t>(axes.size()));
    if (!divides_evenly(extents) || !add_weights(g)) return false;
    extents_ = extents;
    for (std::vector<int>& m : axes_of_groups_) m.resize(axes.size());
    axes_of_groups_.push_back(axes);
    record_reads(g);
    record_writes(g, axes);
    return true;
  }

  /// Sets Group::region of the groups, and Array::units of arrays that only they access, where the region is worth it. shared: by array,
  /// whether its memory must not be divided.
  void set_regions(Plan& plan, const Readers& readers, const std::vector<bool>& shared) const {
    if (size() < 2) return;
    const Dim units = product(extents_), parts = images(extents_) * Dim(parts_of_image());
    if (parts_of_image() == 1) return;
    std::vector<ArrayId> local_arrays;
    for (const auto& [root, w] : written_)
      if (is_local(w, readers, shared)) local_arrays.push_back(w.array);
    if (!pays(local_arrays)) return;
    for (size_t k = 0; k < size(); ++k) plan.groups[first_ + k].region = Region{axes_of_groups_[k], units, parts, k > 0};
    for (const ArrayId a : local_arrays) plan.arrays[a].units = units;
  }

 private:
  /// An array that groups of the region write.
  struct Written {
    ArrayId array = -1;
    std::vector<int> dimensions;  ///< that the axes of the units run over, outermost first
    bool read = false;            ///< a later group of the region reads it
    bool always = true;           ///< all its reads and writes in the region are unconditional
    int writers = 0;              ///< groups of this region that write it
  };

  /// The size of a batch that is known only at run time; 1 where all extents are known.
  static Dim images(const DimList& extents) { return !extents.empty() && !extents[0].is_number() ? extents[0] : Dim(1); }
  /// The part of `all` that belongs to one image of such a batch; 0: unknown.
  static int64_t per_image(Dim all, const DimList& extents) {
    const auto one = exact_quotient(all, images(extents));
    return one ? one->number().value_or(0) : 0;
  }

  /// Whether two threads get about the same number of units.
  bool divides_evenly(const DimList& extents) const {
    const int64_t n = per_image(product(extents), extents);
    return n >= plan_.limits.row_parts && (n % 2 == 0 || n >= plan_.limits.min_odd_units);
  }

  /// The axes of the group that run over the dimensions by which earlier groups wrote their results, as many as all accesses agree on.
  std::vector<int> axes_of(const Group& g) const {
    std::vector<int> axes;
    size_t count = extents_.size();
    bool reads_region = false;
    for (const GroupPlace& p : places_of(g)) {
      const auto found = written_.find(storage_of(p.array, plan_));
      if (found == written_.end()) continue;
      const Written& w = found->second;
      if (p.array != w.array || p.index.empty()) return {};
      count = std::min(count, w.dimensions.size());
      for (size_t k = 0; k < count; ++k) {
        const int axis = axis_over_dimension(p, w.dimensions[k], extents_[k]);
        const bool is_new = k >= axes.size() && axis >= 0 && std::ranges::find(axes, axis) == axes.end();
        if (is_new) axes.push_back(axis);
        if (k >= axes.size() || axes[k] != axis) count = k;
      }
      reads_region = true;
    }
    if (!reads_region) return {};
    axes.resize(std::min(axes.size(), count));
    if (!is_single_loop(g, plan_)) axes.erase(std::ranges::mismatch(axes, task_axes(g, plan_)).in1, axes.end());
    return axes;
  }

  /// The axis of that extent that runs over the whole dimension; -1: there is none.
  int axis_over_dimension(const GroupPlace& p, int dimension, Dim extent) const {
    const int axis = axis_of_index(p.index[static_cast<size_t>(dimension)], *p.nest);
    const bool whole = plan_.arrays[p.array].shape[static_cast<size_t>(dimension)].known_equal(extent);
    return axis >= 0 && whole && p.nest->axes[axis].extent.known_equal(extent) ? axis : -1;
  }

  void record_writes(const Group& g, const std::vector<int>& axes) {
    for (const GroupPlace& p : places_of(g)) {
      if (!p.written) continue;
      const auto [at, is_new] = written_.try_emplace(storage_of(p.array, plan_), Written{p.array, {}});
      std::vector<int> by;
      for (size_t k = 0; k < axes.size() && plan_.arrays[p.array].halo.empty(); ++k) {
        int d = 0;
        const int dimensions = static_cast<int>(p.index.size());
        while (d < dimensions && axis_over_dimension(p, d, extents_[k]) != axes[k]) ++d;
        if (d == dimensions) break;
        by.push_back(d);
      }
      std::vector<int>& known = at->second.dimensions;
      at->second.always &= p.always;
      ++at->second.writers;
      if (is_new) known = by;
      else known.erase(std::ranges::mismatch(known, by).in1, known.end());
    }
  }

  void record_reads(const Group& g) {
    for (const GroupPlace& p : places_of(g)) {
      const auto found = written_.find(storage_of(p.array, plan_));
      if (found == written_.end() || p.written) continue;
      found->second.read = true;
      found->second.always &= p.always;
    }
  }

  /// Whether only this region accesses the array, and the dimensions that number the units are its outermost ones in memory.
  bool is_local(const Written& w, const Readers& readers, const std::vector<bool>& shared) const {
    const std::set<size_t>& by = readers.of(w.array);
    const bool inside = w.read && *by.begin() >= first_ && *by.rbegin() < first_ + size() && readers.writers(w.array) == w.writers;
    return inside && w.always && !shared[static_cast<size_t>(w.array)] && is_stored_by_units(w);
  }

  bool is_stored_by_units(const Written& w) const {
    const Array& array = plan_.arrays[w.array];
    std::vector<int> order = array.order;
    for (int d = 0; order.size() < array.shape.size(); ++d) order.push_back(d);
    std::erase_if(order, [&](int d) { return array.shape[static_cast<size_t>(d)] == Dim(1); });
    return w.dimensions.size() >= extents_.size() && order.size() > extents_.size() &&
           std::equal(w.dimensions.begin(), w.dimensions.begin() + static_cast<ptrdiff_t>(extents_.size()), order.begin());
  }

  /// Counts the group's weights, all of which each part reads from the second-level cache. false: they are too many.
  bool add_weights(const Group& g) {
    if (g.kind() != GroupKind::contract) return true;
    const Contraction& c = *g.contraction();
    if (c.activations != Activations::f32) return false;  // its rows are rounded between it and the group before
    const auto weights =
        (extent_of(c.batch) * extent_of(c.depth) * extent_of(c.lanes) * Dim(bits_of(c.lanes_operand.value.dtype()) / 8)).number();
    if (!c.packed || !weights || weights_ + *weights > plan_.limits.max_region_weights) return false;
    weights_ += *weights;
    rows_ = std::min(rows_, per_image(extent_of(c.rows), extents_));
    return true;
  }

  int64_t bytes_of_image(ArrayId a) const {
    const Array& array = plan_.arrays[a];
    return per_image(product(stored_shape(array)) * Dim(bits_of(array.dtype)), extents_) / 8;
  }

  /// Whether the region is faster than its groups: parts are larger than tasks and split less evenly among threads, so that much of the
  /// traffic must stay in a cache.
  bool pays(const std::vector<ArrayId>& local_arrays) const {
    if (plan_.limits.max_region_traffic == 0) return true;
    std::set<ArrayId> accessed;
    for (size_t k = 0; k < size(); ++k)
      for (const GroupPlace& p : places_of(plan_.groups[first_ + k]))
        if (!plan_.arrays[p.array].constant) accessed.insert(storage_of(p.array, plan_));
    int64_t local_bytes = 0, all_bytes = 0;
    for (const ArrayId a : local_arrays) local_bytes += bytes_of_image(a);
    for (const ArrayId a : accessed) all_bytes += bytes_of_image(a);
    return static_cast<double>(all_bytes) <= static_cast<double>(local_bytes) * static_cast<double>(plan_.limits.max_region_traffic);
  }

  /// The number of parts of an image: enough that the results of a part stay in a cache until they are read, few enough that a part fills
  /// the register tiles, and of equal size where possible. 1: there are too few rows.
  int64_t parts_of_image() const {
    int64_t bytes = 0;
    for (const auto& [root, w] : written_)
      if (w.read) bytes += bytes_of_image(w.array);
    const int64_t units = per_image(product(extents_), extents_),
                  max_parts = std::min(rows_ / plan_.limits.min_region_rows, units) / plan_.limits.row_parts * plan_.limits.row_parts;
    const int64_t min_parts =
        std::min(round_up(std::max<int64_t>(1, ceil_div(bytes, plan_.limits.max_region_bytes)), plan_.limits.row_parts), max_parts);
    for (int64_t equal = min_parts; equal > 0 && equal <= max_parts; equal += plan_.limits.row_parts)
      if (units % equal == 0) return equal;
    return std::max<int64_t>(1, min_parts);
  }

  const Plan& plan_;
  size_t first_ = 0;
  std::vector<std::vector<int>> axes_of_groups_;  ///< by group: its axes that number the units
  DimList extents_;                               ///< of those axes; empty: no group can join
  std::unordered_map<ArrayId, Written> written_;
  int64_t weights_ = 0;       ///< bytes of the weights of all products
  int64_t rows_ = INT64_MAX;  ///< rows of an image in the product with the fewest
};

}  // namespace

void join_regions(Plan& plan) {
  const Readers readers(plan);
  const std::vector<bool> shared = has_fixed_strides(plan);  // including those whose strides other code relies on
  for (size_t g = 0; g < plan.groups.size();) {
    RegionBuilder region(plan, g);
    size_t next = g + 1;
    while (next < plan.groups.size() && region.try_join(plan.groups[next])) ++next;
    region.set_regions(plan, readers, shared);
    g = next;
  }
}

}  // namespace tenon::codegen
