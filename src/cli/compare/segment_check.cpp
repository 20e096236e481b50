// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/segment_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "cli/compare/in_precision.h"
#include "ops/reference/evaluate.h"
#include "passes/pipeline.h"

namespace tenon::cli {
namespace {

using Values = std::unordered_map<ir::ValueId, Tensor>;
using Names = std::set<std::string, std::less<>>;

bool is_symbol(Dim d) { return d.node() && d.node()->kind == DimNode::Kind::symbol; }

/// Adds the symbols in the types and the shape data of a graph's values, in bodies too.
void add_symbols(const ir::Graph& graph, Names& out) {
  const auto add = [&](Dim d) { each_symbol(d, [&](const DimNode& s) { out.insert(s.name); }); };
  for (const ir::ValueId v : graph.values()) {
    const ir::Value& value = graph.value(v);
    if (value.type.is_tensor() && value.type.has_rank()) std::ranges::for_each(*value.type.shape, add);
    if (value.data) std::ranges::for_each(*value.data, add);
  }
  for (const ir::NodeId n : graph.nodes())
    for (const ir::Body& b : graph.node(n).bodies) add_symbols(*b.graph, out);
}

/// The first value that has a size as one of its dimensions, by the size's name: inputs, then results.
class SizeDefinitions {
 public:
  explicit SizeDefinitions(const ir::Graph& graph) : graph_(graph) {
    for (const ir::ValueId v : graph.inputs()) add(v);
    for (const ir::NodeId n : graph.nodes())
      for (const ir::ValueId v : graph.node(n).outputs)
        if (v) add(v);
  }

  /// The segment with operands that define every size in it: alone, no program around it defines them.
  ir::Segment with_sizes(ir::Segment segment) const {
    add_operands_of_sizes(segment);
    Names wanted;
    add_symbols(*ir::extract_segment(graph_, segment), wanted);
    for (const std::string& name : wanted) {
      const auto value = values_.find(name);
      if (value == values_.end()) continue;
      const auto has_it = [&](ir::ValueId v) { return has_size(v, name); };
      if (std::ranges::none_of(segment.operands, has_it)) segment.operands.push_back(value->second);
    }
    return segment;
  }

 private:
  /// Nodes whose results the table of sizes has read nothing in the whole; alone they do.
  void add_operands_of_sizes(ir::Segment& segment) const {
    const auto is_among = [](const auto& all, auto one) { return std::ranges::find(all, one) != all.end(); };
    for (const ir::NodeId n : segment.nodes)
      for (const ir::ValueId v : graph_.node(n).inputs)
        if (v && !graph_.value(v).is_constant() && !is_among(segment.nodes, graph_.value(v).producer) && !is_among(segment.operands, v))
          segment.operands.push_back(v);
  }

  bool has_size(ir::ValueId v, std::string_view name) const {
    const ir::Type& type = graph_.value(v).type;
    return type.is_tensor() && type.has_rank() &&
           std::ranges::any_of(*type.shape, [&](Dim d) { return is_symbol(d) && d.node()->name == name; });
  }

  void add(ir::ValueId v) {
    const ir::Type& type = graph_.value(v).type;
    if (!type.is_tensor() || !type.has_rank()) return;
    for (const Dim d : *type.shape)
      if (is_symbol(d)) values_.emplace(d.node()->name, v);
  }

