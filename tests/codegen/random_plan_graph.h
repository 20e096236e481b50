// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <random>
#include <vector>

#include "ir/graph.h"

namespace tenon::codegen {

using ir::ValueId;

/// Makes values of a wanted shape: of an op chosen at random, whose operands are made in the same way. All numbers are small integers
/// where an op does not make others of them, so that sums are exact in any order.
class RandomPlanGraph {
 public:
  explicit RandomPlanGraph(uint64_t seed);
  std::unique_ptr<ir::Graph> make();

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  int64_t from_to(int64_t a, int64_t b) { return std::uniform_int_distribution<int64_t>(a, b)(random_); }
  Dim some_dim() { return pick(5) == 0 ? symbols_[pick(2)] : Dim(pick(8) == 0 ? from_to(15, 36) : from_to(1, 6)); }
  DimList some_shape();
  static int64_t most(const DimList& shape) {
    int64_t n = 1;
    for (Dim d : shape) n *= d.number().value_or(8);
    return n;
  }

  static ir::Attributes with(std::string_view name, ir::Attribute value, ir::Attributes a = {});

  /// A node's result where it has the wanted shape (null: any); none where inference refuses the operands.
  ValueId add(std::string_view op, std::vector<ValueId> operands, const DimList* wanted, ir::Attributes attributes = {});
  ValueId ints(const std::vector<int64_t>& data);
  ValueId numbers(const DimList& shape);
  ValueId number(double value) { return graph_->add_constant(ir::constant_of(Tensor::scalar(DType::f32, value)), name("c")); }
  std::string name(const char* prefix) { return prefix + std::to_string(names_++); }

  ValueId leaf(const DimList& shape);
  ValueId make(const DimList& shape, int depth);
  ValueId some_op(const DimList& shape, int depth);
  ValueId transposed(const DimList& shape, int depth);
  /// A dimension whose size is a number; -1: there is none.
  int known_dimension(const DimList& shape);
  ValueId sliced(const DimList& shape, int depth);
  ValueId padded(const DimList& shape, int depth);
  ValueId expanded(const DimList& shape, int depth);
  /// The same bytes: neighbours joined, one dimension split, or dimensions of 1 put in.
  ValueId reshaped(const DimList& shape, int depth);
  ValueId joined(const DimList& shape, int depth);
  ValueId gathered(const DimList& shape, int depth);
  /// 0, 1, 2, ... along one dimension, computed from its size.
  ValueId counted(Dim size);
  /// Relative positions: the distance of two dimensions, or the place in one, held between -5 and 4.
  ValueId distances(const DimList& index);
  ValueId mapped(const DimList& shape, int depth);
  /// With an operand that broadcasts.
  ValueId combined(const DimList& shape, int depth);
  ValueId clipped(ValueId v) { return add("Clip", {v, number(-2), number(2)}, nullptr); }
  /// Sums that grow on sums would leave the integers that f32 holds.
  ValueId small(ValueId v) { return v && pick(2) == 0 ? clipped(v) : v; }

  ValueId product(const DimList& shape, int depth);
  /// Of f32, of short floats, or of bytes.
  ValueId multiplied(ValueId a, ValueId b, const DimList& shape);
  /// As a whole number between -2 and 2 that a short type holds; of the unsigned ones without its sign.
  ValueId shortened(ValueId v, DType dtype);
  ValueId cast(ValueId v, DType dtype);
  /// Each letter of the result in one operand or both, some summed ones beside them, all in random order.
  ValueId einsum(const DimList& shape, int depth);
  ValueId convolved(const DimList& shape, int depth);
  ValueId row(const DimList& shape, int depth);
  ValueId integer(int64_t value);
  ValueId reduced(const DimList& shape, int depth);
  ValueId attended(const DimList& shape, int depth);
  ValueId pooled(const DimList& shape, int depth);
  ValueId rearranged(const DimList& shape, int depth);

  std::mt19937_64 random_;
  std::unique_ptr<ir::Graph> graph_;
  std::vector<Dim> symbols_;
  std::vector<ValueId> made_;
  size_t names_ = 0;
};

}  // namespace tenon::codegen
