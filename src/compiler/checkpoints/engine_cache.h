// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace tenon::compiler {

/// How many bytes the engines of the cache may take: $TENON_CACHE_SIZE ("500M", "20G", a number of bytes; K, M, G and T are powers of
/// 1,024; 0: any number), else 20 GiB. Errors: bad_usage.
Result<uint64_t> engine_cache_limit();

/// Whether the engine is in the cache. Marks it as used now, so that no process removes it for a minute, in which the caller opens it.
/// Takes the lock of the cache.
bool use_engine(const std::filesystem::path& engine);

/// What remove_engines() removed: the number of files, and their bytes.
struct RemovedEngines {
  uint64_t count = 0, bytes = 0;
};
/// Removes the least recently used engines (*.tenon) of the folder, until the rest takes at most `limit` bytes. The engine `kept`, engines
/// that were used within the last minute, and files that cannot be removed stay. Processes that run a removed engine are not affected. Also
/// removes temporary files of builds that are a day old. Takes the lock of the cache.
RemovedEngines remove_engines(const std::filesystem::path& folder, const std::filesystem::path& kept, uint64_t limit);

}  // namespace tenon::compiler
