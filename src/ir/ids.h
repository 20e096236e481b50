// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>

namespace tenon::ir {

/// Handle of a node or value: 24 bits of slot, 8 bits of generation, so that a stale id is caught. 0 is "none".
template <class Tag>
struct Id {
  uint32_t bits = 0;
  constexpr Id() = default;
  constexpr Id(uint32_t slot, uint32_t generation) : bits(((slot + 1) << 8) | (generation & 0xff)) {}
  constexpr uint32_t slot() const { return (bits >> 8) - 1; }
  constexpr uint32_t generation() const { return bits & 0xff; }
  constexpr explicit operator bool() const { return bits != 0; }
  friend constexpr bool operator==(Id a, Id b) { return a.bits == b.bits; }
  friend constexpr auto operator<=>(Id a, Id b) { return a.bits <=> b.bits; }
};
using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
inline constexpr uint32_t kMaxSlots = (1u << 24) - 2;

}  // namespace tenon::ir

template <class Tag>
struct std::hash<tenon::ir::Id<Tag>> {
  size_t operator()(tenon::ir::Id<Tag> id) const { return std::hash<uint32_t>{}(id.bits); }
};
