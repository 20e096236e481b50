// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_parts.h"

namespace tenon::codegen {

/// The kernel for few queries, see FewQueries: sums, maxima and totals of each range of keys go to the group's parts.
Result<void> emit_few_queries(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                              const Group& group, const FewQueries& few);

}  // namespace tenon::codegen
