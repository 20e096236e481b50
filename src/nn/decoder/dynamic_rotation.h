// SPDX-License-Identifier: Apache-2.0
// Dynamic NTK: a base of the rotation that grows with the sequence (docs/why/058-bases-that-grow.md).
#pragma once
#include "ir/builder.h"

namespace tenon::nn {

struct DecoderConfig;
struct DecoderParts;

/// Whether the cache of the layer has keys as they are before their rotation, and each query rotates them by the base of its own position.
bool rotates_as_read(const DecoderParts& parts, int64_t layer);

/// Tokens of a run, at most: each has a rotated copy of the keys, of all copies together at most 2^24 elements. At least 2, at most 16.
int64_t most_tokens_of_dynamic_run(const DecoderParts& parts);

/// Attention of layer `layer` without the output projection. query: f32[batch, heads, new, size], keys and values: f32[batch, key heads,
/// past + new, size], of which neither is rotated. Returns f32[batch, new, heads * size].
ir::ValueId dynamically_attended(DecoderParts& parts, int64_t layer, ir::ValueId query, ir::ValueId keys, ir::ValueId values);

/// Errors: not_supported (streams, no cache).
Result<void> check_dynamic(const DecoderParts& parts);

}  // namespace tenon::nn
