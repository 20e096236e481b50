// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Whether the nest only copies each element of `from` to the same place of `to`, so that it does nothing where both share their memory.
bool copies_whole(const Nest& nest, ArrayId from, ArrayId to, const Plan& plan);
/// Whether the nest may write elements of the array with an index below `begin` on that axis.
bool writes_before(const Nest& nest, ArrayId array, uint32_t axis, Dim begin, const Plan& plan);
/// Whether each element of `old_value` that the nest reads is the one that the same point of the nest writes to `new_value`.
bool reads_what_it_writes(const Nest& nest, ArrayId old_value, ArrayId new_value, const Plan& plan);

/// Calls visit(nest) for all nests of the group, that of its epilogue included.
template <class Visit>
void each_nest(const Group& group, Visit visit) {
  for (const Nest& n : group.nests) visit(n);
  if (group.epilogue) visit(group.epilogue->map);
}
/// Whether the group reads the array, also through a reshape.
bool reads(const Group& group, ArrayId array, const Plan& plan);
bool writes(const Group& group, ArrayId array);

}  // namespace tenon::codegen
