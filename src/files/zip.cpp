// SPDX-License-Identifier: Apache-2.0
#include "files/zip.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "files/zip_format.h"

namespace tenon::files {
namespace {

constexpr uint64_t kMaxEntries = 65536;

/// Reads little-endian numbers one after the other; after a read past the end, `ok` is false and all results are 0.
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

/// The central directory: its number of entries, and its offset in the archive.
struct Directory {
  uint64_t entries = 0, offset = 0;
};

/// The central directory as the zip64 end record before the plain one describes it; nullopt where there is none.
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

/// Searches backwards for the end record, which only a comment of at most 65,535 bytes may follow.
Result<Directory> find_directory(std::span<const std::byte> bytes, const std::string& place) {
  constexpr size_t kEndSize = 22, kLongestComment = 65535;
  if (bytes.size() < kEndSize) return bad_zip(place, "too short");
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
  return bad_zip(place, "no end record");
}

/// Sizes and offset that are in the zip64 extra field, in this order, where the plain ones are all ones.
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
  if (c.take<uint32_t>() != kLocal) return bad_zip(place, "a local header is not where the directory says");
  c.take_bytes(22);
  const uint16_t name = c.take<uint16_t>(), extra = c.take<uint16_t>();
  c.take_bytes(uint64_t{name} + extra);
  const auto data = c.take_bytes(packed);
  if (!c.ok) return bad_zip(place, "a file runs past the end");
  return data;
}

Result<ZipEntry> read_entry(std::span<const std::byte> bytes, Cursor& c, const std::string& place) {
  if (c.take<uint32_t>() != kCentral) return bad_zip(place, "the directory is damaged");
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
  if (!c.ok || !read_extra64({extra_bytes}, size, packed, offset)) return bad_zip(place, "the directory is cut off");
  e.name.assign(reinterpret_cast<const char*>(name_bytes.data()), name_bytes.size());
  if ((flags & 1) != 0 || (method != 0 && method != 8))
    return fail(Code::not_supported, place, "not supported yet: encrypted zip entries, or packed otherwise than by deflate")
        .expected("stored or deflated files")
        .found(e.name)
        .advice("write it again with numpy.savez or numpy.savez_compressed");
  e.deflated = method == 8;
  e.size = size;
  e.packed = TRY(packed_bytes(bytes, offset, packed, place));
  if (!e.deflated && packed != size) return bad_zip(place, "a stored file has two sizes");
  // Deflate packs at most 1032 to 1: a larger claim would only make the reader allocate.
  if (e.deflated && size / 1040 > packed) return bad_zip(place, "a packed file claims an impossible size");
  return e;
}

}  // namespace

Error bad_zip(const std::string& place, const char* what) {
  return fail(Code::bad_file, place, "not a sound zip archive")
      .expected("an archive as numpy.savez writes it")
      .found(what)
      .advice("copy the file again, or write it again with numpy.savez");
}

Result<std::vector<ZipEntry>> read_zip(std::span<const std::byte> bytes, const std::string& place) {
  const Directory directory = TRY(find_directory(bytes, place));
  if (directory.entries > kMaxEntries)
    return fail(Code::limit_exceeded, place, "the zip archive has too many files")
        .expected("at most 65536")
        .found(std::to_string(directory.entries));
  Cursor c = cursor_at(bytes, directory.offset);
  std::vector<ZipEntry> entries;
  uint64_t packed = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    entries.push_back(TRY(read_entry(bytes, c, place)));
    packed += entries.back().packed.size();
    if (packed > bytes.size()) return bad_zip(place, "its files overlap");
  }
  return entries;
}

}  // namespace tenon::files
