// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "files/zip.h"
#include "files/zip_format.h"

namespace tenon::files {
namespace {

template <class T>
void put(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

uint32_t low_or_64(uint64_t value) { return value >= kIn64 ? kIn64 : static_cast<uint32_t>(value); }

constexpr uint16_t kUtf8Name = 1 << 11;  ///< bit 11 of the flags; without it a name is in code page 437 (APPNOTE 6.3.3, appendix D)

uint16_t flags_of(std::string_view name) {
  const bool ascii = std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return ascii ? 0 : kUtf8Name;
}

/// The fields that local and central headers share: version, flags, method (stored), time and date (1 January 1980), checksum and sizes.
void put_common(std::string& out, std::string_view name, uint32_t crc, uint64_t size) {
  put<uint16_t>(out, 45);
  put<uint16_t>(out, flags_of(name));
  put<uint16_t>(out, 0);
  put<uint16_t>(out, 0);
  put<uint16_t>(out, (1 << 5) | 1);
  put<uint32_t>(out, crc);
  put<uint32_t>(out, low_or_64(size));
  put<uint32_t>(out, low_or_64(size));
}

/// The zip64 extra field: the sizes (packed and unpacked are equal) and the offset, each where it needs more than 32 bits; else empty.
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
  put_common(local, name, crc, size);
  put<uint16_t>(local, static_cast<uint16_t>(name.size()));
  const std::string local_extra = extra_field(size, 0), central_extra = extra_field(size, offset_);
  put<uint16_t>(local, static_cast<uint16_t>(local_extra.size()));
  local += name + local_extra;

  put<uint32_t>(directory_, kCentral);
  put<uint16_t>(directory_, 45);
  put_common(directory_, name, crc, size);
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
