// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_parts.h"

namespace tenon::codegen {

/// The code of one attention nest, with its tasks and grain. Places of query, key and value are affine, values lie side by side in whole
/// registers.
Result<void> emit_attention(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                            const Group& group, const KeyParts& parts);
/// What comes after it where keys are dealt out in several parts.
Result<void> emit_join_of_parts(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                                const Group& group, const KeyParts& parts);

}  // namespace tenon::codegen
