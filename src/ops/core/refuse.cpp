// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"

#include <fmt/format.h>

namespace tenon::ops {

namespace {
/// "Transpose(f32[n,4], perm=[0,0])"
std::string given(const NodeView& view) {
  std::string out;
  for (size_t k = 0; k < view.explicit_inputs && k < view.inputs.size(); ++k)
    out += (k ? ", " : "") + (view.has(k) ? view.type(k).text() : std::string("none"));
  if (view.attributes)
    for (const auto& [name, value] : *view.attributes) out += (out.empty() ? "" : ", ") + name + "=" + ir::text_of(value);
  constexpr size_t kMost = 300;
  if (out.size() > kMost) out = out.substr(0, kMost) + "...";
  return view.op->name + "(" + out + ")";
}
}  // namespace

Error refuse(const NodeView& view, Code code, std::string what) {
  if (!view.op) return fail(code, view.where(), std::move(what));
  return fail(code, view.where(), view.op->name + ": " + std::move(what))
      .expected(fmt::format("operands and attributes that the ONNX standard allows for {}", view.op->name))
      .found(given(view));
}

}  // namespace tenon::ops
