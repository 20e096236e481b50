// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::files {

/// One file of a zip archive, not yet decompressed.
struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t size = 0;                  ///< bytes when decompressed
  std::span<const std::byte> packed;  ///< its bytes in the archive
};

/// The entries of the central directory (APPNOTE.TXT 6.3.10 describes the format), zip64 included.
/// Errors: bad_file, limit_exceeded (65,536 entries), not_supported (encrypted, other methods than stored and deflated).
Result<std::vector<ZipEntry>> read_zip(std::span<const std::byte> bytes, const std::string& place);
/// Unpacks into `out`, which has entry.size bytes, and checks the checksum. Errors: bad_file.
Result<void> unpack(const ZipEntry& entry, std::span<std::byte> out, const std::string& place);

/// Builds an archive of stored files, with zip64 where sizes need it. Times are those of 1 January 1980, the first day that the format can
/// express, so that equal contents give equal bytes.
class ZipWriter {
 public:
  /// The bytes of the local header of a file; the caller writes its contents after it.
  std::string begin(const std::string& name, uint64_t size, uint32_t crc);
  /// The bytes that end the archive (the central directory), after the last file's contents.
  std::string end();

 private:
  std::string directory_;  ///< central directory of the files so far
  uint64_t entries_ = 0;   ///< number of files
  uint64_t offset_ = 0;    ///< where the next local header begins
};
/// CRC-32 of the bytes.
uint32_t zip_crc(std::span<const std::byte> bytes);

}  // namespace tenon::files
