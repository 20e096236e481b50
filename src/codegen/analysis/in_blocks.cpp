// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/in_blocks.h"

#include <algorithm>

namespace tenon::codegen {

namespace {

std::optional<InBlocks> of_blocks(const ir::Constant& c, const ir::Constant::Blocks& step) {
  const int64_t elements = step.format->elements;
  if (c.shape.empty() || elements < 2 || c.shape.back() % elements != 0) return std::nullopt;
  Sizes shape = c.shape;
  shape.back() /= elements;
  shape.push_back(step.format->bytes);
  return InBlocks{ir::reshape(ir::constant_of(step.codes), std::move(shape)), step.format, static_cast<int>(c.shape.size()) - 1};
}

std::optional<InBlocks> of_slice(const ir::Constant::Slice& step) {
  auto of = in_blocks(step.operand);
  if (!of) return std::nullopt;
  int64_t begin = step.begin, end = step.end;
  if (step.axis == of->axis) {
    const int64_t elements = of->format->elements;
    if (step.step != 1 || begin % elements != 0 || end % elements != 0) return std::nullopt;
    begin /= elements, end /= elements;
  }
  of->bytes = ir::slice(std::move(of->bytes), step.axis, begin, end, step.step);
  return of;
}

std::optional<InBlocks> of_permute(const ir::Constant::Permute& step) {
  auto of = in_blocks(step.operand);
  if (!of) return std::nullopt;
  std::vector<int> order = step.order;
  of->axis = static_cast<int>(std::ranges::find(order, of->axis) - order.begin());
  order.push_back(static_cast<int>(order.size()));
  of->bytes = ir::permute(std::move(of->bytes), std::move(order));
  return of;
}

std::optional<InBlocks> of_concat(const ir::Constant::Concat& step) {
  std::optional<InBlocks> out;
  std::vector<ir::ConstantRef> parts;
  for (const ir::ConstantRef& part : step.operand) {
    auto of = in_blocks(part);
    if (!of || (out && (of->format != out->format || of->axis != out->axis))) return std::nullopt;
    parts.push_back(of->bytes);
    out = std::move(of);
  }
  if (out) out->bytes = ir::concat(std::move(parts), step.axis);
  return out;
}

/// The axis of blocks stays one: with the same size, and the same elements before it.
std::optional<InBlocks> of_reshape(const ir::Constant& c, const ir::Constant::Reshape& step) {
  auto of = in_blocks(step.operand);
  if (!of) return std::nullopt;
  int64_t before = 1, here = 1;
  for (int k = 0; k < of->axis; ++k) before *= step.operand->shape[static_cast<size_t>(k)];
  const int64_t size = step.operand->shape[static_cast<size_t>(of->axis)];
  for (size_t k = 0; k < c.shape.size() && here <= before; here *= c.shape[k++]) {
    if (here != before || c.shape[k] != size) continue;
    Sizes shape = c.shape;
    shape[k] /= of->format->elements;
    shape.push_back(of->format->bytes);
    return InBlocks{ir::reshape(std::move(of->bytes), std::move(shape)), of->format, static_cast<int>(k)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<InBlocks> in_blocks(const ir::ConstantRef& c) {
  if (c->dtype != DType::f32) return std::nullopt;
  if (auto* x = std::get_if<ir::Constant::Blocks>(&c->source)) return of_blocks(*c, *x);
  if (auto* x = std::get_if<ir::Constant::Slice>(&c->source)) return of_slice(*x);
  if (auto* x = std::get_if<ir::Constant::Permute>(&c->source)) return of_permute(*x);
  if (auto* x = std::get_if<ir::Constant::Concat>(&c->source)) return of_concat(*x);
  if (auto* x = std::get_if<ir::Constant::Reshape>(&c->source)) return of_reshape(*c, *x);
  return std::nullopt;
}

}  // namespace tenon::codegen
