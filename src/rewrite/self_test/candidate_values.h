// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "ir/builder.h"
#include "rewrite/equation/equation.h"

namespace tenon::rewrite {

/// Makes candidate values for the names of a generated graph: inputs and constants of shapes derived from `shape`, small integers, flags.
class CandidateValues {
 public:
  CandidateValues(ir::Graph& graph, ir::Builder& build, const Sizes& shape) : graph_(graph), build_(build), shape_(shape) {}

  ValueId input(DType dtype, Sizes shape);
  /// The candidate of this number, from 0; small numbers are those that patterns need most. none: the candidate cannot be made.
  ValueId value(uint32_t choice, DType dtype);
  /// A value for an attribute that the pattern binds to a name; nullopt: the node lacks it.
  std::optional<ir::Attribute> attribute(const Term::AttributePattern& pattern, uint32_t choice, DType dtype) const;

 private:
  ValueId filled(DType dtype, Sizes shape, double from, double step);
  ValueId number(DType dtype, uint32_t choice);
  ValueId integers(uint32_t choice);
  Sizes related_shape(uint32_t choice) const;

  ir::Graph& graph_;
  ir::Builder& build_;
  const Sizes& shape_;
};

}  // namespace tenon::rewrite
