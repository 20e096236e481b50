// SPDX-License-Identifier: Apache-2.0
#include "engine/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon::engine {

Error damaged(const std::string& place, std::string what, std::string expected, std::string found) {
  return fail(Code::bad_file, place, "damaged engine: " + std::move(what))
      .expected(std::move(expected))
      .found(std::move(found))
      .advice(kBuildAgain);
}

std::string count_of(uint64_t bytes) { return fmt::format("{} bytes", bytes); }

namespace {

std::string hex_of(std::span<const std::byte> bytes) {
  std::string out;
  for (std::byte b : bytes) out += fmt::format("{}{:02x}", out.empty() ? "" : " ", std::to_integer<unsigned>(b));
  return out;
}

Result<void> check_magic(std::span<const std::byte> bytes, const std::string& place) {
  const auto magic = bytes.first(std::min(bytes.size(), kMagic.size()));
  if (std::memcmp(magic.data(), kMagic.data(), magic.size()) != 0 || magic.empty()) {
    const bool as_text = magic.size() >= 4 && std::memcmp(magic.data() + 1, kMagic.data() + 1, 3) == 0;
    if (as_text)
      return damaged(place, "its first bytes were changed, as a transfer in text mode does", hex_of(std::as_bytes(std::span(kMagic))),
                     hex_of(magic));
    return fail(Code::bad_file, place, "this is no Tenon engine")
        .expected(hex_of(std::as_bytes(std::span(kMagic))))
        .found(magic.empty() ? "an empty file" : hex_of(magic))
        .advice("make one with `tenon build MODEL.onnx`");
  }
  if (bytes.size() < sizeof(Header)) return damaged(place, "cut off inside the header", count_of(sizeof(Header)), count_of(bytes.size()));
  return {};
}

}  // namespace

Result<Header> read_header(std::span<const std::byte> bytes, const std::string& place) {
  TRY(check_magic(bytes, place));
  Header h;
  std::memcpy(&h, bytes.data(), sizeof(h));
  if (h.byte_order != kByteOrder)
    return damaged(place, "unknown byte order", fmt::format("{:#010x}", kByteOrder), fmt::format("{:#010x}", h.byte_order));
  if (h.major != kMajor) {
    return fail(Code::wrong_target, place, "this engine has another version of the format")
        .expected(fmt::format("{}.x", kMajor))
        .found(fmt::format("{}.{}", h.major, h.minor))
        .advice("build the engine again with this version of Tenon");
  }
  const uint64_t hash = hash128(bytes.first(offsetof(Header, header_hash))).low;
  if (hash != h.header_hash)
    return damaged(place, "the header does not have its hash", fmt::format("{:016x}", h.header_hash), fmt::format("{:016x}", hash));
  if (h.header_size != sizeof(Header) || h.entry_size != sizeof(TableEntry) || h.flags != 0)
    return damaged(place, "a header of unknown form", fmt::format("a header and entries of {} bytes, no flags", sizeof(Header)),
                   fmt::format("{} and {} bytes, flags {}", h.header_size, h.entry_size, h.flags));
  if (h.file_size != bytes.size()) {
    return damaged(place, bytes.size() < h.file_size ? "the file is cut off" : "there are bytes after its end", count_of(h.file_size),
                   count_of(bytes.size()));
  }
  if (h.sections > kMostSections) {
    return fail(Code::limit_exceeded, place, "too many sections")
        .expected(fmt::format("at most {}", kMostSections))
        .found(std::to_string(h.sections));
  }
  return h;
}

}  // namespace tenon::engine
