// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_parts.h"

namespace tenon::codegen {

/// Emits the kernel of an attention nest, with its tasks and grain. Needs affine places of query, key and value, and values that are
/// contiguous and padded to whole registers.
Result<void> emit_attention(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                            const Group& group, const KeyParts& parts);
/// Emits the second kernel, which adds up the results of parts where keys are split among tasks.
Result<void> emit_merge_of_parts(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                                 const Group& group, const KeyParts& parts);

}  // namespace tenon::codegen
