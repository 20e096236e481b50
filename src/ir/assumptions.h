// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/dim/dim.h"
#include "base/function_ref.h"
#include "base/size_relation.h"

namespace tenon::ir {

/// What inference took for granted of two sizes that it could not compare. Whoever runs the graph checks it first: kernels rely on it.
struct Assumption {
  using Kind = SizeRelation;
  Kind kind = Kind::equal;
  Dim a, b;
  std::string where;  ///< "node 'scores' (MatMul)"
  std::string what;   ///< what is wrong where it does not hold: "inner sizes of A and B differ"
  /// "n >= m"
  std::string text() const { return text_of(kind, a.text(), b.text()); }
};

/// Whether it holds for all legal sizes, for none, or nullopt: that depends.
std::optional<bool> decide(Assumption::Kind kind, Dim a, Dim b);

/// The assumptions of one graph, each once, in the order in which they came up. They outlive the nodes that they were made for: what a
/// rewrite leaves out is still a condition of the model. Not thread-safe.
class Assumptions {
 public:
  /// Where the two are neither settled nor assumed already; `describe` fills `where` and `what` in then.
  void add(Assumption::Kind kind, Dim a, Dim b, FunctionRef<void(Assumption&)> describe);
  std::span<const Assumption> all() const { return list_; }
  size_t size() const { return list_.size(); }
  /// Forgets all but the first `size`: those that a rewrite made which was taken back.
  void truncate(size_t size);
  /// It follows from what is assumed.
  bool implies(Assumption::Kind kind, Dim a, Dim b) const;

 private:
  struct Key {
    Assumption::Kind kind;
    Dim a, b;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const { return k.a.hash() * 0x9e3779b97f4a7c15u ^ k.b.hash() * 31 ^ static_cast<size_t>(k.kind); }
  };
  static Key key_of(Assumption::Kind kind, Dim a, Dim b);

  std::vector<Assumption> list_;
  std::unordered_set<Key, Hash> known_;
};

}  // namespace tenon::ir
