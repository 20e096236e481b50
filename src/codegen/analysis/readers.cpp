// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/readers.h"

namespace tenon::codegen {

template <class F>
void Readers::each_read(const Group& group, F f) const {
  auto up = [&](ArrayId a) {
    for (; a >= 0; a = plan_.arrays[a].same_bytes) f(a);
  };
  for (const Nest& n : group.nests)
    for (const NestAccess& a : n.accesses) up(a.array);
  if (group.epilogue)
    for (const NestAccess& a : group.epilogue->map.accesses) up(a.array);
  for (ArrayId a : group.inputs) up(a);
}

template <class F>
void Readers::each_written(const Group& group, F f) const {
  for (const Nest& n : group.nests)
    for (const NestOutput& o : n.outputs) f(o.array);
  if (group.epilogue)
    for (const NestOutput& o : group.epilogue->map.outputs) f(o.array);
  for (ArrayId a : group.outputs)
    if (a >= 0) f(a);
}

Readers::Readers(const Plan& plan) : plan_(plan), readers_(plan.arrays.size()), writers_(plan.arrays.size()), output_(plan.arrays.size()) {
  for (ArrayId a : plan.outputs) output_[a] = true;
  for (size_t g = 0; g < plan.groups.size(); ++g) add(g);
}

void Readers::remove(size_t group) {
  each_read(plan_.groups[group], [&](ArrayId a) { readers_[a].erase(group); });
  each_written(plan_.groups[group], [&](ArrayId a) { --writers_[a]; });
}

void Readers::add(size_t group) {
  each_read(plan_.groups[group], [&](ArrayId a) { readers_[a].insert(group); });
  each_written(plan_.groups[group], [&](ArrayId a) { ++writers_[a]; });
}

}  // namespace tenon::codegen
