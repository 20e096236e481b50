// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::codegen::machine {

/// Code and constants in one block of alignment 64. entries[i]: offset of symbol i.
struct FlatCode {
  std::vector<std::byte> bytes;
  std::vector<uint64_t> entries;
};

/// Lays out the executable and read-only sections of ELF objects, one object after the other, and resolves the PC-relative relocations
/// among them. Global symbols are visible to all objects; the first of a name counts.
/// Errors: internal, naming the undefined symbol, the writable section or the unsupported relocation.
Result<FlatCode> flatten(std::span<const std::string> objects, std::span<const std::string> symbols);

}  // namespace tenon::codegen::machine
