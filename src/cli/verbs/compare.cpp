// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cli/bench/peer.h"
#include "cli/compare/in_precision.h"
#include "cli/compare/outlier.h"
#include "cli/compare/segment_report.h"
#include "cli/compare/unchecked_ops.h"
#include "cli/console/console.h"
#include "cli/console/verb.h"
#include "cli/options/engine_options.h"
#include "cli/options/input_options.h"
#include "ops/reference/evaluate.h"

namespace tenon::cli::verb_compare {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kShownValues = 10;

struct Options {
  EngineOptions engine;
  InputOptions inputs;
  std::string with = "reference";
  bool all_values = false;
  bool by_segment = false;
  std::optional<double> outlier;
};

struct OutputDistance {
  std::string name, type;
  Distance ours;
  std::optional<Distance> other;
  std::optional<Distance> rounded;        ///< what rounding alone does; computed where the distance is beyond its bound
  double decisions = 0;                   ///< and how far off other decisions are
  std::optional<double> small_half = {};  ///< error_of_small_half, beside an outlier
  bool in_bf16 = false;                   ///< the products' operands are rounded: a result may be twice as far off as that alone makes it
  double rounding() const { return rounded ? rounding_with_decisions(rounded->largest, decisions) : 0; }
  bool explained() const { return rounded && (is_decided(ours, rounded->largest, decisions) || (in_bf16 && is_good(ours, rounded))); }
  bool good() const { return is_good(ours, other) || explained(); }
};

/// A value that is wrong, and what showed it.
struct FirstBad {
  ValueDistance value;
  std::string how;
};

Result<std::vector<Tensor>> other_results(const Options& o, const EngineRun& ran, std::span<const Tensor> inputs) {
  if (o.with == "reference") return std::vector<Tensor>();
  const files::NamedTensors named = TRY(peer_inputs(*ran.engine, inputs));
  const int threads = o.engine.threads > 0 ? o.engine.threads : default_thread_pool().size();
  const bool fixed = !o.engine.model.shapes.empty();
  auto peer = TRY(Peer::start({o.with, o.engine.model.path, o.engine.model.external_data, threads, fixed, o.engine.model.outputs}, named));
  return peer->outputs();
}

Result<std::vector<OutputDistance>> judge_outputs(const Options& o, const ir::Graph& graph, const EngineRun& ran,
                                                  std::span<const Tensor> inputs, codegen::Precision precision, Console& console) {
  ops::EvaluateOptions wide;
  wide.mode = ops::Mode::wide;
  console.progress("reference");
  const auto references = TRY(ops::evaluate(graph, inputs, wide));
  console.progress(o.with);
  const auto others = TRY(other_results(o, ran, inputs));
  std::vector<OutputDistance> out;
  for (size_t k = 0; k < references.size(); ++k) {
    const Tensor& t = ran.results[k];
    OutputDistance d{ran.engine->outputs()[k].name, type_text(t), distance(t, references[k], bound_of(precision)), {}, {}};
    d.in_bf16 = precision == codegen::Precision::bf16;
    if (o.outlier && is_float(t.dtype()) && t.shape() == references[k].shape()) d.small_half = error_of_small_half(t, references[k]);
    if (k < others.size()) d.other = distance(others[k], references[k]);
    out.push_back(std::move(d));
  }
  if (std::ranges::all_of(out, [](const OutputDistance& d) { return d.ours.of_bound <= 1; })) return out;
  console.progress("reference in the precision that is judged");
  const auto judged = TRY(in_precision(graph, precision));
  const auto own = TRY(ops::evaluate(*judged, inputs));
  ops::EvaluateOptions nudges;
  nudges.nudges = true;
  const bool decides = rounds_to_bytes(*judged);
  const auto nudged = decides ? TRY(ops::evaluate(*judged, inputs, nudges)) : own;
  for (size_t k = 0; k < out.size(); ++k) {
    out[k].rounded = distance(own[k], references[k]);
    if (decides) out[k].decisions = distance(nudged[k], references[k]).largest;
  }
  return out;
}

Result<std::optional<FirstBad>> search(const ValueSearch& search, bool outputs_bad, std::vector<ValueDistance>& values, Console& console) {
  console.progress("every value as an output");
  values = TRY(compare_values(search));
  const auto bad = std::ranges::find_if(values, [](const ValueDistance& v) { return v.bad(); });
  if (bad != values.end()) return FirstBad{*bad, "every value kept as an output"};
  if (!outputs_bad) return std::nullopt;
  auto found = TRY(bisect_values(search));
  if (!found) return std::nullopt;
  return FirstBad{*found, "one value at a time kept as an output: the error comes with fusing"};
}

const ir::Node& producer(const ir::Graph& graph, ir::ValueId v) { return graph.node(graph.value(v).producer); }

Json json_of(const ir::Graph& graph, const ValueDistance& v) {
  const ir::Node& node = producer(graph, v.value);
  return {{"value", graph.value(v.value).name},
          {"node", node.name},
          {"op", node.op->name},
          {"dtype", name_of(v.dtype)},
          {"largest_error", v.distance.largest},
          {"of_bound", v.distance.of_bound}};
}

std::string verdict_text(const OutputDistance& d) {
  const std::string rounding = d.ours.of_bound > 1 ? fmt::format(", rounding alone makes {:.3g}", d.rounding()) : "";
  return d.good() ? "good" + rounding : "bad: " + d.ours.found + rounding;
}

Json json_of(const OutputDistance& d) {
  return {{"name", d.name},
          {"type", d.type},
          {"largest_error", d.ours.largest},
          {"of_bound", d.ours.of_bound},
          {"bound", d.ours.bound},
          {"elements_beyond", d.ours.beyond},
          {"rounding_error", d.ours.of_bound > 1 ? Json(d.rounding()) : Json(nullptr)},
          {"small_half_error", d.small_half ? Json(*d.small_half) : Json(nullptr)},
          {"other_error", d.other ? Json(d.other->largest) : Json(nullptr)},
          {"verdict", d.good() ? "good" : "bad"}};
}

Json report_outputs(const std::vector<OutputDistance>& outputs, const std::string& with, Console& console) {
  std::vector<std::vector<std::string>> rows{{"output", "type", "largest error", "of its bound", "verdict"}};
  const bool other = with != "reference";
  if (other) rows[0].insert(rows[0].begin() + 4, "error of " + with);
  const bool outlier = std::ranges::any_of(outputs, [](const OutputDistance& d) { return d.small_half.has_value(); });
  if (outlier) rows[0].insert(rows[0].begin() + 3, "of the smaller half");
  Json json = Json::array();
  for (const OutputDistance& d : outputs) {
    rows.push_back({d.name, d.type, fmt::format("{:.3g}", d.ours.largest), fmt::format("{:.3g}", d.ours.of_bound), verdict_text(d)});
    if (other) rows.back().insert(rows.back().begin() + 4, d.other ? fmt::format("{:.3g}", d.other->largest) : "-");
    if (outlier) rows.back().insert(rows.back().begin() + 3, d.small_half ? fmt::format("{:.3g}", *d.small_half) : "-");
    json.push_back(json_of(d));
  }
  console.table(rows);
  return json;
}

Json report_values(const ir::Graph& graph, const std::vector<ValueDistance>& values, Console& console) {
  Json json = Json::array();
  for (const ValueDistance& v : values) json.push_back(json_of(graph, v));
  std::vector<ValueDistance> worst = values;
  std::ranges::sort(worst, std::greater{}, [](const ValueDistance& v) { return v.distance.of_bound; });
  if (worst.size() > kShownValues) worst.resize(kShownValues);
  console.line();
  console.line(fmt::format("{} floating values, each kept as an output; the furthest from their reference:", values.size()));
  std::vector<std::vector<std::string>> rows{{"value", "made by", "largest error", "of its bound"}};
  for (const ValueDistance& v : worst)
    rows.push_back({graph.value(v.value).name, std::string(producer(graph, v.value).op->name), fmt::format("{:.3g}", v.distance.largest),
                    fmt::format("{:.3g}", v.distance.of_bound)});
  console.table(rows);
  return json;
}

Json report_first_bad(const ir::Graph& graph, const std::optional<FirstBad>& bad, Console& console) {
  if (!bad) return nullptr;
  const ir::Node& node = producer(graph, bad->value.value);
  console.line();
  console.line(fmt::format("first bad value: '{}' of node '{}' ({}), {} ({})", graph.value(bad->value.value).name, node.name, node.op->name,
                           bad->value.distance.found, bad->how));
  Json json = json_of(graph, bad->value);
  json["element"] = bad->value.distance.at;
  json["found"] = bad->value.distance.found;
  json["how"] = bad->how;
  return json;
}

/// advice: where the result is wrong.
Result<void> verdict(const ir::Graph& graph, const std::vector<OutputDistance>& outputs, const std::optional<FirstBad>& first,
                     std::string advice) {
  const auto bad = std::ranges::find_if(outputs, [](const OutputDistance& d) { return !d.good(); });
  if (bad == outputs.end() && !first) return {};
  if (!first && !is_bad(bad->ours, bad->rounding()))
    return fail(Code::device_failed, "output '" + bad->name + "'", "the result is further from the fp64 reference than its bound")
        .expected(fmt::format("an error of {:.3g} at most; rounding every node's result makes {:.3g}", bad->ours.bound, bad->rounding()))
        .found(bad->ours.found)
        .advice("the model amplifies rounding: --with onnxruntime shows whether another engine does better");
  std::string place = first ? "value '" + graph.value(first->value.value).name + "'" : "output '" + bad->name + "'";
  return fail(Code::device_failed, std::move(place), "the result is further from the fp64 reference than rounding explains")
      .expected("an error that rounding explains")
      .found(first ? first->value.distance.found : bad->ours.found)
      .advice(std::move(advice));
}

/// A model compiled, and who runs what of it.
struct Model {
  std::shared_ptr<runtime::Engine> engine;
  std::unique_ptr<ir::Graph> graph;  ///< as it was compiled
  partition::Partition partition;
};

Result<Model> model_of(const ir::Graph& graph, const compiler::CompileOptions& options, Console& console) {
  compiler::Compiled all = TRY(compiled(graph.clone(), options, console));
  Model out{nullptr, std::move(all.graph), std::move(all.partition)};
  out.engine = TRY(compiler::load_compiled(std::move(all)));
  return out;
}

/// Whether the whole runs or not, its segments are looked at one by one. Errors: that of the first one that is wrong.
Result<Json> judge_segments(const Model& model, std::span<const Tensor> inputs, const compiler::CompileOptions& options,
                            const runtime::RunOptions& run, Console& console) {
  const auto checks = TRY(check_segments(*model.graph, model.partition, inputs, options, run));
  Json rows = report_segments(*model.graph, model.partition, checks, console);
  if (auto verdict = verdict_of_segments(*model.graph, model.partition, checks); !verdict) {
    console.object({{"verdict", "bad"}, {"segments", std::move(rows)}});
    return std::unexpected(std::move(verdict).error());
  }
  return rows;
}

Json report_not_judged(const ir::Graph& graph, Console& console) {
  Json json = Json::object();
  for (const auto& [op, nodes] : ops_without_reference(graph)) {
    console.line(fmt::format("not judged: {} ({}x) has no definition; where the reference needs it, it calls the plugin", op, nodes));
    json[op] = nodes;
  }
  return json;
}

/// Random nodes draw the numbers of seed 0, as they do in the reference.
runtime::RunOptions run_options(const Options& o) {
  runtime::RunOptions out = o.engine.run_options();
  out.seed = ops::EvaluateOptions().random.seed;
  return out;
}

Result<void> compare_model(const Options& o, Console& console) {
  if (o.engine.is_engine())
    return fail(Code::bad_usage, o.engine.model.path, "an engine has no weights as the model had them, to compare with")
        .expected("an ONNX model")
        .found("an engine")
        .advice("give the model that the engine was built from");
  auto imported = TRY(o.engine.model.import());
  for (const std::string& w : imported.warnings) console.warn(w);
  const ir::Graph& graph = *imported.graph;
  if (!graph.states().empty())
    return fail(Code::not_supported, "--state", "not supported yet: comparing runs that follow each other")
        .expected("a model whose states are inputs and outputs")
        .found(std::to_string(graph.states().size()) + " states")
        .advice("leave --state out: one run is compared with all states as inputs");
  const auto options = TRY(o.engine.compile_options(console));
  const Model model = TRY(model_of(graph, options, console));
  auto inputs = TRY(o.inputs.inputs(*model.engine, TRY(o.engine.model.import_options()).shapes));
  if (o.outlier) put_outlier(inputs, *o.outlier);
  const Json segments = o.by_segment ? TRY(judge_segments(model, inputs, options, run_options(o), console)) : Json(nullptr);
  const EngineRun ran = TRY(run_engine(model.engine, inputs, run_options(o)));
  const auto outputs = TRY(judge_outputs(o, graph, ran, inputs, options.precision, console));
  const bool bad = std::ranges::any_of(outputs, [](const OutputDistance& d) { return !d.good(); });
  std::vector<ValueDistance> values;
  std::optional<FirstBad> first;
  if (bad || o.all_values) first = TRY(search({graph, inputs, options, run_options(o)}, bad, values, console));
  if (options.precision == codegen::Precision::bf16)
    console.line(
        "judged as bf16: large products of operands that are rounded to it, sums in f32. Floats may differ by the bounds of bf16, or by\n"
        "twice what rounding these operands does in the reference.\n");
  const Json outputs_json = report_outputs(outputs, o.with, console);
  const Json values_json = o.all_values ? report_values(graph, values, console) : Json(nullptr);
  const Json first_json = report_first_bad(graph, first, console);
  Json answer = {{"verdict", bad || first ? "bad" : "good"},
                 {"with", o.with},
                 {"precision", codegen::name_of(options.precision)},
                 {"outputs", outputs_json},
                 {"values", values_json},
                 {"first_bad", first_json}};
  if (Json none = report_not_judged(graph, console); !none.empty()) answer["not_judged"] = std::move(none);
  if (o.by_segment) answer["segments"] = segments;
  console.object(answer);
  const bool shared = !model.partition.of_devices(partition::Roles(options.backends, options.constraints)).empty();
  return verdict(graph, outputs, first,
                 shared && !o.by_segment ? "--by-segment names the backend that is wrong"
                                         : "report this as a bug of Tenon, with the model and its inputs");
}

}  // namespace

