// SPDX-License-Identifier: Apache-2.0
#include "engine/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <future>

namespace tenon::engine {

static_assert(std::endian::native == std::endian::little, "numbers are written in memory order");

namespace {

constexpr size_t kMinThreadBytes = 1 << 20;  ///< pieces of at least so many bytes are hashed by another thread while they are written

uint64_t next_page(uint64_t offset) { return (offset + kPage - 1) / kPage * kPage; }

template <class T>
std::span<const std::byte> bytes_of_list(const std::vector<T>& list) {
  return std::as_bytes(std::span(list));
}

/// At most one page.
Result<void> write_zeros(WriteAt write_at, uint64_t from, uint64_t to) {
  static constexpr std::byte kZeros[kPage] = {};
  TENON_ASSERT(from <= to && to - from <= kPage);
  if (from == to) return {};
  return write_at(from, std::span(kZeros, static_cast<size_t>(to - from)));
}

Header header_of(const std::vector<TableEntry>& table, uint64_t file_size) {
  Header h{};
  h.magic = kMagic;
  h.major = kMajor;
  h.minor = kMinor;
  h.byte_order = kByteOrder;
  h.header_size = sizeof(Header);
  h.entry_size = sizeof(TableEntry);
  h.file_size = file_size;
  h.sections = static_cast<uint32_t>(table.size());
  h.table_hash = hash128(bytes_of_list(table));
  h.header_hash = hash128(std::as_bytes(std::span(&h, 1)).first(offsetof(Header, header_hash))).low;
  return h;
}

}  // namespace

void Writer::add(SectionType type, std::string bytes, Options options) {
  const uint64_t length = bytes.size();
  sections_.push_back({type, options, length, std::move(bytes), nullptr});
}

void Writer::add_streamed(SectionType type, uint64_t length, std::function<Result<void>(Append)> produce, Options options) {
  sections_.push_back({type, options, length, {}, std::move(produce)});
}

uint64_t Writer::file_size() const {
  uint64_t end = next_page(sizeof(Header) + sections_.size() * sizeof(TableEntry));
  for (const Section& section : sections_) end = next_page(end + section.length);
  return end;
}

Result<TableEntry> Writer::write_section(const Section& section, uint64_t offset, WriteAt write_at) {
  Hasher hasher;
  uint64_t at = offset;
  const auto append = [&](std::span<const std::byte> bytes) -> Result<void> {
    if (bytes.size() > offset + section.length - at)
      return fail(Code::internal, std::string(name_of(section.type)), "a section grew past its length");
    const auto policy = bytes.size() < kMinThreadBytes ? std::launch::deferred : std::launch::async | std::launch::deferred;
    auto hashing = std::async(policy, [&] { hasher.add(bytes); });
    TRY(write_at(at, bytes));
    hashing.get();
    at += bytes.size();
    return {};
  };
  if (section.produce) TRY(section.produce(append));
  else TRY(append(std::as_bytes(std::span(section.owned))));
  if (at != offset + section.length) {
    return fail(Code::internal, std::string(name_of(section.type)), "a section ended before its length")
        .expected(fmt::format("{} bytes", section.length))
        .found(fmt::format("{} bytes", at - offset));
  }
  const uint32_t flags = section.options.required ? kRequired : 0;
  return TableEntry{static_cast<uint32_t>(section.type), flags,           offset, section.length, section.options.tag,
                    static_cast<uint32_t>(kPage),        hasher.digest(), {0, 0}};
}

Result<void> Writer::write(WriteAt write_at) const {
  TENON_ASSERT(sections_.size() <= kMostSections);
  std::vector<TableEntry> table;
  uint64_t offset = next_page(sizeof(Header) + sections_.size() * sizeof(TableEntry));
  for (const Section& section : sections_) {
    table.push_back(TRY(write_section(section, offset, write_at)));
    const uint64_t end = offset + section.length;
    offset = next_page(end);
    TRY(write_zeros(write_at, end, offset));
  }
  const Header header = header_of(table, offset);
  const uint64_t table_end = sizeof(Header) + table.size() * sizeof(TableEntry);
  TRY(write_at(sizeof(Header), bytes_of_list(table)));
  for (uint64_t at = table_end; at < next_page(table_end); at = next_page(at + 1)) TRY(write_zeros(write_at, at, next_page(at + 1)));
  return write_at(0, std::as_bytes(std::span(&header, 1)));
}

Result<std::string> Writer::bytes() const {
  std::string out(file_size(), '\0');
  TRY(write([&](uint64_t offset, std::span<const std::byte> piece) -> Result<void> {
    if (!piece.empty()) std::memcpy(out.data() + offset, piece.data(), piece.size());
    return {};
  }));
  return out;
}

}  // namespace tenon::engine
