// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tenon::plugin::worker {

/// Memory that a host and its worker both have, each at an address of its own, and how they name a place in it to each other.
class CommonMemory {
 public:
  static constexpr int64_t kSharedFile = -1;
  struct Name {
    int64_t where = kSharedFile;  ///< the file that they share, or the operand of that index
    uint64_t offset = 0;          ///< there
  };
  struct Range {
    Name name;
    const std::byte* data = nullptr;
    uint64_t bytes = 0;
    bool is_written = false;  ///< results may lie there
  };

  void clear() { ranges_.clear(); }
  void add(const Range& range) { ranges_.push_back(range); }
  /// What these bytes are called, which lie within one range. None: they lie elsewhere, or where nobody may write.
  std::optional<Name> name_of(const std::byte* data, uint64_t bytes, bool is_written) const {
    const std::less_equal<> before;
    for (const Range& r : ranges_)
      if (before(r.data, data) && has(r, static_cast<uint64_t>(data - r.data), bytes, is_written))
        return Name{r.name.where, r.name.offset + static_cast<uint64_t>(data - r.data)};
    return std::nullopt;
  }
  /// Where they are in this process. Null: they are not, or nobody may write there.
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
