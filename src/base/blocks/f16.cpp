// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::f16 {
namespace {

using namespace block_bits;

void decode(const std::byte* block, float* out) { *out = f16_at(block); }

}  // namespace
}  // namespace tenon::blocks::f16

BLOCK_FORMAT(f16){
    .name = "F16",
    .ggml_type = 1,
    .elements = 1,
    .bytes = 2,
    .decode = tenon::blocks::f16::decode,
};
