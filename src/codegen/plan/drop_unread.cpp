// SPDX-License-Identifier: Apache-2.0
#include "codegen/plan/drop_unread.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::codegen {

namespace {

using SymbolSet = std::unordered_set<const DimNode*>;

void add_symbols(const DimList& dims, SymbolSet& to) {
  for (Dim d : dims) each_symbol(d, [&](const DimNode& s) { to.insert(&s); });
}

/// The arrays and symbols that groups read, collected from the last group to the first.
class ReadArrays {
 public:
  explicit ReadArrays(const Plan& plan) : plan_(plan), read_(plan.arrays.size(), false), defines_(plan.groups.size()) {
    SymbolSet known(plan.outer_symbols.begin(), plan.outer_symbols.end());
    for (ArrayId a : plan.inputs) add_symbols(plan.arrays[a].shape, known);
    for (size_t g = 0; g < plan.groups.size(); ++g) {
      if (!has_data_dependent_shape(plan.groups[g].kind())) continue;
      for (ArrayId a : plan.groups[g].outputs)
        if (a >= 0) add_symbols(plan.arrays[a].shape, defines_[g]);
      std::erase_if(defines_[g], [&](const DimNode* s) { return !known.insert(s).second; });
    }
    for (ArrayId a : plan.outputs) mark(a);
  }

  bool is_needed(size_t number) const {
    const Group& group = plan_.groups[number];
    bool is_read = group.kind() == GroupKind::check;
    each_written(group, [&](ArrayId a) { is_read |= read_[a]; });
    for (ArrayId a : group.outputs) is_read |= a >= 0 && read_[a];
    return is_read || std::ranges::any_of(defines_[number], [&](const DimNode* s) { return needed_.contains(s); });
  }

  void mark_reads(const Group& group) {
    for (const Nest& n : group.nests) {
      for (const NestAccess& a : n.accesses) mark(a.array);
      for (const ops::Axis& axis : n.axes) add_symbols({axis.extent}, needed_);
    }
    if (group.epilogue)
      for (const NestAccess& a : group.epilogue->map.accesses) mark(a.array);
    for (ArrayId a : group.inputs) mark(a);
    each_written(group, [&](ArrayId a) { add_symbols(plan_.arrays[a].shape, needed_); });
    for (ArrayId a : group.outputs)
      if (a >= 0) add_symbols(plan_.arrays[a].shape, needed_);
    if (const auto* sizes = std::get_if<SizesGroup>(&group.payload)) needed_.insert(sizes->symbols.begin(), sizes->symbols.end());
  }

 private:
  template <class Visit>
  static void each_written(const Group& group, Visit visit) {
    for (const Nest& n : group.nests)
      for (const NestOutput& o : n.outputs) visit(o.array);
    if (group.epilogue)
      for (const NestOutput& o : group.epilogue->map.outputs) visit(o.array);
  }

  void mark(ArrayId a) {
    for (; a >= 0; a = plan_.arrays[a].same_bytes) {
      read_[a] = true;
      add_symbols(plan_.arrays[a].shape, needed_);
    }
  }

  const Plan& plan_;
  std::vector<bool> read_;
  std::vector<SymbolSet> defines_;  ///< by group: the symbols that it defines first
  SymbolSet needed_;
};

}  // namespace

void drop_unread(Plan& plan) {
  ReadArrays reads(plan);
  for (size_t g = plan.groups.size(); g-- > 0;) {
    Group& group = plan.groups[g];
    if (reads.is_needed(g)) {
      reads.mark_reads(group);
      continue;
    }
    group = Group{};
  }
  std::erase_if(plan.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
