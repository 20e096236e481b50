// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/value_search.h"

#include <unordered_map>

#include "cli/compare/in_precision.h"
#include "ops/reference/evaluate.h"

namespace tenon::cli {

using ir::ValueId;

Result<std::shared_ptr<runtime::Engine>> compile_with(const ir::Graph& graph, std::span<const ValueId> extra,
                                                      const compiler::CompileOptions& options) {
  auto copy = graph.clone();
  for (const ValueId v : extra) {
    if (copy->value(v).name.empty()) copy->set_name(v, copy->unique_name("value"));
    copy->add_output(v);
  }
  return compiler::load_compiled(TRY(compiler::compile(std::move(copy), options)));
}

Result<EngineRun> run_engine(std::shared_ptr<runtime::Engine> engine, std::span<const Tensor> inputs, const runtime::RunOptions& options) {
  EngineRun ran;
  ran.engine = std::move(engine);
  ran.context = TRY(runtime::Context::create(ran.engine));
  const auto results = TRY(ran.context->run(inputs, options));
  ran.results.assign(results.begin(), results.end());
  return ran;
}

std::vector<ValueId> float_values(const ir::Graph& graph) {
  std::vector<ValueId> out;
  for (const ir::NodeId n : graph.nodes())
    for (const ValueId v : graph.node(n).outputs) {
      if (!v || graph.is_output(v)) continue;
      const ir::Type& type = graph.value(v).type;
      if (type.kind == ir::Type::Kind::tensor && is_arithmetic_float(type.dtype)) out.push_back(v);
    }
  return out;
}

Result<std::vector<double>> roundings(const ValueSearch& search, std::span<const ValueId> values) {
  struct Pair {
    Tensor own, perturbed;
  };
  std::unordered_map<ValueId, Pair> found;
  for (const ValueId v : values) found[v] = {};
  const auto graph = TRY(in_precision(search.graph, {search.options.precision, search.options.activations}));
  const auto keep = [&](Tensor Pair::* member) {
    ops::EvaluateOptions options;
    options.perturbs = member == &Pair::perturbed;
    options.on_value = [&found, member](ValueId v, const Tensor& tensor) {
      if (const auto at = found.find(v); at != found.end()) at->second.*member = tensor;
    };
    return ops::evaluate(*graph, search.inputs, options);
  };
  TRY(keep(&Pair::own));
  const bool decides = rounds_to_bytes(*graph);
  if (decides) TRY(keep(&Pair::perturbed));
  std::unordered_map<ValueId, double> out;
  ops::EvaluateOptions options;
  options.mode = ops::Mode::wide;
  options.on_value = [&](ValueId v, const Tensor& wide) {
    const auto at = found.find(v);
    if (at == found.end() || at->second.own.empty_handle()) return;
    out[v] = rounding_with_decisions(distance(at->second.own, wide).largest, decides ? distance(at->second.perturbed, wide).largest : 0);
  };
  TRY(ops::evaluate(search.graph, search.inputs, options));
  std::vector<double> list;
  for (const ValueId v : values) list.push_back(out[v]);
  return list;
}

Result<std::vector<ValueDistance>> compare_values(const ValueSearch& search) {
  const std::vector<ValueId> values = float_values(search.graph);
  const Tolerance bound = bound_of({search.options.precision, search.options.activations});
  const EngineRun ran = TRY(run_engine(TRY(compile_with(search.graph, values, search.options)), search.inputs, search.run));
  const size_t first = search.graph.outputs().size();
  std::unordered_map<ValueId, size_t> places;
  std::vector<ValueDistance> out;
  for (size_t k = 0; k < values.size(); ++k) {
    places.emplace(values[k], k);
    out.push_back({values[k], ran.results[first + k].dtype(), {}, 0});
  }
  ops::EvaluateOptions reference;
  reference.mode = ops::Mode::wide;
  reference.on_value = [&](ValueId v, const Tensor& wide) {
    if (const auto at = places.find(v); at != places.end())
      out[at->second].distance = distance(ran.results[first + at->second], wide, bound);
  };
  TRY(ops::evaluate(search.graph, search.inputs, reference));
  std::vector<ValueId> beyond;
  for (const ValueDistance& v : out)
    if (v.distance.bound_ratio > 1) beyond.push_back(v.value);
  if (beyond.empty()) return out;
  const auto rounding = TRY(roundings(search, beyond));
  for (size_t k = 0; k < beyond.size(); ++k) out[places[beyond[k]]].rounding = rounding[k];
  return out;
}

Result<std::optional<ValueDistance>> bisect_values(const ValueSearch& search) {
  const std::vector<ValueId> values = float_values(search.graph);
  const std::vector<double> rounding = TRY(roundings(search, values));
  std::unordered_map<ValueId, Tensor> wide;
  ops::EvaluateOptions reference;
  reference.mode = ops::Mode::wide;
  reference.on_value = [&](ValueId v, const Tensor& tensor) { wide.emplace(v, tensor); };
  TRY(ops::evaluate(search.graph, search.inputs, reference));
  std::optional<ValueDistance> found;
  for (size_t low = 0, high = values.size(); low < high;) {
    const size_t middle = low + (high - low) / 2;
    const ValueId v = values[middle];
    if (search.options.progress) search.options.progress("search: value " + search.graph.value(v).name);
    const EngineRun ran = TRY(run_engine(TRY(compile_with(search.graph, {&v, 1}, search.options)), search.inputs, search.run));
    const Tensor& result = ran.results.back();
    const ValueDistance d{v, result.dtype(), distance(result, wide[v], bound_of({search.options.precision, search.options.activations})),
                          rounding[middle]};
    if (d.bad()) {
      found = d;
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return found;
}

}  // namespace tenon::cli
