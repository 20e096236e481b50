// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "engine/format.h"

namespace tenon::engine {

using Append = FunctionRef<Result<void>(std::span<const std::byte> bytes)>;
/// Puts bytes at a place of the output; called with rising offsets but for the header, which comes last (offset 0).
using WriteAt = FunctionRef<Result<void>(uint64_t offset, std::span<const std::byte> bytes)>;

/// Lays out an engine file. The same sections in the same order give the same bytes.
class Writer {
 public:
  struct Options {
    bool required = true;  ///< a reader without support for the type refuses the file
    uint32_t tag = 0;
  };
  void add(SectionType type, std::string bytes) { add(type, std::move(bytes), Options{}); }
  void add(SectionType type, std::string bytes, Options options);
  /// A section whose bytes come in pieces and are never in memory together: `produce` appends exactly `length` bytes.
  void add_streamed(SectionType type, uint64_t length, std::function<Result<void>(Append append)> produce) {
    add_streamed(type, length, std::move(produce), Options{});
  }
  void add_streamed(SectionType type, uint64_t length, std::function<Result<void>(Append append)> produce, Options options);

  /// Size of the whole file.
  uint64_t file_size() const;
  /// Writes all of it. Errors: those of `write_at` and of the sections' producers; internal where a producer's length is wrong.
  Result<void> write(WriteAt write_at) const;
  /// Into memory; for tests and small engines.
  Result<std::string> bytes() const;

 private:
  struct Section {
    SectionType type;
    Options options;
    uint64_t length;
    std::string owned;
    std::function<Result<void>(Append)> produce;
  };
  static Result<TableEntry> write_section(const Section& section, uint64_t offset, WriteAt write_at);
  std::vector<Section> sections_;
};

}  // namespace tenon::engine
