// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cli/compare/judge_outputs.h"
#include "cli/compare/outlier.h"
#include "cli/compare/output_report.h"
#include "cli/compare/segment_report.h"
#include "cli/compare/unchecked_ops.h"
#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/verb.h"
#include "cli/llm/decoder_compare.h"
#include "cli/options/engine_options.h"
#include "cli/options/step_inputs.h"
#include "files/gguf.h"

namespace tenon::cli::verb_compare {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kShownValues = 10;

constexpr int64_t kDefaultSteps = 4;  ///< of a model with states

struct Options {
  EngineOptions engine;
  InputOptions inputs;
  std::optional<int64_t> steps, tokens;
  std::string with = "reference";
  bool all_values = false;
  bool by_segment = false;
  std::optional<double> outlier;
};

/// A value that is wrong, and what showed it.
struct FirstBad {
  ValueDistance value;
  std::string how;
};

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
          {"of_bound", v.distance.bound_ratio}};
}

Json report_values(const ir::Graph& graph, const std::vector<ValueDistance>& values, Console& console) {
  Json json = Json::array();
  for (const ValueDistance& v : values) json.push_back(json_of(graph, v));
  std::vector<ValueDistance> worst = values;
  std::ranges::sort(worst, std::greater{}, [](const ValueDistance& v) { return v.distance.bound_ratio; });
  if (worst.size() > kShownValues) worst.resize(kShownValues);
  console.line();
  console.line(fmt::format("{} floating values, each kept as an output; the furthest from their reference:", values.size()));
  std::vector<std::vector<std::string>> rows{{"value", "made by", "largest error", "of its bound"}};
  for (const ValueDistance& v : worst)
    rows.push_back({graph.value(v.value).name, std::string(producer(graph, v.value).op->name), fmt::format("{:.3g}", v.distance.largest),
                    fmt::format("{:.3g}", v.distance.bound_ratio)});
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

/// The options of `tenon compare`.
struct Comparison {
  const ir::Graph& graph;
  std::shared_ptr<runtime::Engine> engine;
  InputsOfSteps inputs;
  bool has_steps = false;  ///< results are reported with their step
};

/// advice: where the result is wrong.
Result<void> verdict(const ir::Graph& graph, const std::vector<OutputDistance>& outputs, bool has_steps,
                     const std::optional<FirstBad>& first, std::string advice) {
  const auto bad = std::ranges::find_if(outputs, [](const OutputDistance& d) { return !d.good(); });
  if (bad == outputs.end() && !first) return {};
  if (!first && !is_bad(bad->ours, bad->rounding()))
    return fail(Code::device_failed, place_of(*bad, has_steps), "the result is further from the fp64 reference than its bound")
        .expected(fmt::format("an error of {:.3g} at most; rounding every node's result makes {:.3g}", bad->ours.bound, bad->rounding()))
        .found(bad->ours.found)
        .advice("the model amplifies rounding: --with onnxruntime shows whether another engine does better");
  std::string place = first ? "value '" + graph.value(first->value.value).name + "'" : place_of(*bad, has_steps);
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

/// Steps of the model, or one run where it has no states and none are requested.
Result<Comparison> comparison(const Options& o, const ir::Graph& graph, std::shared_ptr<runtime::Engine> engine) {
  const bool has_steps = o.steps || !graph.states().empty();
  const int64_t steps = o.steps.value_or(has_steps ? kDefaultSteps : 1);
  Comparison out{graph, std::move(engine), {}, has_steps};
  auto inputs = TRY(StepInputs::make(o.inputs, out.engine->inputs(), TRY(o.engine.model.import_options()).shapes,
                                     has_steps ? std::optional(steps) : std::nullopt));
  for (int64_t k = 0; k < steps; ++k) out.inputs.push_back(TRY(inputs.next()));
  if (o.outlier)
    for (std::vector<Tensor>& step : out.inputs) put_outlier(step, *o.outlier);
  return out;
}

/// Nothing where the reference alone judges. Errors: not_supported for an engine that cannot carry states.
Result<SteppedResults> other_results(const Options& o, const Comparison& c) {
  if (o.with == "reference") return SteppedResults();
  if (c.inputs.size() > 1 && o.with == "torch")
    return fail(Code::not_supported, "--with torch", "not supported yet: steps that follow each other in torch")
        .expected("--with onnxruntime or openvino, or --steps 1")
        .found(fmt::format("{} steps", c.inputs.size()));
  const int threads = o.engine.threads > 0 ? o.engine.threads : default_thread_pool().size();
  const bool fixed = !o.engine.model.shapes.empty() && c.inputs.size() == 1;
  std::vector<std::string> outputs;  // states' too, of which the next step reads
  for (uint32_t k = 0; k < c.graph.outputs().size() && !o.engine.model.outputs.empty(); ++k) outputs.push_back(c.graph.output_name(k));
  return run_peer_steps({o.with, o.engine.model.path, o.engine.model.external_data, threads, fixed, outputs}, *c.engine, c.graph, c.inputs);
}

/// One step where its states are inputs and outputs as others.
struct StepAlone {
  std::unique_ptr<ir::Graph> graph;
  std::vector<Tensor> inputs;
};
Result<StepAlone> step_alone(const Options& o, const Comparison& c, size_t step) {
  if (c.graph.states().empty()) return StepAlone{c.graph.clone(), c.inputs[step]};
  ModelOptions model = o.engine.model;
  model.states.clear();
  StepAlone out{TRY(model.import()).graph, {}};
  out.inputs = in_order_of(*out.graph, TRY(values_at_step(*c.engine, c.graph, c.inputs, step)));
  return out;
}

Result<Json> judge_segments_of(const Options& o, const Model& model, const Comparison& c, const compiler::CompileOptions& options,
                               Console& console) {
  const auto inputs = in_order_of(*model.graph, TRY(values_at_step(*c.engine, c.graph, c.inputs, c.inputs.size() - 1)));
  return judge_segments(model, inputs, options, run_options(o), console);
}

/// Errors: bad_usage where --tokens or llama.cpp meets a model that is no checkpoint, or another engine a checkpoint.
Result<bool> compares_logits(const Options& o) {
  const bool is_decoder = is_checkpoint(o.engine.model.path), llama = o.with == "llama.cpp";
  if (!is_decoder && (o.tokens || llama))
    return fail(Code::bad_usage, o.tokens ? "--tokens" : "--with llama.cpp", "the option is for checkpoints of language models")
        .expected("a GGUF file or a Hugging Face folder")
        .found(o.engine.model.path)
        .advice(o.tokens ? "--steps compares runs of a model with states that follow each other" : "give --with onnxruntime");
  if (!is_decoder) return false;
  if (o.with != "reference" && !(llama && files::is_gguf(o.engine.model.path)))
    return fail(Code::bad_usage, "--with " + o.with, "the other engine cannot read this checkpoint")
        .expected("llama.cpp and a GGUF file, or the reference alone")
        .found(o.engine.model.path);
  const char* const by_step = o.steps        ? "--steps"
                              : o.all_values ? "--all-values"
                              : o.by_segment ? "--by-segment"
                              : o.outlier    ? "--outlier"
                                             : nullptr;
  if (by_step && (o.tokens || llama))
    return fail(Code::bad_usage, o.tokens ? "--tokens" : "--with llama.cpp", std::string("logits are compared, or steps are, not both"))
        .expected("--tokens and --with llama.cpp, or --steps, --all-values, --by-segment and --outlier")
        .found(std::string("also ") + by_step);
  return !by_step;
}

Result<void> compare_model(const Options& o, Console& console) {
  if (TRY(compares_logits(o))) return compare_decoder({o.engine, o.inputs, o.tokens, o.with}, console);
  if (o.engine.is_engine())
    return fail(Code::bad_usage, o.engine.model.path, "an engine has no weights as the model had them, to compare with")
        .expected("an ONNX model")
        .found("an engine")
        .advice("give the model that the engine was built from");
  auto imported = TRY(o.engine.model.import());
  for (const std::string& w : imported.warnings) console.warn(w);
  const ir::Graph& graph = *imported.graph;
  const auto options = TRY(o.engine.compile_options(console));
  const Model model = TRY(model_of(graph, options, console));
  const Comparison c = TRY(comparison(o, graph, model.engine));
  const Json segments = o.by_segment ? TRY(judge_segments_of(o, model, c, options, console)) : Json(nullptr);
  const SteppedResults ran = TRY(run_engine_steps(c.engine, graph, c.inputs, run_options(o)));
  console.progress(o.with);
  const SteppedResults others = TRY(other_results(o, c));
  const JudgeOptions judging{.rounding = {options.precision, options.activations}, .has_outlier = o.outlier.has_value()};
  const auto outputs = TRY(judge_outputs(graph, c.inputs, ran, others, judging, console));
  const auto bad = std::ranges::find_if(outputs, [](const OutputDistance& d) { return !d.good(); });
  std::vector<ValueDistance> values;
  std::optional<FirstBad> first;
  StepAlone alone;
  if (bad != outputs.end() || o.all_values) {
    alone = TRY(step_alone(o, c, bad == outputs.end() ? c.inputs.size() - 1 : bad->step));
    first = TRY(search({*alone.graph, alone.inputs, options, run_options(o)}, bad != outputs.end(), values, console));
  }
  if (options.precision == codegen::Precision::bf16)
    console.line(
        "judged as bf16: large products of operands that are rounded to it, sums in f32. Floats may differ by the bounds of bf16, or by\n"
        "twice what rounding these operands does in the reference.\n");
  if (options.activations != codegen::Activations::f32)
    console.line(fmt::format(
        "judged with activations of {}: floats may differ by the bounds of bf16, or by twice what rounding the operands of products\n"
        "with matrices in blocks does in the reference.\n",
        codegen::name_of(options.activations)));
  const Json outputs_json = report_outputs(outputs, {o.with, c.has_steps}, console);
  const Json values_json = o.all_values ? report_values(*alone.graph, values, console) : Json(nullptr);
  const Json first_json = first ? report_first_bad(*alone.graph, first, console) : Json(nullptr);
  Json answer = {{"verdict", bad != outputs.end() || first ? "bad" : "good"},
                 {"with", o.with},
                 {"precision", codegen::name_of(options.precision)},
                 {"activations", codegen::name_of(options.activations)},
                 {"outputs", outputs_json},
                 {"values", values_json},
                 {"first_bad", first_json}};
  if (Json none = report_not_judged(graph, console); !none.empty()) answer["not_judged"] = std::move(none);
  if (o.by_segment) answer["segments"] = segments;
  console.object(answer);
  const bool shared = !model.partition.device_segments(partition::Roles(options.backends, options.constraints)).empty();
  const bool carried = bad != outputs.end() && !first && !graph.states().empty();
  return verdict(first ? *alone.graph : graph, outputs, c.has_steps, first,
                 carried ? "the step alone, with its states as inputs, shows no bad value: --without write_in_place and --without "
                           "append_in_place show whether a state is written wrongly"
                 : shared && !o.by_segment ? "--by-segment names the backend that is wrong"
                                           : "report this as a bug of Tenon, with the model and its inputs");
}

}  // namespace

VERB(compare) {
    .summary = "compare a model's results with those of the fp64 reference",
    .examples =
        "  tenon compare model.onnx\n"
        "  tenon compare model.onnx --shape ids=2x64 --with onnxruntime\n"
        "  tenon compare model.onnx --input batch.npz --all-values\n"
        "  tenon compare model.onnx --opt 0 --json\n"
        "  tenon compare model.onnx --outlier 1e6         (and again with --no-winograd: how far the error of one pixel reaches)\n"
        "  tenon compare model.onnx --backend onnxruntime,cpu --by-segment\n"
        "  tenon compare model.gguf --tokens 32 --with llama.cpp\n"
        "  tenon compare decoder.onnx --state 'past_*=present_*:4096' --shape x=1x1x16 --steps 8\n"
        "\nThe judge is Tenon's evaluator with every floating value in fp64. A float may differ by relative * |reference| + absolute *\n"
        "the largest element: 1.3e-6 and 1e-5 in f32, 1e-3 twice in f16, 1.6e-2 and 1e-3 in bf16, 1e-7 twice in f64; or by twice the\n"
        "other engine's own error where that is more. With --precision bf16 the bounds are those of bf16, or twice what rounding the operands\n"
        "of products does in the reference, where that is more. Where an output is bad, the first bad value in graph order is searched on copies\n"
        "of the graph that keep values as outputs; a value is bad where it is also further off than 32 times what rounding every\n"
        "node's result makes of it. The exit code is 1 where the verdict is bad.\n"
        "A model with states runs several steps, on both sides each on the states that the one before left; judged are the outputs of each,\n"
        "and the states after the last. The search and --all-values then look at one step, with its states as inputs: the first bad one, or\n"
        "the last.\n"
        "Of a checkpoint (GGUF, a Hugging Face folder) the logits of tokens that run one after the other are compared with fp64 on the\n"
        "same weights: the root mean square of the errors, the largest, and after how many tokens the likeliest one is the same. With\n"
        "--steps outputs and states are judged as above.\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->engine.add_to(app, EngineOptions::Takes::models);
      o->engine.add_check_memory_to(app);
      o->inputs.add_to(app);
      app.add_option("--steps", o->steps,
                     "compare so many runs that follow each other (default: 4 of a model with states, else 1). An --input whose array has "
                     "one dimension more, of that size, has a value for each step; others are the same in all, random ones differ")
          ->check(at_least(1));
      app.add_option("--tokens", o->tokens, "of a checkpoint: compare the logits of so many tokens (default: 16, or those of --input)")
          ->type_name("N")
          ->check(at_least(1));
      app.add_option("--with", o->with, "also compare the results of this engine with the reference")
          ->check(CLI::IsMember({"reference", "onnxruntime", "openvino", "torch", "llama.cpp"}))
          ->capture_default_str();
      app.add_option(
             "--outlier", o->outlier,
             "make the middle element of each floating input so large, and show the error of the results that are small in comparison")
          ->type_name("VALUE");
      app.add_flag("--all-values", o->all_values, "compare every floating-point value, in a copy of the graph where all are outputs");
      app.add_flag("--by-segment", o->by_segment,
                   "first run each segment alone on operands of the reference, and report the first wrong one");
      return [o](Console& console) { return compare_model(*o, console); };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_compare
