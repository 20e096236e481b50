// SPDX-License-Identifier: Apache-2.0
#include "program/least_sizes.h"

#include <algorithm>

namespace tenon::program {

namespace {

/// Whether the size is known not to decrease in any of its symbols.
bool is_nondecreasing(Dim d) {
  if (d.is_number()) return true;
  const DimNode& n = *d.node();
  auto operand_is_nondecreasing = [](Dim part) { return is_nondecreasing(part); };
  switch (n.kind) {
    case DimNode::Kind::symbol: return true;
    case DimNode::Kind::polynomial:
      return std::ranges::all_of(n.terms, [](const DimNode::Term& t) {
        const bool is_product = t.factors.size() > 1;
        return t.factors.empty() || (t.coefficient > 0 && std::ranges::all_of(t.factors, [is_product](const DimNode* f) {
                                       return is_nondecreasing(Dim::of(f)) && (!is_product || f->lower >= 0);
                                     }));
      });
    case DimNode::Kind::floor_div: return n.operands[1].is_number() && n.operands[1].value() > 0 && operand_is_nondecreasing(n.operands[0]);
    case DimNode::Kind::min:
    case DimNode::Kind::max: return std::ranges::all_of(n.operands, operand_is_nondecreasing);
    default: return false;
  }
}

/// Whether that symbol, and no other, is in the size.
bool depends_only_on(Dim d, const DimNode& symbol) {
  bool has_symbol = false, has_others = false;
  if (!d.is_number()) each_symbol(d, [&](const DimNode& s) { (&s == &symbol ? has_symbol : has_others) = true; });
  return has_symbol && !has_others;
}

/// Whether `difference` is not negative where its symbol has that value.
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
    if (!depends_only_on(difference, symbol) || !is_nondecreasing(difference) || is_enough(difference, least)) continue;
    int64_t low = least, high = std::max<int64_t>(least, 1);  // always: `low` is not enough
    while (high < symbol.upper && !is_enough(difference, high)) high = std::min(2 * high, symbol.upper);
    if (!is_enough(difference, high)) continue;  // no size is enough: the guard of the program reports it
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (is_enough(difference, middle) ? high : low) = middle;
    }
    least = high;
  }
  return least;
}

}  // namespace tenon::program
