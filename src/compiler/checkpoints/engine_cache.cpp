// SPDX-License-Identifier: Apache-2.0
#include "compiler/checkpoints/engine_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;
using Clock = fs::file_time_type::clock;

constexpr const char* kVariable = "TENON_CACHE_SIZE";
constexpr uint64_t kStandardLimit = uint64_t{20} << 30;
constexpr std::chrono::minutes kInUse{1};
constexpr std::chrono::days kLeftOver{1};

/// While it lives no other process removes engines of the folder (shared), or uses them either (exclusive). Without effect where the file
/// system has no locks.
class FolderLock {
 public:
  FolderLock(const fs::path& folder, int operation) : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (descriptor_ >= 0 && ::flock(descriptor_, operation) != 0 && errno == EINTR) {}
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

struct CachedFile {
  fs::path path;
  fs::file_time_type used;
  uint64_t bytes = 0;
};

/// The regular files of the folder; files that are removed meanwhile are skipped.
std::vector<CachedFile> files_of(const fs::path& folder) {
  std::vector<CachedFile> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (!at->is_regular_file(gone) || gone) continue;
    CachedFile file{at->path(), at->last_write_time(gone)};
    if (!gone) file.bytes = at->file_size(gone);
    if (!gone) out.push_back(std::move(file));
  }
  return out;
}

bool is_left_over(const CachedFile& file, fs::file_time_type now) {
  return file.path.filename().string().find(".tenon.part-") != std::string::npos && file.used < now - kLeftOver;
}

}  // namespace

Result<uint64_t> engine_cache_limit() {
  const char* const given = std::getenv(kVariable);
  if (!given || !*given) return kStandardLimit;
  const std::string text = given;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  constexpr std::string_view kUnits = "KMGT";
  const size_t power = unit.empty() ? 0 : kUnits.find(unit) + 1;  // 0 where it is no unit
  uint64_t bytes = 0;
  const bool is_size = error == std::errc() && unit.size() <= 1 && (unit.empty() || power > 0) &&
                       !__builtin_mul_overflow(number, uint64_t{1} << (10 * power), &bytes);
  if (!is_size)
    return fail(Code::bad_usage, kVariable, "the variable is no size")
        .expected("bytes, with K, M, G or T behind the number; 0: no limit")
        .found("'" + text + "'")
        .advice("TENON_CACHE_SIZE=20G is the standard value");
  return bytes == 0 ? UINT64_MAX : bytes;
}

bool use_engine(const fs::path& engine) {
  const FolderLock lock(engine.parent_path(), LOCK_SH);
  if (::utimensat(AT_FDCWD, engine.c_str(), nullptr, 0) == 0) return true;
  std::error_code error;
  return fs::exists(engine, error);  // of another user, or on a disk that is not written
}

RemovedEngines remove_engines(const fs::path& folder, const fs::path& kept, uint64_t limit) {
  const FolderLock lock(folder, LOCK_EX);
  const auto now = Clock::now();
  std::vector<CachedFile> engines = files_of(folder);
  std::error_code error;
  for (const CachedFile& file : engines)
    if (is_left_over(file, now)) fs::remove(file.path, error);
  std::erase_if(engines, [](const CachedFile& file) { return file.path.extension() != ".tenon"; });
  std::ranges::sort(engines, {}, &CachedFile::used);
  uint64_t bytes = 0;
  for (const CachedFile& engine : engines) bytes += engine.bytes;
  RemovedEngines out;
  for (const CachedFile& engine : engines) {
    if (bytes <= limit) break;
    if (engine.path.filename() == kept.filename() || engine.used > now - kInUse || !fs::remove(engine.path, error)) continue;
    bytes -= engine.bytes;
    out.bytes += engine.bytes;
    ++out.count;
  }
  return out;
}

}  // namespace tenon::compiler
