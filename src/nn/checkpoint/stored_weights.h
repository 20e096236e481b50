// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "nn/checkpoint/checkpoint.h"

namespace tenon::nn {

/// How matrices of products are stored in an engine. int8 and int4 are blocks of 32 elements, Q8_0 and Q4_0.
/// keep: as in the checkpoint.
enum class StoredWeights : uint8_t { keep, int8, int4, bf16, f32 };

/// Messages of store_weights().
struct StorageReport {
  std::vector<std::string> notes;     ///< how many matrices were quantized, and with which error
  std::vector<std::string> warnings;  ///< matrices that stay as they are
};

/// Replaces the matrices of products by ones in the format `storage`. These are all weights of two axes but tables of embeddings and
/// positions; a tied embedding, which is the output's weight too, is one of them. int8, int4: quantize() of base/blocks, at once; one
/// matrix at a time is decoded. A matrix that has the format already stays as it is, and so does one whose rows are no whole blocks. f32,
/// bf16: decoded, and rounded to nearest, when an engine is written. Errors: bad_input (a weight that cannot be quantized: infinite, NaN),
/// out_of_memory. Cost: one pass over the weights, on all threads of the default thread pool.
Result<StorageReport> store_weights(StoredWeights storage, Checkpoint& checkpoint);

}  // namespace tenon::nn
