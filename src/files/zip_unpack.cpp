// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "files/zip.h"
#include "files/zip_format.h"

namespace tenon::files {
namespace {

bool inflate_into(std::span<const std::byte> packed, std::span<std::byte> out) {
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return false;
  int status = Z_OK;
  constexpr size_t kPiece = size_t{1} << 30;
  Bytef nothing = 0;
  while (status == Z_OK) {
    const size_t in = std::min(packed.size(), kPiece), room = std::min(out.size(), kPiece);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    z.avail_in = static_cast<uInt>(in);
    z.next_out = room == 0 ? &nothing : reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(room);
    status = inflate(&z, Z_NO_FLUSH);
    packed = packed.subspan(in - z.avail_in);
    out = out.subspan(room - z.avail_out);
  }
  inflateEnd(&z);
  return status == Z_STREAM_END && out.empty();
}

}  // namespace

uint32_t zip_crc(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Result<void> unpack(const ZipEntry& entry, std::span<std::byte> out, const std::string& place) {
  TENON_ASSERT(out.size() == entry.size);
  if (entry.deflated && !inflate_into(entry.packed, out)) return bad_zip(place, "packed data is damaged");
  if (!entry.deflated && !out.empty()) std::memcpy(out.data(), entry.packed.data(), out.size());
  if (zip_crc(out) != entry.crc) return bad_zip(place, "a file does not have its checksum");
  return {};
}

}  // namespace tenon::files
