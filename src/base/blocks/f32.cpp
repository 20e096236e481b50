// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::f32 {
namespace {

using namespace block_bits;

void decode(const std::byte* block, float* out) { std::memcpy(out, block, sizeof(float)); }

}  // namespace
}  // namespace tenon::blocks::f32

BLOCK_FORMAT(f32){
    .name = "F32",
    .ggml_type = 0,
    .elements = 1,
    .bytes = 4,
    .decode = tenon::blocks::f32::decode,
};