VERB(compare) {
    .summary = "hold a model's results against the fp64 reference",
    .examples =
        "  tenon compare model.onnx\n"
        "  tenon compare model.onnx --shape ids=2x64 --with onnxruntime\n"
        "  tenon compare model.onnx --input batch.npz --all-values\n"
        "  tenon compare model.onnx --opt 0 --json\n"
        "  tenon compare model.onnx --outlier 1e6         (and again with --no-winograd: how far the error of one pixel reaches)\n"
        "  tenon compare model.onnx --backend onnxruntime,cpu --by-segment\n"
        "\nThe judge is Tenon's evaluator with every floating value in fp64. A float may differ by relative * |reference| + absolute *\n"
        "the largest element: 1.3e-6 and 1e-5 in f32, 1e-3 twice in f16, 1.6e-2 and 1e-3 in bf16, 1e-7 twice in f64; or by twice the\n"
        "other engine's own error where that is more. With --precision bf16 the bounds are those of bf16, or twice what rounding the operands\n"
        "of products does in the reference, where that is more. Where an output is bad, the first bad value in graph order is searched on copies\n"
        "of the graph that keep values as outputs; a value is bad where it is also further off than 32 times what rounding every\n"
        "node's result makes of it. The exit code is 1 where the verdict is bad.\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->engine.add_to(app, EngineOptions::Takes::models);
      o->engine.add_check_memory_to(app);
      o->inputs.add_to(app);
      app.add_option("--with", o->with, "show another engine's error against the same judge")
          ->check(CLI::IsMember({"reference", "onnxruntime", "openvino", "torch"}))
          ->capture_default_str();
      app.add_option(
             "--outlier", o->outlier,
             "make the middle element of each floating input so large, and show the error of the results that are small in comparison")
          ->type_name("VALUE");
      app.add_flag("--all-values", o->all_values, "compare every floating value, each kept as an output of a copy of the graph");
      app.add_flag("--by-segment", o->by_segment, "run each backend's segments by themselves first, and name the first that is wrong");
      return [o](Console& console) { return compare_model(*o, console); };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_compare
