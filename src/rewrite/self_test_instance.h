// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "ir/builder.h"
#include "rewrite/equation.h"

namespace tenon::rewrite {

/// One thing that is other than the pattern says.
struct Fault {
  enum class Kind : uint8_t { none, constant, attribute, op, fewer_operands, more_operands, user, output } kind = Kind::none;
  int term = -1;
  size_t part = 0;  ///< attribute: which one
  std::string text;
};

/// A graph that the left side of an equation describes, as far as it says anything; the rest follows from `draws`.
struct Recipe {
  const Equation* equation = nullptr;
  DType dtype = DType::f32;
  Sizes shape;
  std::vector<uint32_t> draws;  ///< a variable, then a term: which candidate
  Fault fault;
};

/// nullptr where the ops refuse it.
std::unique_ptr<Graph> graph_of(const Recipe& recipe, const ir::OpTable& ops);
/// Every single fault that can be put into the recipe.
std::vector<Fault> faults_of(const Recipe& recipe);

}  // namespace tenon::rewrite
