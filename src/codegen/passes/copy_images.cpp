// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/copy_images.h"

#include <algorithm>
#include <map>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/padding.h"
#include "codegen/analysis/window_sum.h"

namespace tenon::codegen {

namespace {

/// Images with fewer channels are not copied: their channels do not fill a cache line.
constexpr int64_t kMinChannels = 8;
/// Images of depthwise windows with fewer elements are not copied: the sums take less time than a copy (Zen 5: 3 x 3 on 57 x 57 pixels of
/// 272 channels in half of it; 5 x 5 take longer).
constexpr int64_t kMinWindow = 16;

/// Whether the array is an image that is visible outside of the plan.
bool is_external_image(ArrayId a, const Plan& plan) {
  const Array& array = plan.arrays[a];
  return array.fixed_layout && !array.constant && array.shape.size() >= 3 && array.shape.size() <= 5;
}

/// Rewrites the groups in order. Each image is copied once.
class Copies {
 public:
  explicit Copies(Plan& plan) : plan_(plan) {}

  void run() {
    for (Group& g : plan_.groups) {
      const bool reads_channels_last = sums_channels_of_image(g) || sums_windows_of_image(g);
      if (reads_channels_last) read_copy(g);
      groups_.push_back(std::move(g));
      if (reads_channels_last) write_copy();
    }
    plan_.groups = std::move(groups_);
  }

 private:
  /// Whether the group is a convolution by constant kernels that sums over the channels of an image.
  bool sums_channels_of_image(const Group& g) const {
    if (!g.contraction() || !g.contraction()->batch.empty() || g.nests[0].accesses.size() != 2) return false;
    const Nest& nest = g.nests[0];
    const NestAccess &a = nest.accesses[0], &b = nest.accesses[1];
    const bool first = !plan_.arrays[a.array].constant;
    const NestAccess &data = first ? a : b, &kernels = first ? b : a;
    const ArrayId result = g.epilogue ? g.epilogue->map.outputs[0].array : nest.outputs[0].array;
    if (!plan_.arrays[kernels.array].constant || data.flat || data.index.size() < 3) return false;
    if (!is_external_image(data.array, plan_) && !is_external_image(result, plan_)) return false;
    if (data.index[1].op() != ExprOp::axis || nest.outputs[0].index.size() != data.index.size()) return false;
    const ops::Axis& channels = nest.axes[data.index[1]->index];
    return channels.kind == ops::Axis::Kind::reduced && channels.extent.is_number() && channels.extent.value() >= kMinChannels;
  }

  /// Whether the group would be a window sum (a depthwise convolution) if its images were channels-last.
  bool sums_windows_of_image(const Group& g) {
    if (g.kind() != GroupKind::nests || g.nests.size() != 1 || g.nests[0].accesses.size() != 2) return false;
    Nest nest = g.nests[0];
    NestOutput& out = nest.outputs[0];
    const auto is_image = [&](ArrayId a) { return plan_.arrays[a].shape.size() >= 3 && !plan_.arrays[a].constant; };
    const auto data = std::ranges::find_if(nest.accesses, [&](const NestAccess& a) { return is_image(a.array); });
    if (data == nest.accesses.end() || !is_image(out.array)) return false;
    if (!is_external_image(data->array, plan_) && !is_external_image(out.array, plan_)) return false;
    const size_t arrays = plan_.arrays.size();
    data->array = channels_last(data->array);
    out.array = channels_last(out.array);
    const auto sum = window_sum_of(nest, plan_);
    plan_.arrays.resize(arrays);
    if (!sum) return false;
    const auto at_least = [&](int axis, int64_t least) { return !nest.axes[axis].extent.less(least).value_or(true); };
    const int64_t rows = sum->rows ? nest.axes[sum->rows->kernel].extent.number().value_or(1) : 1;
    return at_least(sum->channels, kMinChannels) && at_least(sum->columns.kernel, ceil_div(kMinWindow, rows));
  }

  /// Adds a channels-last array with the shape of `like`.
  ArrayId channels_last(ArrayId like) {
    const Array& array = plan_.arrays[like];
    std::vector<int> order{0};
    for (int d = 2; d < static_cast<int>(array.shape.size()); ++d) order.push_back(d);
    order.push_back(1);
    return add_temporary(plan_, array.dtype, array.shape, order);
  }

  Group copy_group(ArrayId from, ArrayId to, const std::vector<ir::NodeId>& nodes) const {
    Nest nest;
    NestAccess read;
    NestOutput out;
    for (const Dim d : plan_.arrays[from].shape) {
      read.index.push_back(Expr::axis(static_cast<int>(nest.axes.size())));
      nest.axes.push_back({ops::Axis::Kind::parallel, d});
    }
    out.index = read.index;
    read.array = from;
    out.array = to;
    read.dtype = out.dtype = plan_.arrays[from].dtype;
    out.value = Expr::input(0, read.dtype);
    nest.accesses.push_back(std::move(read));
    nest.outputs.push_back(std::move(out));
    nest.nodes = nodes;
    Group g;
    g.as<LoopGroup>().auxiliary = true;
    g.nests.push_back(std::move(nest));
    return g;
  }

  /// Lets the group read channels-last copies of external images; adds groups that make the copies.
  void read_copy(Group& g) {
    for (NestAccess& access : g.nests[0].accesses) {
      if (!is_external_image(access.array, plan_)) continue;
      const auto [known, is_new] = copies_.try_emplace(access.array, -1);
      if (is_new) {
        known->second = channels_last(access.array);
        groups_.push_back(copy_group(access.array, known->second, g.nests[0].nodes));
      }
      access.array = known->second;
    }
  }

  /// Whether the output covers its whole array, each element once: each dimension has an axis of its own.
  bool writes_all(const NestOutput& out, const Nest& nest) const {
    if (out.flat || out.within) return false;
    const DimList& shape = plan_.arrays[out.array].shape;
    const int axes = static_cast<int>(nest.axes.size());
    int before = -1;
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto place = affine_of(out.index[d], axes);
      if (!place || !(place->offset == Dim(0))) return false;
      Dim walked = 1;
      for (int x = 0; x < axes; ++x) {
        if (place->coefficients[x] == Dim(0) || nest.axes[x].extent == Dim(1)) continue;
        if (x <= before || !(walked == Dim(1)) || !(place->coefficients[x] == Dim(1))) return false;
        walked = nest.axes[x].extent;
        before = x;
      }
      if (!(walked == shape[d])) return false;
    }
    return true;
  }

  /// Lets the last group write a channels-last image, which is copied to the result after it. Later convolutions read the image.
  void write_copy() {
    Group& g = groups_.back();
    Nest& writer = g.epilogue ? g.epilogue->map : g.nests[0];
    NestOutput& out = writer.outputs[0];
    if (!is_external_image(out.array, plan_) || !writes_all(out, writer)) return;
    const ArrayId external = out.array;
    out.array = channels_last(external);
    copies_.emplace(external, out.array);
    Group back = copy_group(out.array, external, g.nests[0].nodes);
    groups_.push_back(std::move(back));
  }

  Plan& plan_;
  std::vector<Group> groups_;
  std::map<ArrayId, ArrayId> copies_;
};

}  // namespace

void copy_images(Plan& plan) {
  Copies(plan).run();
  recompute_all_roles(plan);
}

}  // namespace tenon::codegen
