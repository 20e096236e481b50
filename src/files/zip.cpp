// SPDX-License-Identifier: Apache-2.0
#include "files/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::files {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr uint64_t kMostEntries = 65536;
constexpr uint16_t kZip64Field = 1;
constexpr uint32_t kIn64 = 0xffffffff;

Error bad(const std::string& place, const char* what) {
  return fail(Code::bad_file, place, "not a sound zip archive")
      .expected("an archive as numpy.savez writes it")
      .found(what)
      .advice("copy the file again, or write it again with numpy.savez");
}

/// Little-endian numbers in order, each read checked; after a read past the end, `ok` is false and everything is 0.
struct Cursor {
  std::span<const std::byte> bytes;
  bool ok = true;

  template <class T>
  T take() {
    T value = 0;
    const auto piece = take_bytes(sizeof(T));
    if (ok) std::memcpy(&value, piece.data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take_bytes(uint64_t count) {
    if (count > bytes.size()) ok = false;
    if (!ok) return {};
    const auto piece = bytes.first(static_cast<size_t>(count));
    bytes = bytes.subspan(static_cast<size_t>(count));
    return piece;
  }
};

Cursor cursor_at(std::span<const std::byte> bytes, uint64_t offset) {
  if (offset > bytes.size()) return {{}, false};
  return {bytes.subspan(static_cast<size_t>(offset))};
}

struct Directory {
  uint64_t entries = 0, offset = 0;
};

std::optional<Directory> directory64(std::span<const std::byte> bytes, uint64_t end_offset) {
  if (end_offset < 20) return std::nullopt;
  Cursor locator = cursor_at(bytes, end_offset - 20);
  if (locator.take<uint32_t>() != kLocator64) return std::nullopt;
  locator.take<uint32_t>();
  Cursor end = cursor_at(bytes, locator.take<uint64_t>());
  if (end.take<uint32_t>() != kEnd64) return std::nullopt;
  end.take_bytes(8 + 2 + 2 + 4 + 4 + 8);
  Directory d;
  d.entries = end.take<uint64_t>();
  end.take<uint64_t>();
  d.offset = end.take<uint64_t>();
  return end.ok ? std::optional(d) : std::nullopt;
}

/// The end record stands at most a comment's length before the end of the file.
Result<Directory> find_directory(std::span<const std::byte> bytes, const std::string& place) {
  constexpr size_t kEndSize = 22, kLongestComment = 65535;
  if (bytes.size() < kEndSize) return bad(place, "too short");
  const size_t last = bytes.size() - kEndSize, first = last - std::min(last, kLongestComment);
  for (size_t at = last + 1; at-- > first;) {
    Cursor c = cursor_at(bytes, at);
    if (c.take<uint32_t>() != kEnd) continue;
    c.take_bytes(6);
    const uint16_t entries = c.take<uint16_t>();
    c.take<uint32_t>();
    const uint32_t offset = c.take<uint32_t>();
    if (entries != 0xffff && offset != kIn64) return Directory{entries, offset};
    if (const auto d = directory64(bytes, at)) return *d;
    return Directory{entries, offset};
  }
  return bad(place, "no end record");
}

/// Sizes and offset that stand in the zip64 extra field, in this order, where the plain ones are all ones.
bool read_extra64(Cursor extra, uint64_t& size, uint64_t& packed, uint64_t& offset) {
  if (size != kIn64 && packed != kIn64 && offset != kIn64) return true;
  while (extra.ok && extra.bytes.size() >= 4) {
    const uint16_t field = extra.take<uint16_t>(), length = extra.take<uint16_t>();
    Cursor inner{extra.take_bytes(length), extra.ok};
    if (field != kZip64Field) continue;
    for (uint64_t* value : {&size, &packed, &offset}) {
      if (*value == kIn64) *value = inner.take<uint64_t>();
    }
    return inner.ok;
  }
  return false;
}

Result<std::span<const std::byte>> packed_bytes(std::span<const std::byte> bytes, uint64_t offset, uint64_t packed,
                                                const std::string& place) {
  Cursor c = cursor_at(bytes, offset);
  if (c.take<uint32_t>() != kLocal) return bad(place, "a local header is not where the directory says");
  c.take_bytes(22);
  const uint16_t name = c.take<uint16_t>(), extra = c.take<uint16_t>();
  c.take_bytes(uint64_t{name} + extra);
  const auto data = c.take_bytes(packed);
  if (!c.ok) return bad(place, "a file runs past the end");
  return data;
}

Result<ZipEntry> read_entry(std::span<const std::byte> bytes, Cursor& c, const std::string& place) {
  if (c.take<uint32_t>() != kCentral) return bad(place, "the directory is damaged");
  c.take_bytes(4);
  const uint16_t flags = c.take<uint16_t>(), method = c.take<uint16_t>();
  c.take_bytes(4);
  ZipEntry e;
  e.crc = c.take<uint32_t>();
  uint64_t packed = c.take<uint32_t>(), size = c.take<uint32_t>();
  const uint16_t name = c.take<uint16_t>(), extra = c.take<uint16_t>(), comment = c.take<uint16_t>();
  c.take_bytes(8);
  uint64_t offset = c.take<uint32_t>();
  const auto name_bytes = c.take_bytes(name);
  const auto extra_bytes = c.take_bytes(extra);
  c.take_bytes(comment);
  if (!c.ok || !read_extra64({extra_bytes}, size, packed, offset)) return bad(place, "the directory is cut off");
  e.name.assign(reinterpret_cast<const char*>(name_bytes.data()), name_bytes.size());
  if ((flags & 1) != 0 || (method != 0 && method != 8))
    return fail(Code::not_supported, place, "not supported yet: encrypted zip entries, or packed otherwise than by deflate")
        .expected("stored or deflated files")
        .found(e.name)
        .advice("write it again with numpy.savez or numpy.savez_compressed");
  e.deflated = method == 8;
  e.size = size;
  e.packed = TRY(packed_bytes(bytes, offset, packed, place));
  if (!e.deflated && packed != size) return bad(place, "a stored file has two sizes");
  // Deflate packs at most 1032 to 1: a larger claim would only make the reader allocate.
  if (e.deflated && size / 1040 > packed) return bad(place, "a packed file claims an impossible size");
  return e;
}

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

template <class T>
void put(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

uint32_t low_or_64(uint64_t value) { return value >= kIn64 ? kIn64 : static_cast<uint32_t>(value); }

/// Version, flags, method, time and date: stored, on 1 January 1980.
void put_common(std::string& out, uint32_t crc, uint64_t size) {
  put<uint16_t>(out, 45);
  put<uint16_t>(out, 0);
  put<uint16_t>(out, 0);
  put<uint16_t>(out, 0);
  put<uint16_t>(out, (1 << 5) | 1);
  put<uint32_t>(out, crc);
  put<uint32_t>(out, low_or_64(size));
  put<uint32_t>(out, low_or_64(size));
}

}  // namespace

Result<std::vector<ZipEntry>> read_zip(std::span<const std::byte> bytes, const std::string& place) {
  const Directory directory = TRY(find_directory(bytes, place));
  if (directory.entries > kMostEntries)
    return fail(Code::limit_exceeded, place, "the zip archive has too many files")
        .expected("at most 65536")
        .found(std::to_string(directory.entries));
  Cursor c = cursor_at(bytes, directory.offset);
  std::vector<ZipEntry> entries;
  uint64_t packed = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    entries.push_back(TRY(read_entry(bytes, c, place)));
    packed += entries.back().packed.size();
    if (packed > bytes.size()) return bad(place, "its files overlap");
  }
  return entries;
}

uint32_t zip_crc(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Result<void> unpack(const ZipEntry& entry, std::span<std::byte> out, const std::string& place) {
  TENON_ASSERT(out.size() == entry.size);
  if (entry.deflated && !inflate_into(entry.packed, out)) return bad(place, "packed data is damaged");
  if (!entry.deflated && !out.empty()) std::memcpy(out.data(), entry.packed.data(), out.size());
  if (zip_crc(out) != entry.crc) return bad(place, "a file does not have its checksum");
  return {};
}

namespace {

/// The sizes, twice the same, and the offset where they need more than 32 bits; empty where none does.
std::string extra_field(uint64_t size, uint64_t offset) {
  std::string numbers;
  if (size >= kIn64) {
    put<uint64_t>(numbers, size);
    put<uint64_t>(numbers, size);
  }
  if (offset >= kIn64) put<uint64_t>(numbers, offset);
  if (numbers.empty()) return {};
  std::string head;
  put<uint16_t>(head, kZip64Field);
  put<uint16_t>(head, static_cast<uint16_t>(numbers.size()));
  return head + numbers;
}

}  // namespace

std::string ZipWriter::begin(const std::string& name, uint64_t size, uint32_t crc) {
  std::string local;
  put<uint32_t>(local, kLocal);
  put_common(local, crc, size);
  put<uint16_t>(local, static_cast<uint16_t>(name.size()));
  const std::string local_extra = extra_field(size, 0), central_extra = extra_field(size, offset_);
  put<uint16_t>(local, static_cast<uint16_t>(local_extra.size()));
  local += name + local_extra;

  put<uint32_t>(directory_, kCentral);
  put<uint16_t>(directory_, 45);
  put_common(directory_, crc, size);
  put<uint16_t>(directory_, static_cast<uint16_t>(name.size()));
  put<uint16_t>(directory_, static_cast<uint16_t>(central_extra.size()));
  directory_.append(2 + 2 + 2 + 4, '\0');
  put<uint32_t>(directory_, low_or_64(offset_));
  directory_ += name + central_extra;
  offset_ += local.size() + size;
  ++entries_;
  return local;
}

std::string ZipWriter::end() {
  std::string out = directory_;
  const bool large = entries_ >= 0xffff || offset_ >= kIn64;
  if (large) {
    put<uint32_t>(out, kEnd64);
    put<uint64_t>(out, 44);
    put<uint16_t>(out, 45);
    put<uint16_t>(out, 45);
    put<uint64_t>(out, 0);
    for (uint64_t value : {entries_, entries_, uint64_t{directory_.size()}, offset_}) put<uint64_t>(out, value);
    put<uint32_t>(out, kLocator64);
    put<uint32_t>(out, 0);
    put<uint64_t>(out, offset_ + directory_.size());
    put<uint32_t>(out, 1);
  }
  put<uint32_t>(out, kEnd);
  put<uint32_t>(out, 0);
  for (int i = 0; i < 2; ++i) put<uint16_t>(out, static_cast<uint16_t>(std::min<uint64_t>(entries_, 0xffff)));
  put<uint32_t>(out, low_or_64(directory_.size()));
  put<uint32_t>(out, low_or_64(offset_));
  put<uint16_t>(out, 0);
  return out;
}

}  // namespace tenon::files
