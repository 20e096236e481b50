// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::bf16 {
namespace {

using namespace block_bits;

void decode(const std::byte* block, float* out) { *out = std::bit_cast<float>(bits16(block) << 16); }

}  // namespace
}  // namespace tenon::blocks::bf16

BLOCK_FORMAT(bf16){
    .name = "BF16",
    .ggml_type = 30,
    .elements = 1,
    .bytes = 2,
    .decode = tenon::blocks::bf16::decode,
};
