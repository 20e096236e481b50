// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "rewrite/equation/equation.h"
#include "rewrite/self_test/mutation.h"

namespace tenon::rewrite {

/// A description of a graph that the left side of an equation may match: `choices` select the values that the pattern leaves open.
struct InstanceSpec {
  const Equation* equation = nullptr;
  DType dtype = DType::f32;       ///< of float values; most graphs have no others
  Sizes shape;                    ///< the basic shape; others are derived from it (candidate_values.h)
  std::vector<uint32_t> choices;  ///< a number for each variable, then for each term: which candidate it gets
  Mutation mutation;
};

/// The graph generated from a spec.
struct BuiltInstance {
  std::shared_ptr<const ir::Op> other_domain_op;  ///< the op that a mutation of kind `domain` inserted; the graph points to it
  std::unique_ptr<Graph> graph;                   ///< without outputs where is_valid is false
  bool is_valid = false;                          ///< inference has accepted every node
};
BuiltInstance graph_of(const InstanceSpec& spec, const ir::OpTable& ops);

}  // namespace tenon::rewrite
