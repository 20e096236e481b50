// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/inliner.h"

#include <algorithm>

#include "codegen/analysis/attention.h"
#include "codegen/analysis/contraction.h"
#include "codegen/analysis/diagonal.h"
#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/readers.h"
#include "codegen/cost/contract_tiling.h"

namespace tenon::codegen {

namespace {

/// Whether the nest reads each element of the accessed array at most once.
bool reads_once(const NestAccess& a, const Nest& nest, const Plan& plan) {
  auto affine = affine_of(a.flat ? a.flat : flatten(a.index, row_major(plan.arrays[a.array].shape)), static_cast<int>(nest.axes.size()));
  if (!affine) return false;
  for (size_t x = 0; x < nest.axes.size(); ++x)
    if (affine->coefficients[x] == Dim(0) && !(nest.axes[x].extent == Dim(1))) return false;
  return true;
}

class Inliner {
 public:
  explicit Inliner(Plan& plan) : plan_(plan), readers_(plan) {}

  void run() {
    for (size_t g = 0; g < plan_.groups.size(); ++g)
      if (is_single_map(g)) inline_group(g);
    drop_empty();
  }

  /// Inlines positions (maps without operands) into attention, so that visible_keys() finds the keys that its mask hides. Other readers
  /// keep reading the stored positions.
  void inline_positions() {
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      if (!is_single_map(g) || !plan_.groups[g].nests[0].accesses.empty()) continue;
      const Nest map = plan_.groups[g].nests[0];
      const ArrayId result = map.outputs[0].array;
      if (readers_.writers(result) != 1) continue;
      const auto reader_groups = readers_.of(result);
      for (size_t u : reader_groups) {
        Group after = plan_.groups[u];
        if (after.kind() != GroupKind::attention || !rewrite_group(map, result, plan_.groups[u], after, 1)) continue;
        readers_.remove(u);
        plan_.groups[u] = std::move(after);
        readers_.add(u);
      }
    }
  }

  /// Inlines large masks into attention, from the last group to the first: the group that computes a mask then directly precedes attention.
  void inline_large_masks() {
    is_for_memory_ = true;
    for (size_t g = plan_.groups.size(); g-- > 0;)
      if (is_single_map(g) && is_large_mask(plan_.groups[g].nests[0].outputs[0].array)) inline_group(g);
    drop_empty();
  }

 private:
  bool is_single_map(size_t g) const {
    const Group& group = plan_.groups[g];
    return group.kind() == GroupKind::nests && group.nests.size() == 1 && is_map(group.nests[0]);
  }

