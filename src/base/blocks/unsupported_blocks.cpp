// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/unsupported_blocks.h"

#include <algorithm>
#include <iterator>

namespace tenon::inline base {

const UnsupportedBlocks* unsupported_blocks(uint32_t ggml_type) {
  static constexpr UnsupportedBlocks kTypes[] = {
      {9, "Q8_1", "Q8_0"},   {15, "Q8_K", "Q8_0"},   {16, "IQ2_XXS", "Q2_K"}, {17, "IQ2_XS", "Q2_K"}, {18, "IQ3_XXS", "Q3_K"},
      {19, "IQ1_S", "Q2_K"}, {21, "IQ3_S", "Q3_K"},  {22, "IQ2_S", "Q2_K"},   {24, "I8", "Q8_0"},     {25, "I16", "F16"},
      {26, "I32", "F32"},    {27, "I64", "F32"},     {28, "F64", "F32"},      {29, "IQ1_M", "Q2_K"},  {34, "TQ1_0", "Q2_K"},
      {35, "TQ2_0", "Q2_K"}, {40, "NVFP4", "MXFP4"}, {41, "Q1_0", "Q2_K"},
  };
  const auto* at = std::ranges::find(kTypes, ggml_type, &UnsupportedBlocks::ggml_type);
  return at == std::end(kTypes) ? nullptr : at;
}

}  // namespace tenon::inline base
