// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tenon::plugin::worker {

/// Memory that the host and its worker process both map, at different addresses. A Name identifies a place in it in messages.
class CommonMemory {
 public:
  static constexpr int64_t kSharedFile = -1;
  struct Name {
    int64_t where = kSharedFile;  ///< the shared file, or the index of an operand
    uint64_t offset = 0;          ///< in it, in bytes
  };
  struct Range {
    Name name;
    const std::byte* data = nullptr;
    uint64_t bytes = 0;
    bool is_written = false;  ///< results may be written there
  };

  void clear() { ranges_.clear(); }
  void add(const Range& range) { ranges_.push_back(range); }
  /// The name of these bytes. None: they are not within one range, or `is_written` and the range is read-only.
  std::optional<Name> name_of(const std::byte* data, uint64_t bytes, bool is_written) const {
    const std::less_equal<> before;
    for (const Range& r : ranges_)
      if (before(r.data, data) && has(r, static_cast<uint64_t>(data - r.data), bytes, is_written))
        return Name{r.name.where, r.name.offset + static_cast<uint64_t>(data - r.data)};
    return std::nullopt;
  }
  /// The address of named bytes in this process. Null: they are not within a range, or `is_written` and the range is read-only.
  const std::byte* at(const Name& name, uint64_t bytes, bool is_written) const {
    for (const Range& r : ranges_)
      if (r.name.where == name.where && name.offset >= r.name.offset && has(r, name.offset - r.name.offset, bytes, is_written))
        return r.data + (name.offset - r.name.offset);
    return nullptr;
  }

 private:
  static bool has(const Range& r, uint64_t offset, uint64_t bytes, bool is_written) {
    return bytes <= r.bytes && offset <= r.bytes - bytes && (r.is_written || !is_written);
  }
  std::vector<Range> ranges_;
};

}  // namespace tenon::plugin::worker
