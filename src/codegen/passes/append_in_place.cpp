// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/append_in_place.h"

#include <algorithm>

#include "codegen/analysis/resolve_reshapes.h"
#include "codegen/analysis/state_writes.h"

namespace tenon::codegen {

namespace {

/// Whether the group reads the array by element number.
bool reads_by_number(const Group& group, ArrayId array) {
  bool flat = false;
  each_nest(group, [&](const Nest& n) {
    for (const NestAccess& a : n.accesses) flat |= a.array == array && static_cast<bool>(a.flat);
  });
  return flat;
}

/// Lets the new value of one growing state use the memory of the old one.
class Append {
 public:
  Append(Plan& plan, PlanState& state)
      : plan_(plan),
        state_(state),
        old_(plan.inputs[state.input]),
        new_(plan.outputs[state.output]),
        growing_(*plan.arrays[old_].growing) {}

  void run() {
    if (old_ == new_ || !is_append()) return;
    Array& array = plan_.arrays[new_];
    array.growing = growing_;
    array.strides = strides_of(array);
    state_.in_place = true;
    std::erase_if(plan_.groups, [&](const Group& g) { return copies_old(g); });
    add_dense_copy();
  }

 private:
  bool copies_old(const Group& g) const {
    return g.kind() == GroupKind::nests && g.nests.size() == 1 && copies_whole(g.nests[0], old_, new_, plan_);
  }

  /// Whether one group copies the old rows, and all other writes are to rows after them.
  bool is_append() const {
    const Dim rows = plan_.arrays[old_].shape[growing_.axis];
    bool has_copy = false;
    for (const Group& g : plan_.groups) {
      if (!writes(g, new_)) continue;
      const bool copies = copies_old(g);
      if (!copies && (g.kind() != GroupKind::nests || g.nests.size() != 1 || writes_before(g.nests[0], new_, growing_.axis, rows, plan_)))
        return false;
      has_copy |= copies;
    }
    return has_copy && std::ranges::count(plan_.outputs, new_) == 1;
  }

  /// Adds a dense copy for readers by element number and for steps without a kernel.
  void add_dense_copy() {
    const auto needs_dense_copy = [&](const Group& g) {
      const bool by_step = std::ranges::any_of(g.inputs, [&](ArrayId a) { return a >= 0 && storage_of(a, plan_) == new_; });
      bool reshaped = by_step || reads_by_number(g, new_);
      each_nest(g, [&](const Nest& n) {
        for (const NestAccess& a : n.accesses) reshaped |= a.array != new_ && storage_of(a.array, plan_) == new_;
      });
      return reshaped;
    };
    const ArrayId copy = std::ranges::any_of(plan_.groups, needs_dense_copy) ? add_copy() : -1;  // -1: nothing reads reshapes of it
    for (Array& a : plan_.arrays)
      if (a.same_bytes == new_) a.same_bytes = copy;
    for (Group& g : plan_.groups) {
      std::ranges::replace(g.inputs, new_, copy);
      for (Nest& n : g.nests)
        for (NestAccess& a : n.accesses)
          if (a.array == new_ && a.flat) a.array = copy;  // `needs_dense_copy` held for this group
    }
  }

  ArrayId add_copy() {
    Array copy;
    copy.dtype = plan_.arrays[new_].dtype;
    copy.shape = plan_.arrays[new_].shape;
    copy.strides = row_major(copy.shape);
    copy.fixed_layout = true;
    const ArrayId id = static_cast<ArrayId>(plan_.arrays.size());
    Nest nest;
    std::vector<Expr> index;
    for (size_t d = 0; d < copy.shape.size(); ++d) {
      nest.axes.push_back({ops::Axis::Kind::parallel, copy.shape[d]});
      index.push_back(Expr::axis(static_cast<int>(d)));
    }
    nest.accesses.push_back({new_, copy.dtype, index, {}, {}, {}});
    nest.outputs.push_back({id, copy.dtype, Expr::input(0, copy.dtype), ops::Combine::none, index, {}, {}});
    plan_.arrays.push_back(std::move(copy));
    size_t next = plan_.groups.size();
    while (next > 0 && !writes(plan_.groups[next - 1], new_)) --next;
    Group group;
    group.nests.push_back(std::move(nest));
    plan_.groups.insert(plan_.groups.begin() + static_cast<ptrdiff_t>(next), std::move(group));
    return id;
  }

  Plan& plan_;
  PlanState& state_;
  const ArrayId old_, new_;
  const ir::GrowingAxis growing_;
};

}  // namespace

void append_in_place(Plan& plan) {
  for (PlanState& state : plan.states)
    if (plan.arrays[plan.inputs[state.input]].growing && !state.in_place) Append(plan, state).run();
}

}  // namespace tenon::codegen
