// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::codegen::machine {

/// The code and constants of one object file, laid out in one block: entry at `entry`, alignment 64.
struct Flat {
  std::vector<std::byte> bytes;
  uint64_t entry = 0;
};

/// Lays out the executable and read-only sections of an ELF object and settles the PC-relative relocations among them.
/// Errors: internal, naming the undefined symbol, the writable section or the relocation that stands in the way.
Result<Flat> flatten(std::string_view object, std::string_view entry_symbol);

}  // namespace tenon::codegen::machine
