// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/dequantized.h"

namespace tenon::rules {

using rewrite::Match;

namespace {

std::optional<Dequantized> dequantized(const Match& m, ir::ValueId value) {
  const ir::NodeId node = m.producer(value, "DequantizeLinear");
  if (!node || m.dtype(value) != DType::f32 || m.node(node).attributes.integer("block_size", 0) != 0) return std::nullopt;
  const Dequantized out{m.operand(node, 0), m.operand(node, 1), m.operand(node, 2)};
  const DType dtype = m.dtype(out.data);
  const bool bytes = dtype == DType::i8 || dtype == DType::u8;
  return bytes && m.dtype(out.scale) == DType::f32 && m.shape(out.scale) ? std::optional(out) : std::nullopt;
}

bool is_one_number(const Match& m, ir::ValueId value) { return m.shape(value) && product(*m.shape(value)).known_equal(1); }

}  // namespace

std::optional<Dequantized> dequantized_per_tensor(const Match& m, ir::ValueId value) {
  const auto out = dequantized(m, value);
  return out && is_one_number(m, out->scale) ? out : std::nullopt;
}

std::optional<Dequantized> dequantized_weights(const Match& m, ir::ValueId value, int axis) {
  const auto out = dequantized(m, value);
  if (!out || !m.is_constant(out->data) || (out->zero && !m.is_constant(out->zero))) return std::nullopt;
  if (is_one_number(m, out->scale)) return out;
  const auto along = m.axis(m.producer(value), "axis", 1, out->data);
  return m.rank(out->scale) == 1 && along == axis ? out : std::nullopt;
}

}  // namespace tenon::rules
