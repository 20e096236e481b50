// SPDX-License-Identifier: Apache-2.0
#include "ir/uncast.h"

#include <algorithm>

namespace tenon::ir {
namespace {

/// uncast() of a Concat: all its parts must be cast from the same type.
ConstantRef uncast(const Constant::Concat& step) {
  std::vector<ConstantRef> parts;
  for (const ConstantRef& part : step.operand) {
    parts.push_back(uncast(*part));
    if (!parts.back() || parts.back()->dtype != parts[0]->dtype) return nullptr;
  }
  return parts.empty() ? nullptr : concat(std::move(parts), step.axis);
}

}  // namespace

ConstantRef uncast(const Constant& constant) {
  if (constant.dtype != DType::f32) return nullptr;
  const auto then = [](const Constant& operand, const auto& step) {
    ConstantRef of = uncast(operand);
    return of ? step(std::move(of)) : nullptr;
  };
  if (const auto* step = std::get_if<Constant::Cast>(&constant.source)) {
    const DType from = step->operand->dtype;
    return from == DType::f16 || from == DType::bf16 ? step->operand : nullptr;
  }
  if (const auto* step = std::get_if<Constant::Slice>(&constant.source))
    return then(*step->operand, [&](ConstantRef of) { return slice(std::move(of), step->axis, step->begin, step->end, step->step); });
  if (const auto* step = std::get_if<Constant::Permute>(&constant.source))
    return then(*step->operand, [&](ConstantRef of) { return permute(std::move(of), step->order); });
  if (const auto* step = std::get_if<Constant::Reshape>(&constant.source))
    return then(*step->operand, [&](ConstantRef of) { return reshape(std::move(of), constant.shape); });
  if (const auto* step = std::get_if<Constant::Concat>(&constant.source)) return uncast(*step);
  return nullptr;
}

}  // namespace tenon::ir
