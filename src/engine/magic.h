// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>

#include "engine/format.h"

namespace tenon::engine {

/// Whether a file of these bytes is an engine, damaged or not.
inline bool has_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::ranges::equal(bytes.first(kMagic.size()), std::as_bytes(std::span(kMagic)));
}
/// The same of a file, whatever its name is. False where it cannot be read.
bool is_engine_file(const std::filesystem::path& path);

}  // namespace tenon::engine
