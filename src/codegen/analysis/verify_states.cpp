// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/verify_states.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/analysis/bounds.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/state_writes.h"

namespace tenon::codegen {

namespace {

/// Walks the groups in their order, and remembers whether the state has changed.
class StateVerifier {
 public:
  StateVerifier(const Plan& plan, const PlanState& state, PlanReport& report)
      : plan_(plan), state_(state), report_(report), old_(plan.inputs[state.input]), new_(plan.outputs[state.output]) {}

  void run() {
    const Array &from = plan_.arrays[old_], &to = plan_.arrays[new_];
    must(from.dtype == to.dtype && from.strides == to.strides && from.growing == to.growing, "memory of another layout",
         text_of(to.strides));
    must(to.same_bytes < 0 && !to.constant, "a new value without memory of its own", fmt::format("array {}", new_));
    for (size_t g = 0; g < plan_.groups.size(); ++g) group(plan_.groups[g], g);
  }

 private:
  void must(bool holds, std::string_view what, const std::string& found) {
    if (!holds) report_.wrong.push_back(fmt::format("state '{}', {}: {}", state_.name, what, found));
  }

  void group(const Group& g, size_t number) {
    const std::string place = fmt::format("group {}", number);
    must(std::ranges::find(g.outputs, new_) == g.outputs.end(), "a step without a kernel writes it", place);
    for (ArrayId a : g.inputs)
      must(a < 0 || storage_of(a, plan_) != old_ || !changed_, "its old value is read after it has changed", place);
    bool group_changes = false;
    each_nest(g, [&](const Nest& n) { group_changes |= changes(n); });
    must(!group_changes || !g.region, "a part of a region changes it, which other parts may still read", place);
    bool earlier = false;  // a nest of the group has changed it
    each_nest(g, [&](const Nest& n) {
      for (const NestAccess& a : n.accesses) {
        if (storage_of(a.array, plan_) != old_) continue;
        // Nests of a group take turns, task by task.
        const bool before = !group_changes || (changes(n) && !earlier && is_own(a, n));
        must(!changed_ && before, "its old value is read after it has changed", place);
      }
      earlier |= changes(n);
    });
    changed_ |= group_changes;
  }

  /// Whether the nest changes what others may read of the old value.
  bool changes(const Nest& n) const {
    return std::ranges::any_of(n.outputs, [&](const NestOutput& o) { return o.array == new_ && !is_new_row(o, n); });
  }

  /// The element is above the rows of the old value.
  bool is_new_row(const NestOutput& o, const Nest& n) const {
    const Array &from = plan_.arrays[old_], &to = plan_.arrays[new_];
    if (!from.growing || o.flat) return false;
    const uint32_t axis = from.growing->axis;
    if (mentions(o.index[axis], ExprOp::input)) return false;
    const Expr above = simplify(o.index[axis] - Expr::dim(from.shape[axis]));
    return Bounds(n, plan_.assumptions).inside(above, to.shape[axis] - from.shape[axis], o.within) == std::optional(true);
  }

  /// A map writes the element where it read it, and each point has one of its own.
  bool is_own(const NestAccess& a, const Nest& n) const {
    if (a.array != old_ || n.exclusive || n.reverse) return false;
    for (const ops::Axis& x : n.axes)
      if (x.kind != ops::Axis::Kind::parallel) return false;
    for (const NestOutput& o : n.outputs) {
      if (o.array != new_) continue;
      if (o.combine != ops::Combine::none || o.index.size() != a.index.size() || (a.flat ? !o.flat || !same(a.flat, o.flat) : bool(o.flat)))
        return false;
      for (size_t d = 0; d < o.index.size(); ++d)
        if (!same(o.index[d], a.index[d])) return false;
    }
    return true;
  }

  const Plan& plan_;
  const PlanState& state_;
  PlanReport& report_;
  const ArrayId old_, new_;
  bool changed_ = false;
};

}  // namespace

void verify_states(const Plan& plan, PlanReport& report) {
  for (const PlanState& s : plan.states)
    if (s.in_place) StateVerifier(plan, s, report).run();
}

}  // namespace tenon::codegen
