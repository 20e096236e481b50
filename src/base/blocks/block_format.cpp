// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_format.h"

#include <algorithm>
#include <cassert>

#include "base/blocks/decoders.h"

namespace tenon::inline base {
namespace {

using namespace blocks;

constexpr BlockFormat kFormats[] = {
    {"F32", 0, 1, 4, decode_f32},
    {"F16", 1, 1, 2, decode_f16},
    {"Q4_0", 2, 32, 18, decode_q4_0},
    {"Q4_1", 3, 32, 20, decode_q4_1},
    {"Q5_0", 6, 32, 22, decode_q5_0},
    {"Q5_1", 7, 32, 24, decode_q5_1},
    {"Q8_0", 8, 32, 34, decode_q8_0},
    {"Q8_1", 9, 32, 36, nullptr},
    {"Q2_K", 10, 256, 84, decode_q2_k},
    {"Q3_K", 11, 256, 110, decode_q3_k},
    {"Q4_K", 12, 256, 144, decode_q4_k},
    {"Q5_K", 13, 256, 176, decode_q5_k},
    {"Q6_K", 14, 256, 210, decode_q6_k},
    {"Q8_K", 15, 256, 292, nullptr},
    {"IQ2_XXS", 16, 256, 66, nullptr},
    {"IQ2_XS", 17, 256, 74, nullptr},
    {"IQ3_XXS", 18, 256, 98, nullptr},
    {"IQ1_S", 19, 256, 50, nullptr},
    {"IQ4_NL", 20, 32, 18, decode_iq4_nl},
    {"IQ3_S", 21, 256, 110, nullptr},
    {"IQ2_S", 22, 256, 82, nullptr},
    {"IQ4_XS", 23, 256, 136, decode_iq4_xs},
    {"I8", 24, 1, 1, nullptr},
    {"I16", 25, 1, 2, nullptr},
    {"I32", 26, 1, 4, nullptr},
    {"I64", 27, 1, 8, nullptr},
    {"F64", 28, 1, 8, nullptr},
    {"IQ1_M", 29, 256, 56, nullptr},
    {"BF16", 30, 1, 2, decode_bf16},
    {"TQ1_0", 34, 256, 54, nullptr},
    {"TQ2_0", 35, 256, 66, nullptr},
    {"MXFP4", 39, 32, 17, decode_mxfp4},
};

}  // namespace

std::span<const BlockFormat> block_formats() { return kFormats; }

const BlockFormat* block_format(uint32_t number) {
  const auto found = std::ranges::find(kFormats, number, &BlockFormat::number);
  return found == std::end(kFormats) ? nullptr : &*found;
}

void decode_blocks(const BlockFormat& format, std::span<const std::byte> bytes, std::span<float> out) {
  const size_t size = static_cast<size_t>(format.bytes), elements = static_cast<size_t>(format.elements);
  assert(format.decode && bytes.size() % size == 0 && out.size() == bytes.size() / size * elements);
  for (size_t b = 0; b * size < bytes.size(); ++b) format.decode(bytes.data() + b * size, out.data() + b * elements);
}

}  // namespace tenon::inline base
