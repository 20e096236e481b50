// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Joins neighbouring groups over the same rows to one parallel region (Group::region), where part p of the later ones reads, of what
/// the earlier ones wrote, only what part p wrote: each array that one writes and another touches has dimensions that both walk by the
/// same axes, whole and in the same order. No window (its rows reach into the next part), no sum over the rows, no reshape between them.
/// Needs: final accesses and memory orders. Lowering may ignore it: Kernel::units
/// says whether tasks are numbered by units.
/// Cost: linear in the accesses, times the arrays of a region.
void join_regions(Plan& plan);

}  // namespace tenon::codegen
