// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace tenon::compiler {

/// How many bytes the engines of the cache may take: $TENON_CACHE_SIZE ("500M", "20G", a number of bytes; K, M, G and T are powers of
/// 1,024; 0: any number), else 20 GiB. Errors: bad_usage.
Result<uint64_t> engine_cache_limit();

/// Whether the engine is there. It counts as used now, and stays for a minute, in which the caller opens it. Processes wait for each other.
bool use_engine(const std::filesystem::path& engine);

struct RemovedEngines {
  uint64_t count = 0, bytes = 0;
};
/// Removes those engines (*.tenon) of the folder that were not used for longest, until the rest takes at most `limit` bytes. `kept`, and
/// what was used within a minute, stays, however large; so does what cannot be removed. Programs that run a removed one go on. Also removes
/// what builds that were killed a day ago left. Processes wait for each other.
RemovedEngines remove_engines(const std::filesystem::path& folder, const std::filesystem::path& kept, uint64_t limit);

}  // namespace tenon::compiler
