// SPDX-License-Identifier: Apache-2.0
#include "backends/plugin/ranges.h"

#include <algorithm>

#include "plugin/struct_versions.h"

namespace tenon::backends {

namespace {

constexpr int64_t kNoLimit = int64_t{1} << 40;  ///< the upper bound of a symbol of unknown range

/// The upper bound of the size; -1: unknown.
int64_t most_of(Dim d) { return d.upper() >= kNoLimit ? -1 : d.upper(); }

}  // namespace

Ranges::Ranges(const ir::NodeView& view, const plugin::Layouts& layouts)
    : least_(view.explicit_inputs), usual_(view.explicit_inputs), most_(view.explicit_inputs), ranges_(plugin::blank<tenon_ranges>()) {
  for (size_t k = 0; k < view.explicit_inputs; ++k) {
    if (!view.has(k) || !view.type(k).has_rank()) continue;
    Sizes least, usual, most;
    for (Dim d : *view.type(k).shape) {
      least.push_back(std::max<int64_t>(0, d.lower()));
      most.push_back(most_of(d));
      usual.push_back(most.back() == 0 ? 0 : std::max<int64_t>(1, least.back()));
    }
    least_.set_type(k, view.type(k).dtype, least);
    usual_.set_type(k, view.type(k).dtype, usual);
    most_.set_type(k, view.type(k).dtype, most);
    for (plugin::TensorViews* views : {&least_, &usual_, &most_}) views->set_layout(k, layouts[k], nullptr);
  }
  ranges_.operand_count = least_.size();
  ranges_.least = least_.data();
  ranges_.usual = usual_.data();
  ranges_.most = most_.data();
}

}  // namespace tenon::backends