  const ir::Graph& graph_;
  std::map<std::string, ir::ValueId, std::less<>> values_;
};

/// The operands of the segments, computed by the reference evaluator.
Result<Values> operands_by_reference(const ir::Graph& graph, std::span<const ir::Segment> segments, std::span<const Tensor> inputs) {
  Values out;
  for (const ir::Segment& s : segments)
    for (const ir::ValueId v : s.operands) out.emplace(v, Tensor());
  for (size_t k = 0; k < inputs.size(); ++k)
    if (const auto at = out.find(graph.inputs()[k]); at != out.end()) at->second = inputs[k];
  ops::EvaluateOptions options;
  options.on_value = [&](ir::ValueId v, const Tensor& tensor) {
    if (const auto at = out.find(v); at != out.end()) at->second = tensor;
  };
  TRY(ops::evaluate(graph, inputs, options));
  return out;
}

/// The segment as a graph whose nodes stay where they are.
std::unique_ptr<ir::Graph> alone(const ir::Graph& graph, const ir::Segment& segment) {
  auto out = ir::extract_segment(graph, segment);
  const auto here = std::make_shared<const ir::Placement>(segment.backend, "pinned", "the segment that is checked");
  for (const ir::NodeId n : out->nodes())
    out->set_provenance(n, std::make_shared<const ir::Provenance>(ir::Provenance{.rule = {}, .sources = {}, .placement = here}));
  return out;
}

/// Options to compile a segment: without rewriting, since constraints of the user are stored in the nodes.
compiler::CompileOptions without_rewriting(compiler::CompileOptions options) {
  for (const passes::Pass& p : passes::pipeline()) options.off.emplace(p.name);
  options.constraints.fallback_ops.clear();
  options.constraints.fallback_modules.clear();
  options.constraints.pins.clear();
  options.constraints.require_full = false;
  options.measuring = nullptr;
  options.tactics = {};
  return options;
}

/// How far the results are from the reference on the same operands, and what rounding does where one is beyond its bound.
Result<std::vector<ValueDistance>> distances(const ir::Graph& alone, const ir::Segment& segment, std::span<const Tensor> operands,
                                             std::span<const Tensor> results, const ProductRounding& rounding) {
  ops::EvaluateOptions wide;
  wide.mode = ops::Mode::wide;
  const auto references = TRY(ops::evaluate(alone, operands, wide));
  std::vector<ValueDistance> out;
  for (size_t k = 0; k < results.size(); ++k)
    out.push_back({segment.results[k], results[k].dtype(), distance(results[k], references[k], bound_of(rounding)), 0});
  if (std::ranges::all_of(out, [](const ValueDistance& d) { return d.distance.bound_ratio <= 1; })) return out;
  const auto own = TRY(ops::evaluate(*TRY(in_precision(alone, rounding)), operands));
  for (size_t k = 0; k < out.size(); ++k) out[k].rounding = distance(own[k], references[k]).largest;
  return out;
}

class Check {
 public:
  Check(const compiler::CompileOptions& options, const runtime::RunOptions& run, const runtime::Devices& devices)
      : options_(without_rewriting(options)), run_(run), devices_(devices) {}

  Result<SegmentCheck> segment(const ir::Graph& graph, const ir::Segment& segment, const Values& values) const {
    SegmentCheck out;
    std::vector<Tensor> operands;
    for (const ir::ValueId v : segment.operands) operands.push_back(values.at(v));
    const auto cut = alone(graph, segment);
    auto ran = results(*cut, operands);
    if (!ran) {
      out.error = std::move(ran).error();
      return out;
    }
    const auto rank = [](const ValueDistance& d) { return std::pair(d.bad(), d.distance.bound_ratio); };
    for (ValueDistance& d : TRY(distances(*cut, segment, operands, ran->results, {options_.precision, options_.activations})))
      if (!out.furthest || rank(d) > rank(*out.furthest)) out.furthest = std::move(d);
    return out;
  }

 private:
  Result<EngineRun> results(const ir::Graph& cut, std::span<const Tensor> operands) const {
    auto engine = TRY(compiler::load_compiled(TRY(compiler::compile(cut.clone(), options_)), devices_));
    return run_engine(std::move(engine), operands, run_);
  }

  const compiler::CompileOptions options_;
  const runtime::RunOptions& run_;
  const runtime::Devices& devices_;
};

}  // namespace

Result<std::vector<SegmentCheck>> check_segments(const ir::Graph& graph, const partition::Partition& partition,
                                                 std::span<const Tensor> inputs, const compiler::CompileOptions& options,
                                                 const runtime::RunOptions& run, const runtime::Devices& devices) {
  const SizeDefinitions definitions(graph);
  std::vector<ir::Segment> segments;
  for (const ir::Segment& s : partition.segments) segments.push_back(definitions.with_sizes(s));
  const Values values = TRY(operands_by_reference(graph, segments, inputs));
  const Check check(options, run, devices);
  std::vector<SegmentCheck> out;
  for (uint32_t s = 0; s < segments.size(); ++s) {
    if (options.progress) options.progress(fmt::format("segment {} of {}", s, segments.size()));
    out.push_back(TRY(check.segment(graph, segments[s], values)));
    out.back().segment = s;
  }
  return out;
}

}  // namespace tenon::cli
