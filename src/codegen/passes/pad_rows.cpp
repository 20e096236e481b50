// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/pad_rows.h"

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/fixed_strides.h"

namespace tenon::codegen {

namespace {

/// Whether the rows of the array begin at addresses of one set of the first-level cache.
bool fall_into_one_set(const Array& array, int64_t set_bytes) {
  if (array.shape.size() < 2 || set_bytes == 0) return false;
  const Dim row_size = array.shape[array.order.empty() ? array.shape.size() - 1 : array.order.back()];
  return row_size.is_number() && row_size.value() > 0 && row_size.value() * bits_of(array.dtype) / 8 % set_bytes == 0;
}

}  // namespace

void pad_rows(Plan& plan) {
  const std::vector<bool> has_fixed = has_fixed_strides(plan);
  bool changed = false;
  for (const Group& g : plan.groups) {
    if (!g.contraction()) continue;
    for (const int k : g.contraction()->rows_operand.accesses) {
      const ArrayId a = g.nests[0].accesses[k].array;
      Array& array = plan.arrays[a];
      if (has_fixed[a] || array.row_padding > 0 || !fall_into_one_set(array, plan.limits.set_bytes)) continue;
      array.row_padding = plan.limits.line_bytes * 8 / bits_of(array.dtype);
      array.strides = strides_of(array);
      changed = true;
    }
  }
  if (changed) recompute_all_roles(plan);
}

}  // namespace tenon::codegen
