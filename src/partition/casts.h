// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace tenon::partition {

/// The types in which a backend runs a node that it refuses in its own types.
struct Retype {
  std::string backend;
  std::string refusal;                         ///< its reason for the node in its own types
  std::vector<std::pair<DType, DType>> types;  ///< of operands: from, to
  std::vector<DType> results = {};             ///< of each result
  std::vector<bool> runs_over = {};            ///< a result, of integers, may have more bits than its own type: it has to be cast back
  std::vector<bool> takes_low_bits = {};       ///< an operand that may have run over: no more than low bits of the results follow from it
  bool narrows = false;                        ///< some type does not keep all values of the type that it replaces
  DType of(DType from) const;
};

/// Puts nodes of one graph into other types, in the order of the graph, with Casts around them.
/// A Cast is shared by all nodes that one backend runs on the same value; between two such nodes there is none, so that what passes there
/// is not rounded; but for integers that may run over, where the next needs more of them than their low bits. Constants are brought to the
/// type at once. A Cast of the source whose type keeps all values is not followed by another: what it was made of is cast, or taken as it
/// is.
class Casts {
 public:
  /// `names`: of the graph's nodes, for those of Casts.
  Casts(ir::Graph& graph, std::map<ir::NodeId, std::string> names) : graph_(graph), names_(std::move(names)) {}
  void around(ir::NodeId node, const Retype& to);
  /// The first half of around(): the results are what they were. Returns whether it reads what may have run over.
  bool before(ir::NodeId node, const Retype& to);
  /// Casts that nobody reads go away.
  void finish();

 private:
  /// A value in another type, for a backend.
  using Key = std::tuple<ir::ValueId, DType, std::string>;

  ir::ValueId brought(ir::ValueId value, DType to, ir::NodeId reader, const Retype& why);
  ir::ValueId source_of(ir::ValueId value, DType to);
  ir::ValueId cast(ir::ValueId value, DType to, ir::NodeId before, ir::NodeId of, const std::string& backend, std::string text);
  void back(ir::NodeId node, size_t result, const Retype& to, bool runs_over);
  std::string name_of(ir::NodeId node) const;
  std::string free_name(const std::string& stem);

  ir::Graph& graph_;
  std::map<ir::NodeId, std::string> names_;
  std::set<std::string> taken_;
  std::map<Key, ir::ValueId> brought_;
  std::map<Key, ir::ValueId> run_over_;      ///< values of which the replacement has the low bits alone
  std::map<ir::ValueId, ir::NodeId> backs_;  ///< what is cast back, and by what
  std::vector<ir::NodeId> skipped_;          ///< Casts of the source whose result somebody reads no more
};

}  // namespace tenon::partition
