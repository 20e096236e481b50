// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::files {

/// One file of a zip archive, still packed.
struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t size = 0;                  ///< unpacked
  std::span<const std::byte> packed;  ///< inside the archive
};

/// The entries of the central directory (APPNOTE.TXT 6.3.10 describes the format), zip64 included.
/// Errors: bad_file, limit_exceeded (65,536 entries), not_supported (encrypted, other methods than stored and deflated).
Result<std::vector<ZipEntry>> read_zip(std::span<const std::byte> bytes, const std::string& place);
/// Unpacks into `out`, which has entry.size bytes, and checks the checksum. Errors: bad_file.
Result<void> unpack(const ZipEntry& entry, std::span<std::byte> out, const std::string& place);

/// Builds an archive of stored files, with zip64 where sizes need it. Times are left at the first day that the format can express, so
/// that equal contents give equal bytes.
class ZipWriter {
 public:
  /// Local header of a file; its contents follow.
  std::string begin(const std::string& name, uint64_t size, uint32_t crc);
  /// What ends the archive, after the last file's contents.
  std::string end();

 private:
  std::string directory_;
  uint64_t entries_ = 0, offset_ = 0;
};
uint32_t zip_crc(std::span<const std::byte> bytes);

}  // namespace tenon::files
