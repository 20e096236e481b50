// SPDX-License-Identifier: Apache-2.0
#include "backends/plugin/variant.h"

#include <fmt/format.h>

#include "backend/trials.h"
#include "plugin/layout/formats.h"

namespace tenon::backends {

namespace {

constexpr int64_t kMaxListed = 16;  ///< a key lists the elements of integer constants of up to so many: axes, pads, shapes

}  // namespace

std::string PluginVariant::text(size_t operands) const {
  const std::string name = tactic_name.empty() ? "" : fmt::format(" ({})", tactic_name);
  return fmt::format("tactic {}{}, {}", tactic, name, plugin::text_of_layouts(layouts, operands));
}

std::string key_of(const ir::Graph& graph, ir::NodeId node) {
  std::string out = backend::call_text(graph.view(node));
  for (ir::ValueId v : graph.node(node).inputs) {
    if (!v || !graph.value(v).is_constant()) {
      out += "; _";
      continue;
    }
    out += "; constant";
    const ir::Constant& constant = *graph.value(v).constant;
    const Tensor* const tensor = constant.tensor();
    if (constant.count() > kMaxListed || !is_integer(constant.dtype) || !tensor) continue;
    for (int64_t i = 0; i < tensor->count(); ++i) out += fmt::format(" {}", tensor->integer(i));
  }
  return out;
}

}  // namespace tenon::backends
