// SPDX-License-Identifier: Apache-2.0
#include "codegen/plan/sizes_in_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/literal.h"

namespace tenon::codegen {

namespace {

constexpr int64_t kDefaultUpper = int64_t{1} << 40;

bool is_symbol(const DimNode* node) { return node->kind == DimNode::Kind::symbol; }

/// Collects the symbols, quotients, minima and other nodes that occur in the sizes of a plan.
class SizesInPlan {
 public:
  explicit SizesInPlan(const Plan& plan) {
    for (const Array& a : plan.arrays) {
      std::ranges::for_each(a.shape, [&](Dim d) { see(d); });
      see(a.units);
    }
    for (const IndexLimit& limit : plan.index_limits) see(limit.extent);
    for (const ir::Assumption& a : plan.assumptions) see(a.a), see(a.b);
    for (const DimNode* s : plan.outer_symbols) see(Dim::of(s));
    for (const Group& g : plan.groups) group(g);
  }

  /// In the order in which they were created.
  std::vector<const DimNode*> sorted() const {
    std::vector<const DimNode*> out(found_.begin(), found_.end());
    std::ranges::sort(out, {}, &DimNode::id);
    return out;
  }

 private:
  void see(Dim d) {
    const DimNode* node = d.node();
    if (!node || (node->kind != DimNode::Kind::polynomial && !found_.insert(node).second)) return;
    for (const DimNode::Term& term : node->terms)
      for (const DimNode* factor : term.factors) see(Dim::of(factor));
    std::ranges::for_each(node->operands, [&](Dim operand) { see(operand); });
  }

  void see(const Expr& e) {
    if (!e || !seen_.insert(e.get()).second) return;
    see(e->size);
    for (const Expr& arg : e.args()) see(arg);
  }

  void nest(const Nest& n) {
    for (const ops::Axis& axis : n.axes) see(axis.extent);
    for (const NestAccess& a : n.accesses) {
      std::ranges::for_each(a.index, [&](const Expr& e) { see(e); });
      see(a.flat), see(a.within), see(a.fill);
    }
    for (const NestOutput& o : n.outputs) {
      std::ranges::for_each(o.index, [&](const Expr& e) { see(e); });
      see(o.flat), see(o.within), see(o.value);
    }
  }

  void group(const Group& g) {
    if (g.region) see(g.region->units), see(g.region->parts);
    std::ranges::for_each(g.nests, [&](const Nest& n) { nest(n); });
    if (g.epilogue) nest(g.epilogue->map);
    if (const auto* attention = std::get_if<AttentionGroup>(&g.payload); attention && attention->longest_sequence)
      see(*attention->longest_sequence);
    if (const auto* check = std::get_if<CheckGroup>(&g.payload)) see(check->limit.extent);
    if (const auto* sizes = std::get_if<SizesGroup>(&g.payload))
      for (const DimNode* s : sizes->symbols) see(Dim::of(s));
  }

  std::unordered_set<const DimNode*> found_;
  std::unordered_set<const ExprNode*> seen_;
};

std::string symbol_text(const DimNode* symbol) {
  const std::string spelled = Dim::of(symbol).text();
  std::string out = spelled[0] == '"' ? ir::quoted(symbol->name) : spelled;
  if (symbol->lower != 0 || symbol->upper != kDefaultUpper) out += fmt::format(" in {} to {}", symbol->lower, symbol->upper);
  return out;
}

}  // namespace

std::vector<std::string> declarations_of(const Plan& plan) {
  const std::vector<const DimNode*> sizes = SizesInPlan(plan).sorted();
  const bool bounds =
      std::ranges::any_of(sizes, [](const DimNode* s) { return is_symbol(s) && (s->lower != 0 || s->upper != kDefaultUpper); });
  std::vector<std::string> out;
  if (sizes.size() < 2 && !bounds) return out;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const bool goes_on = k > 0 && is_symbol(sizes[k]) == is_symbol(sizes[k - 1]);
    const std::string text = is_symbol(sizes[k]) ? symbol_text(sizes[k]) : Dim::of(sizes[k]).text();
    if (goes_on && !is_symbol(sizes[k])) out.back().pop_back();
    if (goes_on) out.back() += ", " + text;
    else out.push_back((is_symbol(sizes[k]) ? "symbol " : "sizes [") + text);
    if (!is_symbol(sizes[k])) out.back() += "]";
  }
  return out;
}

}  // namespace tenon::codegen
