// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// An op that is defined at run time, as a plugin's: its lists are built from strings, and its functions read `user_data`.
/// Operand x and attribute `shift`; result [factors, ...x]: x times each factor, plus `shift`.
class Multiples {
 public:
  Multiples(std::string name, std::vector<double> factors)
      : name_(std::move(name)),
        texts_{"x", "multiples", "shift: float = 0"},
        lists_(texts_.begin(), texts_.end()),
        factors_(std::move(factors)) {
    const std::span<const std::string_view> lists = lists_;
    def_ = {.name = name_,
            .domain = "test.here",
            .inputs = {.array = lists.subspan(0, 1)},
            .outputs = {.array = lists.subspan(1, 1)},
            .attributes = {.array = lists.subspan(2)},
            .user_data = this,
            .infer = infer,
            .reference = evaluate};
  }
  Multiples(const Multiples&) = delete;

  const OpDef& def() const { return def_; }

 private:
  static const Multiples& of(const NodeView& view) { return *static_cast<const Multiples*>(def_of(*view.op).user_data); }

  static Result<void> infer(NodeView& view) {
    view.outputs[0] = view.type(0);
    if (view.outputs[0].has_rank())
      view.outputs[0].shape->insert(view.outputs[0].shape->begin(), Dim(static_cast<int64_t>(of(view).factors_.size())));
    return {};
  }
  static Result<void> evaluate(Call& call) {
    const auto& factors = of(call.view).factors_;
    const double shift = call.view.attributes->number("shift", 0);
    const std::vector<double> x = numbers_of(*call.in[0]);
    Sizes shape = call.in[0]->shape();
    shape.insert(shape.begin(), static_cast<int64_t>(factors.size()));
    Tensor& y = *TRY(call.make(0, shape));
    int64_t at = 0;
    for (double factor : factors)
      for (double v : x) y.set_number(at++, factor * v + shift);
    return {};
  }

  std::string name_;
  std::vector<std::string> texts_;
  std::vector<std::string_view> lists_;
  std::vector<double> factors_;
  OpDef def_;
};

}  // namespace tenon::ops
