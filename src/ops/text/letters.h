// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::ops {

/// The code points of UTF-8 text; a byte that begins none is mapped to a number beyond all code points.
std::vector<uint32_t> code_points(std::string_view text);
/// [0-9A-Za-z_]
bool is_word(uint32_t c);
/// Ranges, ends included, of \d, \w or \s ('d', 'w', 's').
std::vector<std::pair<uint32_t, uint32_t>> letters_of_class(char name);

}  // namespace tenon::ops