  void drop_empty() {
    std::erase_if(plan_.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
  }

  /// Whether attention reads the array and it has an element for each pair of query and key.
  bool is_large_mask(ArrayId array) const {
    const Dim count = product(plan_.arrays[array].shape);
    if (count.is_number() && count.value() <= plan_.limits.small_mask_elements) return false;
    const auto pairs = [&](const NestAccess& a) {
      if (a.array != array) return false;
      const auto dims = [&](int axis) {
        return std::ranges::find_if(a.index, [&](const Expr& e) { return mentions(e, ExprOp::axis, axis); });
      };
      return a.flat || (dims(kQuery) != dims(kKey) && dims(kQuery) != a.index.end() && dims(kKey) != a.index.end());
    };
    return std::ranges::any_of(readers_.of(array), [&](size_t g) {
      return plan_.groups[g].kind() == GroupKind::attention && std::ranges::any_of(plan_.groups[g].nests[0].accesses, pairs);
    });
  }

  /// Whether evaluating the map at this access costs no more than storing it saves.
  bool is_worth_inlining(const Nest& map, const Group& group, const Nest& reader, size_t access, int accesses_in_all) const {
    const bool is_operand = (group.kind() == GroupKind::contract || group.kind() == GroupKind::attention) && &reader == &group.nests[0];
    if (is_operand) {
      // A contraction reads its operands many times: plain views only; attention's mask (access 3 and on) where cheap in all.
      return (is_view(map) && !map.accesses[0].flat) || (group.kind() == GroupKind::attention && access >= 3);
    }
    if (is_view(map)) return true;
    if (accesses_in_all == 1 && reads_once(reader.accesses[access], reader, plan_)) return true;
    const BodyCost cost = cost_of(map);
    return cost.transcendental == 0 && cost.arithmetic <= 3 && cost.loads <= 2 && !cost.indirect;
  }

  /// Whether the map casts keys or values of f16 or bf16 (from a state) to f32, which the attention kernel also does when it loads them.
  bool is_widened_view(const Nest& map) const {
    const NestOutput& result = map.outputs[0];
    if (!plan_.sums_in_order || map.accesses.size() != 1 || result.value.op() != ExprOp::cast || result.dtype != DType::f32) return false;
    const NestAccess& read = map.accesses[0];
    const Expr from = result.value.args()[0];
    return from.op() == ExprOp::input && from->index == 0 && (read.dtype == DType::f16 || read.dtype == DType::bf16) && !read.within &&
           !read.flat;
  }

  static Nest without_cast(Nest map) {
    map.outputs[0].dtype = map.accesses[0].dtype;
    map.outputs[0].value = Expr::input(0, map.accesses[0].dtype);
    return map;
  }

  /// A group as it is after inlining.
  struct ChangedGroup {
    size_t group;
    Group after;
  };

  /// Inlines the group into all its readers, or changes nothing.
  bool inline_group(size_t g) {
    const ArrayId result = plan_.groups[g].nests[0].outputs[0].array;
    const size_t count = readers_.of(result).size();
    if (count == 0 || count > plan_.limits.max_readers || readers_.is_output(result) || readers_.writers(result) != 1) return false;
    const Nest map = plan_.groups[g].nests[0];
    const auto reader_groups = readers_.of(result);
    int accesses = 0;
    for (size_t u : reader_groups) accesses += count_accesses(plan_.groups[u], result);
    std::vector<ChangedGroup> changes;
    const bool is_stored_by_diagonal = !is_for_memory_ && is_better_as_diagonals(map);
    for (size_t u : reader_groups) {
      Group after = plan_.groups[u];
      if (!rewrite_group(map, result, plan_.groups[u], after, accesses) ||
          (is_stored_by_diagonal && !is_better_as_diagonals(after.nests[0])))
        return false;
      changes.push_back({u, std::move(after)});
    }
    readers_.remove(g);
    plan_.groups[g].nests.clear();
    for (ChangedGroup& c : changes) {
      readers_.remove(c.group);
      plan_.groups[c.group] = std::move(c.after);
      readers_.add(c.group);
    }
    return true;
  }

  int count_accesses(const Group& group, ArrayId result) const {
    int n = 0;
    auto count = [&](const Nest& nest) {
      for (const NestAccess& a : nest.accesses) n += a.array == result;
    };
    for (const Nest& nest : group.nests) count(nest);
    if (group.epilogue) count(group.epilogue->map);
    return n;
  }

  /// Whether the map is better stored as one element a diagonal (store_diagonals) than computed for each element.
  static bool is_better_as_diagonals(const Nest& map) {
    const auto computes_much = [&] {
      const BodyCost cost = cost_of(map);
      return cost.transcendental > 0 || cost.arithmetic > 3;
    };
    return !is_view(map) && (!map.accesses.empty() || computes_much()) && diagonal_of(map);
  }

  /// Whether places of query, key and value are affine, and always inside their arrays.
  bool operands_are_affine(const Nest& attention) const {
    return std::all_of(attention.accesses.begin(), attention.accesses.begin() + 3, [&](const NestAccess& a) {
      return !a.within && affine_of(a.flat ? a.flat : flatten(a.index, row_major(plan_.arrays[a.array].shape)), kAttentionAxes);
    });
  }

  /// Whether attention with the inlined mask evaluates no more than a score may take.
  bool mask_is_cheap(const Nest& before, const Nest& after) const {
    const BodyCost own = cost_of(before), cost = cost_of(after);
    if (is_for_memory_)
      return cost.arithmetic + plan_.limits.transcendental_work * cost.transcendental <= plan_.limits.max_mask_work_for_memory;
    return cost.transcendental == own.transcendental && cost.arithmetic <= plan_.limits.max_mask_work && !cost.indirect;
  }

  /// Inlines the map into each access of `result` in `after`, a copy of group `before`. False: an access cannot or should not be inlined.
  bool rewrite_group(const Nest& map, ArrayId result, const Group& before, Group& after, int accesses) const {
    for (ArrayId a : before.inputs)
      for (; a >= 0; a = plan_.arrays[a].same_bytes)
        if (a == result) return false;
    for (size_t n = 0; n < after.nests.size(); ++n)
      if (!rewrite_nest(map, result, before, before.nests[n], after.nests[n], accesses, nullptr)) return false;
    if (after.kind() == GroupKind::attention && !(operands_are_affine(after.nests[0]) && mask_is_cheap(before.nests[0], after.nests[0])))
      return false;
    if (after.epilogue &&
        !rewrite_nest(map, result, before, before.epilogue->map, after.epilogue->map, accesses, &after.epilogue->accumulator))
      return false;
    return after.kind() != GroupKind::contract || stays_on_tiles(before, after);
  }

  /// Whether `after` still runs on register tiles if `before` does: that saves more time than a stored view costs.
  bool stays_on_tiles(const Group& before, Group& after) const {
    if (!recompute_roles(after, plan_) || !same_operands(*before.contraction(), *after.contraction())) return false;
    return tiling_of(after, plan_) || !tiling_of(before, plan_);
  }

  /// The same for one nest. accumulator: of an epilogue, is renumbered; may be null.
  bool rewrite_nest(const Nest& map, ArrayId result, const Group& group, const Nest& before, Nest& after, int accesses,
                    int* accumulator) const {
    for (size_t k = before.accesses.size(); k-- > 0;) {
      if (before.accesses[k].array != result) {
        for (ArrayId a = plan_.arrays[before.accesses[k].array].same_bytes; a >= 0; a = plan_.arrays[a].same_bytes)
          if (a == result) return false;
        continue;
      }
      const bool widens = group.kind() == GroupKind::attention && (k == 1 || k == 2) && is_widened_view(map);
      if (!widens && !is_worth_inlining(map, group, before, k, accesses)) return false;
      const InlineResult how = inline_into(widens ? without_cast(map) : map, after, k, plan_);
      if (how == InlineResult::refused || after.accesses.size() > plan_.limits.max_accesses ||
          (how == InlineResult::appended && !within_budget(after)))
        return false;
      if (accumulator && how == InlineResult::appended && static_cast<int>(k) < *accumulator) --*accumulator;
    }
    return true;
  }

  Plan& plan_;
  Readers readers_;
  bool is_for_memory_ = false;
};

}  // namespace

void inline_into_readers(Plan& plan) {
  Inliner inliner(plan);
  inliner.run();
  if (plan.sums_in_order) inliner.inline_positions();
}

void inline_into_attention(Plan& plan) { Inliner(plan).inline_large_masks(); }

}  // namespace tenon::codegen
