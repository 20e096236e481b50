// SPDX-License-Identifier: Apache-2.0
#include "engine/magic.h"

#include <array>
#include <fstream>

namespace tenon::engine {

bool is_engine_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::array<char, kMagic.size()> first{};
  std::ifstream file(path, std::ios::binary);
  return file.read(first.data(), first.size()) && has_magic(std::as_bytes(std::span(first)));
}

}  // namespace tenon::engine
