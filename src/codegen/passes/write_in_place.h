// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Lets the new value of a state of fixed shape share the memory of the old one, where no group reads, once a group has written, what it
/// has changed: readers of the old value come before the first writer, or move there where they need nothing that is made in between; a
/// map may read the element that it writes. What a partial write (a scatter) leaves as it is, is not copied then. A value that is nothing
/// but the first part of the new one (of two scatters in a row) is made where the new one is. Where that is not so, the new value keeps
/// memory of its own; of a partial write, PlanState::late_readers has the reader in the way.
/// Needs: the final accesses. Not after regions are joined: their parts run in another order than the groups stand. Cost: the accesses of
/// the plan, for each state.
void write_in_place(Plan& plan);

}  // namespace tenon::codegen
