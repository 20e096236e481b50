// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/reference_oracle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/judge.h"
#include "ops/reference/evaluate.h"
#include "program/bind_sizes.h"
#include "program/least_sizes.h"

namespace tenon::cli {
namespace {

constexpr int64_t kLeading = 2, kOther = 16;

/// Every symbol's size, by name.
std::map<std::string, int64_t> sizes_of(const ir::Graph& graph) {
  std::map<std::string, int64_t> out;
  for (ir::ValueId id : graph.inputs()) {
    const ir::Type& type = graph.value(id).type;
    for (int d = 0; type.is_tensor() && type.shape && d < type.rank(); ++d)
      each_symbol(type.dim(d), [&](const DimNode& s) {
        out.emplace(s.name,
                    std::max<int64_t>(std::min(d == 0 ? kLeading : kOther, s.upper), program::least_size(s, graph.assumptions.all())));
      });
  }
  return out;
}

void describe(const ir::Type& type, const std::map<std::string, int64_t>& sizes, runtime::PortInfo& port) {
  port.dtype = type.dtype;
  if (!type.is_tensor()) {
    port.container = program::container_info_of(type);
    return;
  }
  for (int d = 0; type.shape && d < type.rank(); ++d) {
    const Dim size = substitute(type.dim(d), [&](const DimNode& s) { return Dim(sizes.at(s.name)); });
    port.dimensions.push_back(type.dim(d).text());
    port.lower.push_back(size.is_number() ? size.value() : kOther);
    port.upper.push_back(port.lower.back());
  }
}

}  // namespace

Result<std::vector<Tensor>> inputs_for(const ir::Graph& graph, const InputOptions& options) {
  const auto sizes = sizes_of(graph);
  std::vector<runtime::PortInfo> ports;
  for (ir::ValueId id : graph.inputs()) {
    runtime::PortInfo& port = ports.emplace_back();
    port.name = graph.value(id).name;
    describe(graph.value(id).type, sizes, port);
  }
  return options.inputs(ports, {});
}

Result<ReferenceOracle> ReferenceOracle::make(const ir::Graph& original, std::vector<Tensor> inputs) {
  ReferenceOracle out;
  ops::EvaluateOptions wide;
  wide.mode = ops::Mode::wide;
  out.expected_ = TRY(ops::evaluate(original, inputs, wide));
  const auto own = TRY(ops::evaluate(original, inputs));
  for (size_t k = 0; k < own.size(); ++k) out.rounding_.push_back(distance(own[k], out.expected_[k]).largest);
  out.inputs_ = std::move(inputs);
  return out;
}

OracleAnswer ReferenceOracle::judge(const ir::Graph& rewritten) const {
  const auto results = ops::evaluate(rewritten, inputs_);
  if (!results) return {Verdict::bad, "it cannot be evaluated: " + results.error().text()};
  double furthest = 0;
  for (size_t k = 0; k < results->size(); ++k) {
    const Distance d = distance((*results)[k], expected_[k]);
    if (is_bad(d, rounding_[k]))
      return {Verdict::bad, fmt::format("output '{}': {}", rewritten.output_name(static_cast<uint32_t>(k)), d.found)};
    furthest = std::max(furthest, d.bound_ratio);
  }
  return {Verdict::good, fmt::format("at most {:.2g} of the bound", furthest)};
}

}  // namespace tenon::cli
