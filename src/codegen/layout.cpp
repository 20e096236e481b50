// SPDX-License-Identifier: Apache-2.0
#include "codegen/layout.h"

#include <algorithm>
#include <functional>

namespace tenon::codegen {

namespace {

void each_nest(Plan& plan, const std::function<void(Group&, Nest&)>& f) {
  for (Group& g : plan.groups) {
    for (Nest& n : g.nests) f(g, n);
    if (g.epilogue) f(g, g.epilogue->map);
  }
}

bool image(const Array& a) { return a.shape.size() >= 3 && a.shape.size() <= 5; }

/// Slides a window: an index with two axes in it (output position and kernel position).
bool has_window(const NestAccess& a, const Nest& nest) {
  return std::any_of(a.index.begin(), a.index.end(), [&](const Expr& e) {
    auto affine = affine_of(e, static_cast<int>(nest.axes.size()));
    return affine && std::count_if(affine->coefficients.begin(), affine->coefficients.end(), [](Dim c) { return !(c == Dim(0)); }) > 1;
  });
}

bool reduces(const Nest& nest) {
  return std::any_of(nest.axes.begin(), nest.axes.end(), [](const ops::Axis& a) { return a.kind != ops::Axis::Kind::parallel; });
}

/// Arrays whose memory order others rely on: read by element number, shared by a reshape, constant, or seen from outside.
std::vector<bool> pinned(Plan& plan) {
  std::vector<bool> fixed(plan.arrays.size(), false);
  for (size_t a = 0; a < plan.arrays.size(); ++a) {
    const Array& array = plan.arrays[a];
    fixed[a] = fixed[a] || array.fixed_layout || array.constant || array.same_bytes >= 0 || !image(array);
    if (array.same_bytes >= 0) fixed[array.same_bytes] = true;
  }
  each_nest(plan, [&](Group& g, Nest& n) {
    for (const NestAccess& a : n.accesses)
      if (a.flat || g.kind == GroupKind::attention) fixed[a.array] = true;
    for (const NestOutput& o : n.outputs)
      if (o.flat || g.kind == GroupKind::attention) fixed[o.array] = true;
  });
  return fixed;
}

}  // namespace

void choose_layouts(Plan& plan) {
  const std::vector<bool> fixed = pinned(plan);
  std::vector<bool> last(plan.arrays.size(), false);
  // Seeds: what slides a window, and what it writes.
  each_nest(plan, [&](Group&, Nest& n) {
    if (!reduces(n)) return;
    for (const NestAccess& a : n.accesses) {
      if (!image(plan.arrays[a.array]) || plan.arrays[a.array].constant || !has_window(a, n)) continue;
      last[a.array] = !fixed[a.array];
      for (const NestOutput& o : n.outputs)
        if (plan.arrays[o.array].shape.size() == plan.arrays[a.array].shape.size()) last[o.array] = !fixed[o.array];
    }
  });
  // Spread over maps of the same rank until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    each_nest(plan, [&](Group&, Nest& n) {
      std::vector<ArrayId> ids;
      for (const NestAccess& a : n.accesses) ids.push_back(a.array);
      for (const NestOutput& o : n.outputs) ids.push_back(o.array);
      for (ArrayId from : ids)
        for (ArrayId to : ids)
          if (last[from] && !last[to] && !fixed[to] && plan.arrays[to].shape.size() == plan.arrays[from].shape.size()) last[to] = changed = true;
    });
    for (Group& g : plan.groups) {
      if (!g.epilogue) continue;
      const ArrayId from = g.nests[0].outputs[0].array, to = g.epilogue->map.outputs[0].array;
      if (last[from] && !last[to] && !fixed[to]) last[to] = changed = true;
    }
  }
  for (size_t a = 0; a < plan.arrays.size(); ++a) {
    if (!last[a]) continue;
    Array& array = plan.arrays[a];
    array.order = {0};
    for (size_t d = 2; d < array.shape.size(); ++d) array.order.push_back(static_cast<int>(d));
    array.order.push_back(1);
    array.strides = strides_in_order(array.shape, array.order);
  }
}

}  // namespace tenon::codegen
