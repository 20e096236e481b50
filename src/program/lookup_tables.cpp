// SPDX-License-Identifier: Apache-2.0
#include "program/lookup_tables.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"

namespace tenon::program {

namespace {

using codegen::ArrayId;
using codegen::NestAccess;

/// Collects how arrays are read: rows at indices that are loaded from another array, or all elements.
class TableReads {
 public:
  explicit TableReads(const codegen::Plan& plan) : plan_(plan), by_row_(plan.arrays.size()), whole_(plan.arrays.size()) {}

  void add(const NestAccess& access) {
    const auto reads_input = [](const Expr& e) { return e && codegen::mentions(e, ExprOp::input); };
    mark(access.array, reads_input(access.flat) || std::ranges::any_of(access.index, reads_input) ? by_row_ : whole_);
  }
  void add_whole(ArrayId a) { mark(a, whole_); }

  /// By array: whether it is read only by rows.
  std::vector<bool> take() {
    for (size_t a = 0; a < by_row_.size(); ++a) by_row_[a] = by_row_[a] && !whole_[a];
    return std::move(by_row_);
  }

 private:
  /// Sets the flag of the array, and of those whose memory it shares.
  void mark(ArrayId a, std::vector<bool>& flags) {
    for (; a >= 0; a = plan_.arrays[a].same_bytes) flags[a] = true;
  }

  const codegen::Plan& plan_;
  std::vector<bool> by_row_, whole_;  ///< by array
};

}  // namespace

std::vector<bool> lookup_tables(const codegen::Plan& plan) {
  TableReads reads(plan);
  for (const codegen::Group& group : plan.groups) {
    for (const codegen::Nest& nest : group.nests)
      for (const NestAccess& access : nest.accesses) reads.add(access);
    if (group.epilogue)
      for (const NestAccess& access : group.epilogue->map.accesses) reads.add(access);
    for (ArrayId a : group.inputs) reads.add_whole(a);
  }
  for (ArrayId a : plan.outputs) reads.add_whole(a);
  return reads.take();
}

}  // namespace tenon::program
