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

/// A relation between two sizes that inference could not compare and assumed to hold. A program checks it before it runs: kernels rely on
/// it.
struct Assumption {
  using Kind = SizeRelation;
  Kind kind = Kind::equal;
  Dim a, b;
  std::string where;  ///< the node that needs it: "node 'scores' (MatMul)"
  std::string what;   ///< the error where it does not hold: "inner sizes of A and B differ"
  /// "n >= m"
  std::string text() const { return text_of(kind, a.text(), b.text()); }
};

/// True where the relation holds for all legal sizes, false where it holds for none, nullopt where it depends on the sizes.
std::optional<bool> decide(Assumption::Kind kind, Dim a, Dim b);

/// The assumptions of one graph, each once, in the order in which they were made. They remain when their nodes are erased: a rewrite may
/// erase a node, but its assumptions are still conditions of the model. Not thread-safe.
class Assumptions {
 public:
  /// Adds a relation unless it is decided (see decide()) or implied already; then calls `describe` to fill in `where` and `what`.
  void add(Assumption::Kind kind, Dim a, Dim b, FunctionRef<void(Assumption&)> describe);
  std::span<const Assumption> all() const { return list_; }
  size_t size() const { return list_.size(); }
  /// Drops all but the first `size`, to undo a rewrite.
  void truncate(size_t size);
  /// Whether the relation follows from the assumptions.
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
