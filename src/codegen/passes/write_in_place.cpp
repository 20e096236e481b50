// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/write_in_place.h"

#include <algorithm>

#include "codegen/analysis/state_writes.h"

namespace tenon::codegen {

namespace {

class StateWriter {
 public:
  StateWriter(Plan& plan, PlanState& state)
      : plan_(plan), state_(state), old_(plan.inputs[state.input]), new_(plan.outputs[state.output]) {}

  void run() {
    while (join_earlier_value()) {}
    if (!may_share()) return;
    bool partial = false;
    for (const Group& g : plan_.groups) partial |= std::ranges::any_of(g.nests, [&](const Nest& n) { return copies(n); });
    if (const int late = move_readers(); late >= 0) {
      if (partial) state_.late_readers = nodes_of(plan_.groups[static_cast<size_t>(late)]);
      return;
    }
    for (Group& g : plan_.groups) std::erase_if(g.nests, [&](const Nest& n) { return copies(n); });
    erase_empty_groups();
    state_.in_place = true;
  }

 private:
  bool copies(const Nest& n) const { return copies_whole(n, old_, new_, plan_); }

  /// Where an array is only copied to the new value (the result of the first of two scatters), lets its groups write to the new value.
  /// Whether there was such an array.
  bool join_earlier_value() {
    for (ArrayId a = 0; a < static_cast<ArrayId>(plan_.arrays.size()); ++a) {
      if (a == old_ || a == new_ || !may_join(a)) continue;
      for (Group& g : plan_.groups) {
        std::erase_if(g.nests, [&](const Nest& n) { return copies_whole(n, a, new_, plan_); });
        for (Nest& n : g.nests)
          for (NestOutput& o : n.outputs)
            if (o.array == a) o.array = new_;
        if (!g.epilogue) continue;
        for (NestOutput& o : g.epilogue->map.outputs)
          if (o.array == a) o.array = new_;
      }
      erase_empty_groups();
      return true;
    }
    return false;
  }

  /// Whether only kernels write the array, and only one copy of all of it reads it.
  bool may_join(ArrayId a) const {
    const Array &from = plan_.arrays[a], &to = plan_.arrays[new_];
    if (from.dtype != to.dtype || !(from.shape == to.shape) || !(from.strides == to.strides) || from.growing || to.growing) return false;
    if (from.constant || from.same_bytes >= 0 || to.same_bytes >= 0 || std::ranges::count(plan_.inputs, a) > 0 ||
        std::ranges::count(plan_.outputs, a) > 0 || std::ranges::count(plan_.arrays, a, &Array::same_bytes) > 0)
      return false;
    size_t copies = 0, reads = 0;
    for (const Group& g : plan_.groups) {
      if (std::ranges::count(g.inputs, a) > 0 || std::ranges::count(g.outputs, a) > 0) return false;
      each_nest(g, [&](const Nest& n) { reads += static_cast<size_t>(std::ranges::count(n.accesses, a, &NestAccess::array)); });
      copies += static_cast<size_t>(std::ranges::count_if(g.nests, [&](const Nest& n) { return copies_whole(n, a, new_, plan_); }));
    }
    return copies == 1 && reads == 1;
  }

  void erase_empty_groups() {
    std::erase_if(plan_.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
  }

  /// Whether the new value belongs to one state, kernels compute it, and it has the strides of the old value.
  bool may_share() const {
    const Array &from = plan_.arrays[old_], &to = plan_.arrays[new_];
    if (old_ == new_) return false;
    if (from.growing || to.growing || to.same_bytes >= 0 || to.constant || !(from.strides == to.strides)) return false;
    if (std::ranges::count(plan_.outputs, new_) != 1) return false;
    return std::ranges::none_of(plan_.groups, [&](const Group& g) { return std::ranges::find(g.outputs, new_) != g.outputs.end(); });
  }

  /// Whether the group writes to the new value anything but a copy of the old one.
  bool changes(const Group& g) const {
    bool found = false;
    each_nest(g, [&](const Nest& n) { found |= std::ranges::find(n.outputs, new_, &NestOutput::array) != n.outputs.end() && !copies(n); });
    return found;
  }

  bool reads_too_late(const Group& g) const {
    if (!reads(g, old_, plan_)) return false;
    if (!changes(g)) return true;
    bool late = std::ranges::any_of(g.inputs, [&](ArrayId a) { return a >= 0 && storage_of(a, plan_) == old_; });
    each_nest(g, [&](const Nest& n) {
      const bool reads_old = std::ranges::any_of(n.accesses, [&](const NestAccess& a) { return storage_of(a.array, plan_) == old_; });
      late |= reads_old && !copies(n) && !reads_what_it_writes(n, old_, new_, plan_);
    });
    return late;
  }

  /// Moves readers of the old value before the first group that changes it. Returns a group that cannot move; -1: none.
  int move_readers() {
    const auto first = std::ranges::find_if(plan_.groups, [&](const Group& g) { return changes(g); });
    size_t writer = static_cast<size_t>(first - plan_.groups.begin());
    for (size_t g = writer; g < plan_.groups.size(); ++g) {
      if (!reads_too_late(plan_.groups[g])) continue;
      if (g == writer || !is_independent(g, writer)) return static_cast<int>(g);
      const auto at = [&](size_t k) { return plan_.groups.begin() + static_cast<ptrdiff_t>(k); };
      std::rotate(at(writer), at(g), at(g + 1));
      ++writer;
    }
    return -1;
  }

  /// Whether the group can move before group `first`: it accesses nothing that groups from there on write, has no effects, and changes no
  /// other state.
  bool is_independent(size_t group, size_t first) const {
    const Group& g = plan_.groups[group];
    for (size_t k = first; k < group; ++k)
      for (const ArrayId a : written_by(plan_.groups[k]))
        if (reads(g, storage_of(a, plan_), plan_) || writes(g, a)) return false;
    const auto replaces_state = [&](const PlanState& s) { return writes(g, plan_.outputs[s.output]); };
    return g.kind() != GroupKind::control && g.kind() != GroupKind::segment && std::ranges::none_of(plan_.states, replaces_state);
  }

  static std::vector<ir::NodeId> nodes_of(const Group& g) {
    std::vector<ir::NodeId> out;
    if (g.node) out.push_back(g.node);
    each_nest(g, [&](const Nest& n) { out.insert(out.end(), n.nodes.begin(), n.nodes.end()); });
    return out;
  }

  static std::vector<ArrayId> written_by(const Group& g) {
    std::vector<ArrayId> out;
    each_nest(g, [&](const Nest& n) {
      for (const NestOutput& o : n.outputs) out.push_back(o.array);
    });
    for (ArrayId a : g.outputs)
      if (a >= 0) out.push_back(a);
    return out;
  }

  Plan& plan_;
  PlanState& state_;
  const ArrayId old_, new_;
};

}  // namespace

void write_in_place(Plan& plan) {
  for (PlanState& state : plan.states)
    if (!state.in_place) StateWriter(plan, state).run();
}

}  // namespace tenon::codegen
