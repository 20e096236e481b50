// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/ids.h"

namespace tenon::ir {

/// Finds the value of a name. A hash table with open addressing that stores ids and hashes; the names are in the values, and the caller
/// passes `name_of(ValueId) -> std::string_view`. 8 bytes a slot, at most two thirds of them in use.
class NameTable {
 public:
  size_t size() const { return size_; }

  template <class NameOf>
  ValueId find(std::string_view name, NameOf name_of) const {
    if (slots_.empty()) return {};
    const uint32_t hash = hash_of(name);
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& p = slots_[at];
      if (!p.value) return {};
      if (p.hash == hash && name_of(p.value) == name) return p.value;
    }
  }

  /// The name must not be in the table.
  void add(std::string_view name, ValueId value) {
    if (3 * (size_ + 1) > 2 * slots_.size()) grow();
    put({hash_of(name), value});
    ++size_;
  }

  /// `value` must be in the table, under this name.
  void erase(std::string_view name, ValueId value) {
    size_t hole = slot_of(name, value);
    --size_;
    // Later entries of the probe sequence move into the hole, so that searches for them do not end at it.
    for (size_t at = (hole + 1) & mask(); slots_[at].value; at = (at + 1) & mask()) {
      const size_t home = slots_[at].hash & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
  }

  /// Assigns the name of one value to another. Cost: one search.
  void move_name(std::string_view name, ValueId from, ValueId to) { slots_[slot_of(name, from)].value = to; }

 private:
  struct Slot {
    uint32_t hash = 0;
    ValueId value;  ///< none: free
  };
  static uint32_t hash_of(std::string_view name) {
    const size_t hash = std::hash<std::string_view>{}(name);
    return static_cast<uint32_t>(hash ^ (hash >> 32));
  }
  size_t mask() const { return slots_.size() - 1; }
  size_t slot_of(std::string_view name, ValueId value) const {
    size_t at = hash_of(name) & mask();
    for (; slots_[at].value != value; at = (at + 1) & mask()) TENON_ASSERT(slots_[at].value);
    return at;
  }
  void put(Slot p) {
    size_t at = p.hash & mask();
    while (slots_[at].value) at = (at + 1) & mask();
    slots_[at] = p;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& p : old)
      if (p.value) put(p);
  }

  std::vector<Slot> slots_;  ///< none, or a power of two
  size_t size_ = 0;
};

}  // namespace tenon::ir
