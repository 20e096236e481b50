// SPDX-License-Identifier: Apache-2.0
#include "import/check_written.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "import/onnx_model.h"
#include "import/onnx_support.h"

namespace tenon::import {
namespace {

struct VisibleNames {
  const VisibleNames* outer = nullptr;
  std::unordered_set<std::string_view> made = {};
  bool has(std::string_view name) const { return made.contains(name) || (outer && outer->has(name)); }
};

Error invalid_model(std::string place, std::string what, std::string_view name) {
  return fail(Code::internal, std::move(place), fmt::format("the model that was put together is not valid: '{}' {}", name, what))
      .advice("report it with the model; nothing was written");
}

std::string written_place(const OnnxNode& node) { return fmt::format("node '{}' ({})", node.name, qualified(node.domain, node.op)); }

class Checker {
 public:
  Result<void> model(const OnnxModel& m, std::span<const std::string_view> weights) {
    for (const OnnxFunction& f : m.functions) functions_.emplace(f.domain, f.name, f.overload);
    for (const OnnxFunction& f : m.functions) TRY(function(f));
    opsets_ = &m.opsets;
    VisibleNames names;
    for (std::string_view weight : weights) TRY(make(names, weight, "model"));
    for (const OnnxTensor& weight : m.graph.initializers) TRY(make(names, weight.name, "model"));
    const std::unordered_set<std::string_view> defaults = names.made;
    return graph(m.graph, names, &defaults);
  }

 private:
  Result<void> make(VisibleNames& names, std::string_view name, const std::string& place) {
    if (name.empty() || (!names.has(name) && names.made.insert(name).second)) return {};
    return invalid_model(place, "is made twice", name);
  }

  Result<void> function(const OnnxFunction& f) {
    const std::string place = fmt::format("function '{}'", qualified(f.domain, f.name));
    opsets_ = &f.opsets;
    VisibleNames names;
    for (std::string_view input : f.inputs) TRY(make(names, input, place));
    for (const OnnxNode& n : f.nodes) TRY(node(n, names));
    for (std::string_view output : f.outputs)
      if (!names.has(output)) return invalid_model(place, "is an output that no node makes", output);
    return {};
  }

  /// defaults: the initializers of the root, which are in `names` already; inputs may have their names, once each. null: of a body.
  Result<void> graph(const OnnxGraph& g, VisibleNames& names, const std::unordered_set<std::string_view>* defaults = nullptr) {
    const std::string place = fmt::format("graph '{}'", g.name);
    std::unordered_set<std::string_view> overridable;
    for (const OnnxValueInfo& input : g.inputs)
      if (!defaults || !defaults->contains(input.name) || !overridable.insert(input.name).second) TRY(make(names, input.name, place));
    if (!defaults)
      for (const OnnxTensor& weight : g.initializers) TRY(make(names, weight.name, place));
    for (const OnnxNode& n : g.nodes) TRY(node(n, names));
    for (const OnnxValueInfo& output : g.outputs)
      if (!names.has(output.name)) return invalid_model(place, "is an output that no node makes", output.name);
    return {};
  }

  Result<void> node(const OnnxNode& n, VisibleNames& names) {
    for (std::string_view input : n.inputs)
      if (!input.empty() && !names.has(input)) return invalid_model(written_place(n), "is read before it is made", input);
    for (const OnnxAttribute& a : n.attributes) {
      if (!a.graph) continue;
      VisibleNames inner{&names};
      TRY(graph(*a.graph, inner));
    }
    const bool imported = std::ranges::find(*opsets_, n.domain, &OnnxOpset::domain) != opsets_->end();
    if (!imported) return invalid_model(written_place(n), "is a domain that is not imported", n.domain);
    if (!n.overload.empty() && !functions_.contains({n.domain, n.op, n.overload}))
      return invalid_model(written_place(n), "is an overload that no function has", n.overload);
    for (std::string_view output : n.outputs) TRY(make(names, output, written_place(n)));
    return {};
  }

  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> functions_;
  const std::vector<OnnxOpset>* opsets_ = nullptr;
};

}  // namespace

Result<void> check_written(std::string_view model, std::span<const std::string_view> weights) {
  OnnxLimits limits;
  limits.name_bytes = INT64_MAX;
  const OnnxModel read = TRY(parse_onnx(model, "model", limits));
  return Checker().model(read, weights);
}

}  // namespace tenon::import
