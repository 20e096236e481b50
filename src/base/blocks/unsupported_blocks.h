// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace tenon::inline base {

/// A tensor type of ggml that Tenon does not read, with the one nearest in bits a weight that it does.
struct UnsupportedBlocks {
  uint32_t ggml_type;
  std::string_view name, nearest;
};
/// nullptr for numbers that ggml gives no type.
const UnsupportedBlocks* unsupported_blocks(uint32_t ggml_type);

}  // namespace tenon::inline base
