// SPDX-License-Identifier: Apache-2.0
#include "backend/known_defects.h"

#include <algorithm>

namespace tenon::backend {

std::string_view known_defect_in(std::span<const KnownDefect> defects, const ir::NodeView& view) {
  for (const KnownDefect& d : defects)
    if (d.op == view.op->name && d.domain == view.op->domain && d.applies(view)) return d.why;
  for (const ir::Graph* body : view.bodies)
    for (ir::NodeId n : body->nodes())
      if (const std::string_view why = known_defect_in(defects, body->view(n)); !why.empty()) return why;
  return {};
}

bool may_have_several_elements(const ir::NodeView& view, size_t input) {
  if (!view.has(input)) return false;
  const ir::Type& type = view.type(input);
  return !type.has_rank() || std::ranges::any_of(*type.shape, [](Dim d) { return d != Dim(1); });
}

bool splits_unknown_size(const ir::NodeView& view) {
  if (!view.attributes->has("num_outputs") || !view.type(0).has_rank()) return false;
  const int64_t axis = view.attributes->integer("axis", 0), rank = view.rank(0);
  return !(*view.type(0).shape)[static_cast<size_t>(axis < 0 ? axis + rank : axis)].is_number();
}

}  // namespace tenon::backend
