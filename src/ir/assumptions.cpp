// SPDX-License-Identifier: Apache-2.0
#include "ir/assumptions.h"

namespace tenon::ir {

using Kind = Assumption::Kind;

std::optional<bool> decide(Kind kind, Dim a, Dim b) {
  switch (kind) {
    case Kind::equal: return a.equals(b);
    case Kind::broadcast:
      if (a.known_equal(b) || a.known_equal(1) || b.known_equal(1)) return true;
      if (a.equals(b) == false && a.equals(1) == false && b.equals(1) == false) return false;
      return std::nullopt;
    case Kind::at_least: {
      const auto less = a.less(b);
      return less ? std::optional(!*less) : std::nullopt;
    }
    case Kind::spreads:
      if (a.known_equal(b) || a.known_equal(1)) return true;
      if (a.equals(b) == false && a.equals(1) == false) return false;
      return std::nullopt;
  }
  return std::nullopt;
}

/// Spellings of one fact have one key: 2*n == 2*m is n == m, and n >= m + 1 is n - m >= 1.
Assumptions::Key Assumptions::key_of(Kind kind, Dim a, Dim b) {
  if (kind == Kind::equal) return {kind, equal_to(a, b), 0};
  if (kind == Kind::at_least) return {kind, less_than(a, b), 0};
  if (kind == Kind::spreads) return {kind, a, b};
  return a.hash() <= b.hash() ? Key{kind, a, b} : Key{kind, b, a};
}

bool Assumptions::implies(Kind kind, Dim a, Dim b) const {
  if (decide(kind, a, b) == true || known_.contains(key_of(kind, a, b))) return true;
  if (kind == Kind::equal) return false;
  return known_.contains(key_of(Kind::equal, a, b)) || (kind == Kind::broadcast && known_.contains(key_of(Kind::spreads, a, b)));
}

void Assumptions::add(Kind kind, Dim a, Dim b, FunctionRef<void(Assumption&)> describe) {
  if (implies(kind, a, b)) return;
  known_.insert(key_of(kind, a, b));
  Assumption& made = list_.emplace_back(Assumption{kind, a, b, {}, {}});
  describe(made);
}

void Assumptions::truncate(size_t size) {
  while (list_.size() > size) {
    known_.erase(key_of(list_.back().kind, list_.back().a, list_.back().b));
    list_.pop_back();
  }
}

}  // namespace tenon::ir
