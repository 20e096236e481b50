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

/// Other element types in which a backend runs a node that it refuses in the node's own types.
struct Retype {
  std::string backend;
  std::string refusal;                         ///< why the backend refuses the node in its own types
  std::vector<std::pair<DType, DType>> types;  ///< of operands: from, to
  std::vector<DType> results = {};             ///< of each result
  std::vector<bool> may_overflow =
      {};  ///< per result: an integer result may exceed the range of its original type, so it must be cast back
  std::vector<bool> reads_low_bits_only = {};  ///< per operand: results depend only on its low bits, so it may have overflowed
  bool is_lossy = false;                       ///< some type does not keep all values of the type that it replaces
  DType of(DType from) const;
};

/// Changes the element types of nodes of one graph, in the order of the graph, and inserts Casts before and after them.
/// One Cast serves all nodes that one backend runs on the same value. Between two such nodes there is no Cast, so values that pass are not
/// rounded; integers that may have overflowed are cast unless the reader needs only their low bits. Constants are converted at once. Where
/// a value is the result of a lossless Cast of the source model, the operand of that Cast is converted instead, or used as it is.
class CastInserter {
 public:
  /// `names`: of the graph's nodes; the names of Casts are made from them.
  CastInserter(ir::Graph& graph, std::map<ir::NodeId, std::string> names) : graph_(graph), names_(std::move(names)) {}
  /// Gives the node the types of `to`, with Casts of its operands and results.
  void retype(ir::NodeId node, const Retype& to);
  /// Inserts the Casts of the operands only; results keep their types. Returns whether the node reads a value that may have overflowed.
  bool cast_operands(ir::NodeId node, const Retype& to);
  /// Erases Casts without users.
  void finish();

 private:
  /// A value, another type of it, and the backend that needs it.
  using Key = std::tuple<ir::ValueId, DType, std::string>;

  ir::ValueId cast_value(ir::ValueId value, DType to, ir::NodeId reader, const Retype& retype);
  /// The operand of the source model's lossless Cast that made `value`, where it can be read as `to` in its place; else `value`.
  ir::ValueId operand_of_lossless_cast(ir::ValueId value, DType to);
  /// Inserts a Cast, named after a node. reason: its provenance, for `inspect`.
  ir::ValueId cast(ir::ValueId value, DType to, ir::NodeId before, ir::NodeId named_after, const std::string& backend, std::string reason);
  /// Inserts the Cast of a result from the type of `retype` to its original one.
  void cast_result_back(ir::NodeId node, size_t result, const Retype& retype, bool may_overflow);
  std::string name_of(ir::NodeId node) const;
  std::string free_name(const std::string& stem);

  ir::Graph& graph_;
  std::map<ir::NodeId, std::string> names_;
  std::set<std::string> taken_;
  std::map<Key, ir::ValueId> cast_values_;
  std::map<Key, ir::ValueId> overflowed_;         ///< conversions of which only the low bits are right
  std::map<ir::ValueId, ir::NodeId> casts_back_;  ///< a value that is cast back to its original type, and the Cast
  std::vector<ir::NodeId> bypassed_casts_;        ///< Casts of the source model that lost a reader
};

}  // namespace tenon::partition
