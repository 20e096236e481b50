// SPDX-License-Identifier: Apache-2.0
#include "codegen/fuse.h"

#include <algorithm>

#include "codegen/collect.h"
#include "codegen/inline.h"
#include "codegen/readers.h"

namespace tenon::codegen {

namespace {

constexpr size_t kMostReaders = 64;   ///< a value with more readers is stored
constexpr size_t kMostAccesses = 24;  ///< a nest with more loads gains nothing from another

/// Each element of the accessed array is read at most once by the nest.
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
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      const Group& group = plan_.groups[g];
      if (group.kind != GroupKind::nests || group.nests.size() != 1 || !is_map(group.nests[0])) continue;
      dissolve(g);
    }
    std::erase_if(plan_.groups, [](const Group& g) { return g.kind == GroupKind::nests && g.nests.empty(); });
  }

 private:
  /// Whether evaluating the map at this access costs no more than storing it saves.
  bool worth_it(const Nest& map, const Group& group, const Nest& reader, size_t access, int accesses_in_all) const {
    const BodyCost cost = cost_of(map);
    const bool operand = (group.kind == GroupKind::contract || group.kind == GroupKind::attention) && &reader == &group.nests[0];
    if (operand) {
      // A contraction reads its operands many times: plain views only; attention's mask (access 3 and on) where cheap.
      if (group.kind == GroupKind::attention && access >= 3) return cost.transcendental == 0 && cost.arithmetic <= 8;
      return is_view(map) && !map.accesses[0].flat;
    }
    if (is_view(map)) return true;
    if (accesses_in_all == 1 && reads_once(reader.accesses[access], reader, plan_)) return true;
    return cost.transcendental == 0 && cost.arithmetic <= 3 && cost.loads <= 2 && !cost.indirect;
  }

  struct Change {
    size_t group;
    Group after;
  };

  /// Inlines the group into all its readers, or changes nothing.
  bool dissolve(size_t g) {
    const Nest map = plan_.groups[g].nests[0];
    const ArrayId made = map.outputs[0].array;
    const auto users = readers_.of(made);
    if (users.empty() || users.size() > kMostReaders || readers_.is_output(made) || readers_.writers(made) != 1) return false;
    int accesses = 0;
    for (size_t u : users) accesses += count_accesses(plan_.groups[u], made);
    std::vector<Change> changes;
    for (size_t u : users) {
      Group after = plan_.groups[u];
      if (!rewrite_group(map, made, plan_.groups[u], after, accesses)) return false;
      changes.push_back({u, std::move(after)});
    }
    readers_.remove(g);
    plan_.groups[g].nests.clear();
    for (Change& c : changes) {
      readers_.remove(c.group);
      plan_.groups[c.group] = std::move(c.after);
      readers_.add(c.group);
    }
    return true;
  }

  int count_accesses(const Group& group, ArrayId made) const {
    int n = 0;
    auto count = [&](const Nest& nest) {
      for (const NestAccess& a : nest.accesses) n += a.array == made;
    };
    for (const Nest& nest : group.nests) count(nest);
    if (group.epilogue) count(group.epilogue->map);
    return n;
  }

  bool rewrite_group(const Nest& map, ArrayId made, const Group& before, Group& after, int accesses) const {
    for (ArrayId a : before.inputs)
      for (; a >= 0; a = plan_.arrays[a].same_bytes)
        if (a == made) return false;
    for (size_t n = 0; n < after.nests.size(); ++n)
      if (!rewrite_nest(map, made, before, before.nests[n], after.nests[n], accesses, nullptr)) return false;
    if (!after.epilogue) return true;
    return rewrite_nest(map, made, before, before.epilogue->map, after.epilogue->map, accesses, &after.epilogue->accumulator);
  }

  bool rewrite_nest(const Nest& map, ArrayId made, const Group& group, const Nest& before, Nest& after, int accesses,
                    int* accumulator) const {
    for (size_t k = before.accesses.size(); k-- > 0;) {
      if (before.accesses[k].array != made) {
        for (ArrayId a = plan_.arrays[before.accesses[k].array].same_bytes; a >= 0; a = plan_.arrays[a].same_bytes)
          if (a == made) return false;
        continue;
      }
      if (!worth_it(map, group, before, k, accesses)) return false;
      const Inlined how = inline_into(map, after, k, plan_);
      if (how == Inlined::refused || after.accesses.size() > kMostAccesses) return false;
      if (accumulator && how == Inlined::appended && static_cast<int>(k) < *accumulator) --*accumulator;
    }
    return true;
  }

  Plan& plan_;
  Readers readers_;
};

}  // namespace

void inline_maps(Plan& plan) {
  Inliner(plan).run();
  drop_unread(plan);
}

}  // namespace tenon::codegen
