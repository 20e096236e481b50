// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace tenon::engine {

/// What a section holds. The numbers are in files for ever.
enum class SectionType : uint32_t {
  graph_text = 1,
  manifest = 2,  ///< JSON: versions, options, plugins
  program = 3,   ///< numbered fields: of engines before `programs`
  kernels = 4,   ///< descriptors
  memory_plan = 5,
  weights = 6,
  code = 7,  ///< `tag`: the instruction set
  provenance = 8,
  constants_index = 9,
  target = 10,          ///< text on the code of the same `tag`: a line with the title of its target; then CPU features, separated by blanks
  tactics = 11,         ///< text: the tactic of each kernel, one a line
  plugins = 12,         ///< numbered fields: plugin::Saved of each node that a plugin runs
  plugin_library = 13,  ///< numbered fields: a plugin library; `tag`: its index among those of the file
  plugin_times = 14,    ///< numbered fields: measurements of a build with --measure
  plan_record = 15,     ///< numbered fields: which nodes each step computes, and what its kernel does; `tag`: the instruction set
  programs = 16,        ///< numbered fields: the table of programs
  language_text = 17,   ///< a text asset of a language model, such as its tokenizer; `tag`: its kind (files::TextAsset)
};
std::string_view name_of(SectionType type);

inline constexpr uint16_t kMajor = 1;    ///< readers refuse another one
inline constexpr uint16_t kMinor = 0;    ///< grows with optional sections and fields; any may be read
inline constexpr uint64_t kPage = 4096;  ///< every section starts at a multiple
inline constexpr uint32_t kMostSections = 4096;

/// The file begins with this header; little-endian, like all numbers in it. Then the table, then the sections in the order of
/// the table, each at the next multiple of kPage; zeros between them and up to the next page boundary after the last.
struct Header {
  std::array<uint8_t, 8> magic;  ///< a high bit and both line ends: a transfer as text destroys it
  uint16_t major, minor;
  uint32_t byte_order;   ///< kByteOrder
  uint32_t header_size;  ///< 64; the table follows
  uint32_t entry_size;   ///< 64
  uint64_t file_size;
  uint32_t sections;
  uint32_t flags;  ///< 0
  Hash128 table_hash;
  uint64_t header_hash;  ///< low half of XXH3-128 of the 56 bytes before
};
static_assert(sizeof(Header) == 64);

struct TableEntry {
  uint32_t type;
  uint32_t flags;  ///< 1: a reader without support for the type refuses the file
  uint64_t offset, length;
  uint32_t tag;        ///< distinguishes sections of one type; 0 where there is one
  uint32_t alignment;  ///< kPage
  Hash128 hash;
  uint64_t reserved[2];  ///< 0
};
static_assert(sizeof(TableEntry) == 64);

inline constexpr std::array<uint8_t, 8> kMagic = {0x89, 'T', 'N', 'N', '\r', '\n', 0x1a, '\n'};
inline constexpr uint32_t kByteOrder = 0x01020304;
inline constexpr uint32_t kRequired = 1;

}  // namespace tenon::engine
