// SPDX-License-Identifier: Apache-2.0
#include "program/least_sizes.h"

#include <algorithm>

namespace tenon::program {

namespace {

/// Grows, or stays, with every symbol in it. "No" may mean "not known".
bool never_falls(Dim d) {
  if (d.is_number()) return true;
  const DimNode& n = *d.node();
  auto rises = [](Dim part) { return never_falls(part); };
  switch (n.kind) {
    case DimNode::Kind::symbol: return true;
    case DimNode::Kind::polynomial:
      return std::ranges::all_of(n.terms, [](const DimNode::Term& t) {
        const bool many = t.factors.size() > 1;
        return t.factors.empty() || (t.coefficient > 0 && std::ranges::all_of(t.factors, [many](const DimNode* f) {
                                       return never_falls(Dim::of(f)) && (!many || f->lower >= 0);
                                     }));
      });
    case DimNode::Kind::floor_div: return n.operands[1].is_number() && n.operands[1].value() > 0 && rises(n.operands[0]);
    case DimNode::Kind::min:
    case DimNode::Kind::max: return std::ranges::all_of(n.operands, rises);
    default: return false;
  }
}

bool speaks_of(Dim d, const DimNode& symbol) {
  bool it = false, others = false;
  if (!d.is_number()) each_symbol(d, [&](const DimNode& s) { (&s == &symbol ? it : others) = true; });
  return it && !others;
}

bool is_enough(Dim difference, int64_t size) {
  const Dim value = substitute(difference, [size](const DimNode&) { return Dim(size); });
  return value.is_number() && value.value() >= 0;
}

}  // namespace

int64_t least_size(const DimNode& symbol, std::span<const ir::Assumption> assumptions) {
  int64_t least = symbol.lower;
  for (const ir::Assumption& a : assumptions) {
    if (a.kind != ir::Assumption::Kind::at_least) continue;
    const Dim difference = a.a - a.b;
    if (!speaks_of(difference, symbol) || !never_falls(difference) || is_enough(difference, least)) continue;
    int64_t low = least, high = std::max<int64_t>(least, 1);  // low is too small
    while (high < symbol.upper && !is_enough(difference, high)) high = std::min(2 * high, symbol.upper);
    if (!is_enough(difference, high)) continue;  // never: the guard says so
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (is_enough(difference, middle) ? high : low) = middle;
    }
    least = high;
  }
  return least;
}

}  // namespace tenon::program
