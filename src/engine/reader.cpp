// SPDX-License-Identifier: Apache-2.0
#include "engine/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/header.h"

namespace tenon::engine {
namespace {

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
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

bool is_known(SectionType type) { return type >= SectionType::graph_text && type <= SectionType::language_text; }

/// Whether open() checks the hash of a section of that type. Not of weights and plugin libraries: to hash them costs more than to start.
/// Not of graph text, plan record and provenance: runs do not use them.
bool is_hashed_at_open(SectionType type) {
  switch (type) {
    case SectionType::weights:
    case SectionType::graph_text:
    case SectionType::provenance:
    case SectionType::plan_record:
    case SectionType::plugin_library: return false;
    default: return is_known(type);
  }
}

std::string label(const Section& section) {
  const std::string name = section.known ? std::string(name_of(section.type)) : fmt::format("type {}", static_cast<uint32_t>(section.type));
  return section.tag == 0 ? name : fmt::format("{} {}", name, section.tag);
}

/// The section of a table entry. end: where the entries before it end, as an offset in the file; becomes the end of this section.
Result<Section> section_of(const TableEntry& e, std::span<const std::byte> bytes, uint64_t& end, const Header& h,
                           const std::string& place) {
  const auto type = static_cast<SectionType>(e.type);
  const bool is_valid_range =
      e.offset % kPage == 0 && e.alignment == kPage && e.offset >= end && e.offset <= bytes.size() && e.length <= bytes.size() - e.offset;
  if (!is_valid_range || e.reserved[0] != 0 || e.reserved[1] != 0 || e.flags > kRequired) {
    return damaged(place, fmt::format("the table entry of section type {} is not valid", e.type),
                   fmt::format("a range of whole pages between {} and {}", end, bytes.size()),
                   fmt::format("offset {}, length {}, alignment {}, flags {}", e.offset, e.length, e.alignment, e.flags));
  }
  const Section section{type, e.flags == kRequired, is_known(type), e.tag, e.offset, bytes.subspan(e.offset, e.length), e.hash};
  if (section.required && !section.known) {
    return fail(Code::wrong_target, place, fmt::format("this engine needs an unknown section: type {}", e.type))
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
    if (is_hashed_at_open(section.type)) TRY(r.verify(section));
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
