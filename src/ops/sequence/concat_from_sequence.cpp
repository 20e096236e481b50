// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "ops/infer/axes.h"
#include "ops/infer/container_types.h"
#include "ops/reference/elements.h"
#include "ops/reference/stack.h"

namespace tenon::ops::op_concat_from_sequence {

namespace {

bool stacks(const NodeView& view) { return view.attributes->integer("new_axis", 0) != 0; }

Result<void> infer_concat_from_sequence(NodeView& view) {
  TRY(require_sequence(view, 0));
  Type type = element_type(view, view.type(0));
  if (type.has_rank()) {
    const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), type.rank() + (stacks(view) ? 1 : 0)));
    if (stacks(view)) type.shape->insert(type.shape->begin() + axis, view.symbols->fresh());
    else (*type.shape)[static_cast<size_t>(axis)] = view.symbols->fresh();
  }
  set_output(view, 0, std::move(type));
  return {};
}

Result<Tensor> joined(const Call& call, const std::vector<Tensor>& parts) {
  const auto axis = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), parts[0].rank())));
  Sizes shape = parts[0].shape();
  int64_t total = 0;
  for (const Tensor& part : parts) {
    Sizes same = part.shape();
    if (same.size() == shape.size()) total += std::exchange(same[axis], shape[axis]);
    if (same == shape) continue;
    return refuse(call.view, Code::shape_mismatch, "the tensors differ off the joined axis")
        .expected(type_text(parts[0]))
        .found(type_text(part));
  }
  shape[axis] = total;
  Tensor out = TRY(Tensor::make(parts[0].dtype(), shape, call.byte_limit));
  const int64_t inner = strides_of(shape)[axis], row = shape[axis] * inner;
  int64_t begin = 0;
  for (const Tensor& part : parts) {
    const int64_t block = part.shape()[axis] * inner;
    for (int64_t i = 0; i < part.count(); ++i) copy_element(out, i / block * row + begin + i % block, part, i);
    begin += block;
  }
  return out;
}

Result<void> reference_of_concat_from_sequence(Call& call) {
  const std::vector<Tensor>& parts = call.in[0]->elements();
  if (parts.empty())
    return refuse(call.view, Code::bad_input, "the sequence is empty").expected("a sequence with a tensor in it").found("an empty one");
  call.out[0] = TRY(stacks(call.view) ? stacked(call.view, parts, call.view.attributes->integer("axis", 0), parts[0].dtype(), {})
                                      : joined(call, parts));
  return {};
}

}  // namespace

OP(concat_from_sequence) {
    .name = "ConcatFromSequence",
    .since_version = 11,
    .inputs = {{"input_sequence"}},
    .outputs = {{"concat_result"}},
    .attributes = {{"axis: int!", "new_axis: int = 0"}},
    .accepts_containers = true,
    .infer = infer_concat_from_sequence,
    .reference = reference_of_concat_from_sequence,
    .first_opset = 11,
};

}  // namespace tenon::ops::op_concat_from_sequence
