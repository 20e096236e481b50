// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/elementwise.h"
#include "ops/reference/texts.h"

namespace tenon::ops::op_string_concat {

namespace {
bool is_text(DType dtype) { return dtype == DType::string; }
}  // namespace

OP(string_concat) {
    .name = "StringConcat",
    .since_version = 20,
    .inputs = {{"X", "Y"}},
    .outputs = {{"Z"}},
    .infer = [](NodeView& view) { return infer_binary(view, is_text); },
    .reference =
        [](Call& call) {
          return each_text_pair(call, [](Tensor& y, int64_t i, const std::string& a, const std::string& b) {
            y.mutable_strings()[static_cast<size_t>(i)] = a + b;
          });
        },
    .first_opset = 20,
};

}  // namespace tenon::ops::op_string_concat
