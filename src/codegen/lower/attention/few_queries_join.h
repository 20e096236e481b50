// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_parts.h"

namespace tenon::codegen {

/// The second kernel for few queries: a task adds up the ranges of one query of a head, in their order, and writes its result.
Result<void> emit_join_of_ranges(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                                 const Group& group, const FewQueries& few);

}  // namespace tenon::codegen
