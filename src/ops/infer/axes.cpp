// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/axes.h"

#include <algorithm>

namespace tenon::ops {

Result<int> normalise_axis(const NodeView& view, int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  return refuse(view, Code::axis_out_of_range, "axis " + std::to_string(axis) + " is out of range")
      .expected(std::to_string(-rank) + " to " + std::to_string(rank - 1))
      .found(std::to_string(axis));
}

Result<std::vector<int>> normalise_axes(const NodeView& view, const Ints& axes, int rank, bool sorted) {
  std::vector<int> out;
  for (int64_t axis : axes) {
    const int a = TRY(normalise_axis(view, axis, rank));
    if (std::find(out.begin(), out.end(), a) != out.end()) {
      return refuse(view, Code::bad_attribute, "axis " + std::to_string(axis) + " is named twice");
    }
    out.push_back(a);
  }
  if (sorted) std::sort(out.begin(), out.end());
  return out;
}

Result<int> axis_attribute(const NodeView& view, int64_t otherwise) {
  if (!view.type(0).has_rank()) return 0;
  return normalise_axis(view, view.attributes->integer("axis", otherwise), view.rank(0));
}

}  // namespace tenon::ops
