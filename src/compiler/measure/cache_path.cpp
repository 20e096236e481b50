// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/cache_path.h"

#include <cstdlib>

namespace tenon::compiler {

std::filesystem::path cache_path(std::string_view file) {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return std::filesystem::path(cache) / "tenon" / file;
  if (const char* home = std::getenv("HOME"); home && *home) return std::filesystem::path(home) / ".cache/tenon" / file;
  return {};
}

}  // namespace tenon::compiler
