// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "engine/reader.h"
#include "engine/writer.h"

namespace tenon::engine {
namespace {

std::span<const std::byte> view(const std::string& bytes) { return std::as_bytes(std::span(bytes)); }
Result<Reader> open(const std::string& bytes) { return Reader::open(view(bytes), nullptr, "test.tenon"); }
std::string text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Writer small_engine() {
  Writer w;
  w.add(SectionType::graph_text, "graph main() {}");
  w.add(SectionType::manifest, "{}", {.required = false});
  w.add(SectionType::program, std::string("\x08\x01\0\x02", 4));
  w.add_streamed(SectionType::weights, 6, [](Append append) -> Result<void> {
    TRY(append(view("abc")));
    return append(view("def"));
  });
  w.add(SectionType::code, "code one", {.tag = 1});
  w.add(SectionType::code, "code two", {.tag = 2});
  return w;
}

TEST(EngineFile, ReadsWhatWasWritten) {
  const std::string bytes = *small_engine().bytes();
  EXPECT_EQ(bytes.size(), small_engine().file_size());
  const auto reader = open(bytes);
  ASSERT_TRUE(reader.has_value()) << reader.error().text();
  EXPECT_EQ(text(*reader->find(SectionType::weights)), "abcdef");
  EXPECT_EQ(text(*reader->find(SectionType::code, 2)), "code two");
  EXPECT_FALSE(reader->find(SectionType::code, 3).has_value());
  EXPECT_EQ(reader->require(SectionType::provenance).error().code(), Code::bad_file);
  for (const Section& section : reader->sections()) EXPECT_EQ(section.offset % kPage, 0u);
  EXPECT_TRUE(reader->verify_all().has_value());
}

TEST(EngineFile, TheSameSectionsGiveTheSameBytes) { EXPECT_EQ(*small_engine().bytes(), *small_engine().bytes()); }

TEST(EngineFile, AnEngineWithoutSectionsIsOne) {
  const std::string bytes = *Writer().bytes();
  EXPECT_TRUE(open(bytes)->verify_all().has_value());
}

TEST(EngineFile, PiecesHashedWhileWrittenAreWholeAndInOrder) {
  std::string all(5 << 20, '\0');
  for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<char>(k * 2654435761u >> 24);
  Writer w;
  w.add_streamed(SectionType::weights, all.size(), [&](Append append) -> Result<void> {
    TRY(append(view(all).first(2 << 20)));
    TRY(append(view(all).subspan(2 << 20, 5)));
    return append(view(all).subspan((2 << 20) + 5));
  });
  const std::string bytes = *w.bytes();
  const auto reader = open(bytes);
  ASSERT_TRUE(reader.has_value()) << reader.error().text();
  EXPECT_EQ(text(*reader->find(SectionType::weights)), all);
  EXPECT_EQ(reader->sections()[0].hash, hash128(all));
  const auto failed =
      w.write([](uint64_t, std::span<const std::byte>) -> Result<void> { return fail(Code::write_failed, "disk", "full"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::write_failed);
}

TEST(EngineFile, AnyChangedByteIsFound) {
  std::string bytes = *small_engine().bytes();
  for (size_t at = 0; at < bytes.size(); ++at) {
    const unsigned char mask = at % 8 == 0 ? 0xff : static_cast<unsigned char>(1 << (at % 8));
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    const auto reader = open(bytes);
    const bool found = !reader || !reader->verify_all();
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    ASSERT_TRUE(found) << "byte " << at;
  }
}

TEST(EngineFile, ChangesToPlanAndCodeAreFoundOnOpening) {
  const std::string good = *small_engine().bytes();
  const auto reader = open(good);
  for (const Section& section : reader->sections()) {
    const bool at_open = section.type != SectionType::weights && section.type != SectionType::graph_text;
    for (size_t i = 0; i < section.bytes.size(); ++i) {
      std::string bad = good;
      bad[section.offset + i] ^= 0x10;
      EXPECT_EQ(open(bad).has_value(), !at_open) << name_of(section.type) << " byte " << i;
    }
  }
}

TEST(EngineFile, EveryTruncationIsFound) {
  const std::string bytes = *small_engine().bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto reader = Reader::open(view(bytes).first(size), nullptr, "cut.tenon");
    ASSERT_FALSE(reader.has_value()) << size;
    ASSERT_EQ(reader.error().code(), Code::bad_file) << size;
  }
  EXPECT_FALSE(open(bytes + '\0').has_value());
}

TEST(EngineFile, UnknownSectionsAreSkippedUnlessRequired) {
  Writer optional = small_engine();
  optional.add(static_cast<SectionType>(77), "later", {.required = false});
  const std::string bytes = *optional.bytes();
  const auto reader = open(bytes);
  ASSERT_TRUE(reader.has_value());
  EXPECT_FALSE(reader->sections().back().known);
  EXPECT_TRUE(reader->verify_all().has_value());

  Writer required = small_engine();
  required.add(static_cast<SectionType>(77), "later");
  const auto refused = open(*required.bytes());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Code::wrong_target);
  EXPECT_NE(refused.error()->found.find("1.0"), std::string::npos);
  EXPECT_NE(refused.error()->what.find("77"), std::string::npos);
}

std::string with_header(std::string bytes, void (*change)(Header&)) {
  Header h;
  std::memcpy(&h, bytes.data(), sizeof(h));
  change(h);
  h.header_hash = hash128(std::as_bytes(std::span(&h, 1)).first(offsetof(Header, header_hash))).low;
  std::memcpy(bytes.data(), &h, sizeof(h));
  return bytes;
}

TEST(EngineFile, AnotherMajorVersionIsRefusedAndANewerMinorOneIsRead) {
  const std::string bytes = *small_engine().bytes();
  const auto major = open(with_header(bytes, [](Header& h) { ++h.major; }));
  ASSERT_FALSE(major.has_value());
  EXPECT_EQ(major.error().code(), Code::wrong_target);
  EXPECT_TRUE(open(with_header(bytes, [](Header& h) { h.minor += 9; })).has_value());
  EXPECT_EQ(open(with_header(bytes, [](Header& h) { h.sections = 0xffffffff; })).error().code(), Code::limit_exceeded);
}

TEST(EngineFile, TextModeDamageIsNamed) {
  std::string bytes = *small_engine().bytes();
  bytes.erase(4, 1);  // "\r\n" became "\n"
  const auto reader = open(bytes);
  ASSERT_FALSE(reader.has_value());
  EXPECT_NE(reader.error()->what.find("text mode"), std::string::npos);
  EXPECT_NE(open("PK\3\4 something else").error()->what.find("no Tenon engine"), std::string::npos);
}

TEST(EngineFile, AWrongStreamLengthIsOurError) {
  for (uint64_t length : {2u, 4u}) {
    Writer w;
    w.add_streamed(SectionType::weights, length, [](Append append) { return append(view("abc")); });
    EXPECT_EQ(w.bytes().error().code(), Code::internal);
  }
}

TEST(EngineFile, ErrorsOfTheOutputComeThrough) {
  const auto full = [](uint64_t, std::span<const std::byte>) -> Result<void> { return fail(Code::write_failed, "x", "disk full"); };
  EXPECT_EQ(small_engine().write(full).error().code(), Code::write_failed);
}

}  // namespace
}  // namespace tenon::engine
