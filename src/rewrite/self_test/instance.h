// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "rewrite/equation/equation.h"
#include "rewrite/self_test/fault.h"

namespace tenon::rewrite {

/// A graph that the left side of an equation describes, as far as it says anything; the rest follows from `draws`.
struct InstanceSpec {
  const Equation* equation = nullptr;
  DType dtype = DType::f32;
  Sizes shape;
  std::vector<uint32_t> draws;  ///< a variable, then a term: which candidate
  Fault fault;
};

struct BuiltInstance {
  std::shared_ptr<const ir::Op> foreign;  ///< the op that a fault has put in; the graph points to it
  std::unique_ptr<Graph> graph;           ///< without outputs where the ops refuse it
  bool is_valid = false;
};
BuiltInstance graph_of(const InstanceSpec& spec, const ir::OpTable& ops);

}  // namespace tenon::rewrite
