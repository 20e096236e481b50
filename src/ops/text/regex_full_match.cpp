// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"
#include "ops/text/pattern.h"

namespace tenon::ops::op_regex_full_match {

OP(regex_full_match) {
    .name = "RegexFullMatch",
    .since_version = 20,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"pattern: string"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, [](DType d) { return d == DType::string; }, "string"));
      TRY(TextPattern::parse(view.attributes->text("pattern", ""), view.where()));
      Type type = view.type(0);
      type.dtype = DType::boolean;
      set_output(view, 0, std::move(type));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      const TextPattern pattern = TRY(TextPattern::parse(call.view.attributes->text("pattern", ""), call.view.where()));
      const Tensor& x = *call.in[0];
      Tensor& y = *TRY(call.make(0, x.shape()));
      for (int64_t i = 0; i < x.count(); ++i) y.set_integer(i, pattern.matches(x.strings()[static_cast<size_t>(i)]));
      return {};
    },
    .first_opset = 20,
};

}  // namespace tenon::ops::op_regex_full_match
