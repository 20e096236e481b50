// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/fixed_strides.h"

namespace tenon::codegen {

std::vector<bool> has_fixed_strides(const Plan& plan) {
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
    if (g.kind() != GroupKind::attention) continue;
    for (const Nest& n : g.nests) {
      for (const NestAccess& a : n.accesses) mark(a.array);
      for (const NestOutput& o : n.outputs) mark(o.array);
    }
  }
  for (ArrayId a : plan.inputs) mark(a);
  for (ArrayId a : plan.outputs) mark(a);
  return out;
}

}  // namespace tenon::codegen
