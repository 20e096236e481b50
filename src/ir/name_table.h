// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/ids.h"

namespace tenon::ir {

/// Which value has a name. Open addressing over ids and hashes: the names themselves stay with the values, and the caller
/// says what an id is called (`name_of(ValueId) -> std::string_view`). 8 bytes a place, at most two thirds of them taken.
class NameTable {
 public:
  size_t size() const { return size_; }

  template <class NameOf>
  ValueId find(std::string_view name, NameOf name_of) const {
    if (places_.empty()) return {};
    const uint32_t hash = hash_of(name);
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Place& p = places_[at];
      if (!p.value) return {};
      if (p.hash == hash && name_of(p.value) == name) return p.value;
    }
  }

  /// The name must be nobody's yet.
  void add(std::string_view name, ValueId value) {
    if (3 * (size_ + 1) > 2 * places_.size()) grow();
    put({hash_of(name), value});
    ++size_;
  }

  /// `value` must be in the table, under this name.
  void erase(std::string_view name, ValueId value) {
    size_t hole = place_of(name, value);
    --size_;
    // Later entries move up, so that no search meets a gap before what it looks for.
    for (size_t at = (hole + 1) & mask(); places_[at].value; at = (at + 1) & mask()) {
      const size_t home = places_[at].hash & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole] = {};
  }

  /// The name goes from one value to another. Cost: one search.
  void hand_over(std::string_view name, ValueId from, ValueId to) { places_[place_of(name, from)].value = to; }

 private:
  struct Place {
    uint32_t hash = 0;
    ValueId value;  ///< none: free
  };
  static uint32_t hash_of(std::string_view name) {
    const size_t hash = std::hash<std::string_view>{}(name);
    return static_cast<uint32_t>(hash ^ (hash >> 32));
  }
  size_t mask() const { return places_.size() - 1; }
  size_t place_of(std::string_view name, ValueId value) const {
    size_t at = hash_of(name) & mask();
    for (; places_[at].value != value; at = (at + 1) & mask()) TENON_ASSERT(places_[at].value);
    return at;
  }
  void put(Place p) {
    size_t at = p.hash & mask();
    while (places_[at].value) at = (at + 1) & mask();
    places_[at] = p;
  }
  void grow() {
    std::vector<Place> old(places_.empty() ? 16 : 2 * places_.size());
    old.swap(places_);
    for (const Place& p : old)
      if (p.value) put(p);
  }

  std::vector<Place> places_;  ///< none, or a power of two
  size_t size_ = 0;
};

}  // namespace tenon::ir
