// SPDX-License-Identifier: Apache-2.0
#include "backend/places.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::backend {

bool has_places(const ir::NodeView& view) {
  std::unordered_set<const DimNode*> known;
  const auto learn = [&](Dim d) { each_symbol(d, [&](const DimNode& s) { known.insert(&s); }); };
  for (const ir::Operand& o : view.inputs) {
    if (o.type.shape) std::ranges::for_each(*o.type.shape, learn);
    if (o.data) std::ranges::for_each(*o.data, learn);
  }
  const auto follows = [&](Dim d) {
    bool all = true;
    each_symbol(d, [&](const DimNode& s) { all &= known.contains(&s); });
    return all;
  };
  return std::ranges::all_of(view.outputs, [&](const ir::Type& t) {
    return t.dtype == DType::none || (t.is_tensor() && t.has_rank() && bits_of(t.dtype) > 0 && std::ranges::all_of(*t.shape, follows));
  });
}

}  // namespace tenon::backend
