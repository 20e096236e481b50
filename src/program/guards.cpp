// SPDX-License-Identifier: Apache-2.0
#include "program/guards.h"

#include <algorithm>
#include <tuple>

namespace tenon::program {

void request_guard_sizes(std::span<const ir::Assumption> assumptions, SizeTable& sizes) {
  for (const ir::Assumption& a : assumptions) {
    if (!sizes.contains(a.a) || !sizes.contains(a.b)) continue;
    sizes.request(a.a);
    sizes.request(a.b);
  }
}

std::vector<runtime::Guard> guards_of(std::span<const ir::Assumption> assumptions, const SizeTable& sizes) {
  std::vector<runtime::Guard> out;
  for (const ir::Assumption& a : assumptions)
    if (sizes.contains(a.a) && sizes.contains(a.b))
      out.push_back({a.kind, sizes.slot(a.a), sizes.slot(a.b), a.where, a.what, a.a.text(), a.b.text()});
  sort_guards(out);
  return out;
}

void sort_guards(std::vector<runtime::Guard>& guards) {
  std::ranges::sort(guards, {}, [](const runtime::Guard& g) { return std::tuple(std::max(g.a, g.b), g.a, g.b, g.kind, g.where); });
}

}  // namespace tenon::program
