// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include <CLI/CLI.hpp>

namespace tenon::cli {

/// Checks of numbers whose errors and help say the bounds in words: "1 or more", "0 to 3", "more than 0". CLI11's own write the largest
/// double with its 309 digits.
CLI::Validator at_least(int64_t least);
CLI::Validator between(int64_t least, int64_t most);
/// 0 to 2^64 - 1. CLI11 takes -1 as the largest of them, and what is larger too.
CLI::Validator seed_number();
/// For numbers that may be fractions.
CLI::Validator more_than_zero();
CLI::Validator zero_or_more();

}  // namespace tenon::cli
