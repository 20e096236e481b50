// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/pad_rows.h"

#include "codegen/loops/contraction.h"

namespace tenon::codegen {

namespace {

constexpr int64_t kSetBytes = 4096, kLineBytes = 64;

/// Seen from outside, read by element number, shared by a reshape, or an operand of what is no loop.
std::vector<bool> relied_on(const Plan& plan) {
  std::vector<bool> out(plan.arrays.size(), false);
  const auto mark = [&](ArrayId a) {
    if (a >= 0) out[a] = true;
  };
  for (size_t a = 0; a < plan.arrays.size(); ++a) {
    const Array& array = plan.arrays[a];
    out[a] = out[a] || array.fixed_layout || array.constant || array.same_bytes >= 0;
    mark(array.same_bytes);
  }
  const auto look = [&](const Nest& n) {
    for (const NestAccess& a : n.accesses)
      if (a.flat) mark(a.array);
    for (const NestOutput& o : n.outputs)
      if (o.flat) mark(o.array);
  };
  for (const Group& g : plan.groups) {
    for (const Nest& n : g.nests) look(n);
    if (g.epilogue) look(g.epilogue->map);
    for (ArrayId a : g.inputs) mark(a);
    for (ArrayId a : g.outputs) mark(a);
    if (g.kind != GroupKind::attention) continue;
    for (const Nest& n : g.nests) {
      for (const NestAccess& a : n.accesses) mark(a.array);
      for (const NestOutput& o : n.outputs) mark(o.array);
    }
  }
  for (ArrayId a : plan.inputs) mark(a);
  for (ArrayId a : plan.outputs) mark(a);
  return out;
}

bool falls_into_one_set(const Array& array) {
  if (array.shape.size() < 2) return false;
  const Dim row = array.shape[array.order.empty() ? array.shape.size() - 1 : array.order.back()];
  return row.is_number() && row.value() > 0 && row.value() * bits_of(array.dtype) / 8 % kSetBytes == 0;
}

}  // namespace

void pad_rows(Plan& plan) {
  const std::vector<bool> relied = relied_on(plan);
  bool changed = false;
  for (const Group& g : plan.groups) {
    if (!g.contraction) continue;
    for (const int k : g.contraction->rows_operand.accesses) {
      const ArrayId a = g.nests[0].accesses[k].array;
      Array& array = plan.arrays[a];
      if (relied[a] || array.row_padding > 0 || !falls_into_one_set(array)) continue;
      array.row_padding = kLineBytes * 8 / bits_of(array.dtype);
      array.strides = strides_of(array);
      changed = true;
    }
  }
  if (changed) settle_contractions(plan);
}

}  // namespace tenon::codegen
