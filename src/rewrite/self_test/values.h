// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "ir/builder.h"
#include "rewrite/equation/equation.h"

namespace tenon::rewrite {

/// Candidates for a name of a generated graph: inputs and constants of shapes that have to do with `shape`, small integers, flags.
class Candidates {
 public:
  Candidates(ir::Graph& graph, ir::Builder& build, const Sizes& shape) : graph_(graph), build_(build), shape_(shape) {}

  ValueId input(DType dtype, Sizes shape);
  /// By a number from 0; the small ones are the likeliest. none: such a thing cannot be here.
  ValueId value(uint32_t draw, DType dtype);
  /// A value for a captured attribute; nullopt: left out.
  std::optional<ir::Attribute> attribute(const Term::AttributePattern& given, uint32_t draw, DType dtype) const;

 private:
  ValueId filled(DType dtype, Sizes shape, double from, double step);
  ValueId number(DType dtype, uint32_t draw);
  ValueId integers(uint32_t draw);
  Sizes near(uint32_t draw) const;

  ir::Graph& graph_;
  ir::Builder& build_;
  const Sizes& shape_;
};

}  // namespace tenon::rewrite
