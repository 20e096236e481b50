// SPDX-License-Identifier: Apache-2.0
#include "engine/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon::engine {
namespace {

constexpr const char* kBuildAgain = "build the engine again, or copy it again from where it was built";

Error damaged(const std::string& place, std::string what, std::string expected, std::string found) {
  return fail(Code::bad_file, place, "damaged engine: " + std::move(what))
      .expected(std::move(expected))
      .found(std::move(found))
      .advice(kBuildAgain);
}

std::string count_of(uint64_t bytes) { return fmt::format("{} bytes", bytes); }

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

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
    return damaged(place, bytes.size() < h.file_size ? "the file is cut off" : "there are bytes behind its end", count_of(h.file_size),
                   count_of(bytes.size()));
  }
  if (h.sections > kMostSections) {
    return fail(Code::limit_exceeded, place, "too many sections")
        .expected(fmt::format("at most {}", kMostSections))
        .found(std::to_string(h.sections));
  }
  return h;
}

Result<std::vector<TableEntry>> read_table(std::span<const std::byte> bytes, const Header& h, const std::string& place) {
  const size_t size = size_t{h.sections} * sizeof(TableEntry);
  if (size > bytes.size() - sizeof(Header))
    return damaged(place, "the section table is cut off", count_of(size), count_of(bytes.size() - sizeof(Header)));
  const auto raw = bytes.subspan(sizeof(Header), size);
  const Hash128 hash = hash128(raw);
  if (hash != h.table_hash) return damaged(place, "the section table does not have its hash", h.table_hash.text(), hash.text());
  std::vector<TableEntry> table(h.sections);
  if (size != 0) std::memcpy(table.data(), raw.data(), size);
  return table;
}

bool is_known(SectionType type) { return type >= SectionType::graph_text && type <= SectionType::tactics; }

/// What a run relies on before it starts. Hashing weights costs more than starting; graph text and provenance are for people.
bool checked_at_open(SectionType type) {
  return is_known(type) && type != SectionType::weights && type != SectionType::graph_text && type != SectionType::provenance;
}

std::string label(const Section& section) {
  const std::string name = section.known ? std::string(name_of(section.type)) : fmt::format("type {}", static_cast<uint32_t>(section.type));
  return section.tag == 0 ? name : fmt::format("{} {}", name, section.tag);
}

/// `end`: of what stands before; moved behind this section.
Result<Section> section_of(const TableEntry& e, std::span<const std::byte> bytes, uint64_t& end, const Header& h,
                           const std::string& place) {
  const auto type = static_cast<SectionType>(e.type);
  const bool lies_right =
      e.offset % kPage == 0 && e.alignment == kPage && e.offset >= end && e.offset <= bytes.size() && e.length <= bytes.size() - e.offset;
  if (!lies_right || e.reserved[0] != 0 || e.reserved[1] != 0 || e.flags > kRequired) {
    return damaged(place, fmt::format("the table entry of section type {} is not valid", e.type),
                   fmt::format("a range of whole pages between {} and {}", end, bytes.size()),
                   fmt::format("offset {}, length {}, alignment {}, flags {}", e.offset, e.length, e.alignment, e.flags));
  }
  const Section section{type, e.flags == kRequired, is_known(type), e.tag, e.offset, bytes.subspan(e.offset, e.length), e.hash};
  if (section.required && !section.known) {
    return fail(Code::wrong_target, place, fmt::format("this engine needs a section that this version does not know: type {}", e.type))
        .expected(fmt::format("format {}.{} or older", kMajor, kMinor))
        .found(fmt::format("format {}.{}", h.major, h.minor))
        .advice("use a newer Tenon, or build the engine again with this one");
  }
  end = e.offset + e.length;
  return section;
}

}  // namespace

Result<Reader> Reader::open(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, std::string place) {
  Reader r;
  r.bytes_ = bytes;
  r.keeper_ = std::move(keeper);
  r.place_ = std::move(place);
  const Header header = TRY(read_header(bytes, r.place_));
  const std::vector<TableEntry> table = TRY(read_table(bytes, header, r.place_));
  uint64_t end = sizeof(Header) + table.size() * sizeof(TableEntry);
  for (const TableEntry& entry : table) {
    Section section = TRY(section_of(entry, bytes, end, header, r.place_));
    if (section.known && r.find(section.type, section.tag)) return damaged(r.place_, "two sections of one kind", "one", label(section));
    if (checked_at_open(section.type)) TRY(r.verify(section));
    r.sections_.push_back(section);
  }
  return r;
}

std::optional<std::span<const std::byte>> Reader::find(SectionType type, uint32_t tag) const {
  for (const Section& section : sections_) {
    if (section.type == type && section.tag == tag) return section.bytes;
  }
  return std::nullopt;
}

Result<std::span<const std::byte>> Reader::require(SectionType type, uint32_t tag) const {
  if (const auto found = find(type, tag)) return *found;
  return fail(Code::bad_file, place_, "this engine lacks a section")
      .expected(fmt::format("\"{}\" (tag {})", name_of(type), tag))
      .found(fmt::format("{} other sections", sections_.size()))
      .advice(kBuildAgain);
}

Result<void> Reader::verify(const Section& section) const {
  const Hash128 found = hash128(section.bytes);
  if (found == section.hash) return {};
  return damaged(place_, fmt::format("section \"{}\" does not have its hash", label(section)), section.hash.text(), found.text());
}

Result<void> Reader::verify_all() const {
  uint64_t end = sizeof(Header) + sections_.size() * sizeof(TableEntry);
  const auto check_padding = [&](uint64_t from, uint64_t to) -> Result<void> {
    if (!all_zero(bytes_.subspan(from, to - from)))
      return damaged(place_, "padding is not zero", "zeros", fmt::format("other bytes in [{}, {})", from, to));
    return {};
  };
  for (const Section& section : sections_) {
    TRY(check_padding(end, section.offset));
    TRY(verify(section));
    end = section.offset + section.bytes.size();
  }
  return check_padding(end, bytes_.size());
}

}  // namespace tenon::engine
