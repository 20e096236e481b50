// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/format.h"

namespace tenon::engine {

/// A section as it is in the file.
struct Section {
  SectionType type;
  bool required;
  bool known;  ///< this reader has a name for the type
  uint32_t tag;
  uint64_t offset;
  std::span<const std::byte> bytes;
  Hash128 hash;
};

/// An engine file in memory or mapped. Nothing is copied: all spans point into the bytes that `keeper` keeps alive.
class Reader {
 public:
  /// Checks header, table, and the hashes of all sections but weights, graph text, plan record, provenance and libraries of plugins
  /// (which `verify` checks). `place`: the file's name, for errors. Errors: bad_file (no engine, damaged, cut off), wrong_target (another
  /// version of the format, a required section that is not known). Cost: one pass over the sections that are hashed.
  static Result<Reader> open(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, std::string place);

  std::span<const Section> sections() const { return sections_; }
  std::optional<std::span<const std::byte>> find(SectionType type, uint32_t tag = 0) const;
  /// Errors: bad_file where there is none.
  Result<std::span<const std::byte>> require(SectionType type, uint32_t tag = 0) const;
  const std::shared_ptr<const void>& keeper() const { return keeper_; }

  /// Checks one section's hash. Errors: bad_file.
  Result<void> verify(const Section& section) const;
  /// Checks every section and that all padding is zero: finds any byte of the file that was changed.
  Result<void> verify_all() const;

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> keeper_;
  std::string place_;
  std::vector<Section> sections_;
};

}  // namespace tenon::engine
