// SPDX-License-Identifier: Apache-2.0
// Dynamic NTK: a base of the rotation that grows with the sequence (docs/why/058-bases-that-grow.md).
#pragma once
#include "ir/builder.h"

namespace tenon::nn {

struct DecoderConfig;
struct DecoderParts;

/// Whether the layer's cache stores keys before their rotation, and each query rotates them when it reads them, by the base of its
/// position.
bool rotates_keys_on_read(const DecoderParts& parts, int64_t layer);

/// The most tokens that one run takes, 2 to 16: each has a rotated copy of all keys, and the copies have at most 2^24 elements together.
int64_t max_tokens_of_dynamic_run(const DecoderParts& parts);

/// Attention of layer `layer` without the output projection. query: f32[batch, heads, new, size], keys and values: f32[batch, key heads,
/// past + new, size], of which neither is rotated. Returns f32[batch, new, heads * size].
ir::ValueId dynamic_ntk_attention(DecoderParts& parts, int64_t layer, ir::ValueId query, ir::ValueId keys, ir::ValueId values);

/// Errors: not_supported (streams, no cache).
Result<void> check_dynamic(const DecoderParts& parts);

}  // namespace tenon::nn
