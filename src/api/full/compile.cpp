// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"
#include "compiler/read_model.h"

#include <algorithm>

#include "compiler/measure/calibration.h"
#include "compiler/measure/child_process_runner.h"
#include "compiler/plugins.h"
#include "compiler/save.h"
#include "compiler/targets/target_options.h"
#include "import/state_pairs.h"
#include "ir/verify.h"

// Last: the public names come after the inner ones (see there).
#include "api/full/compile.h"
#include "api/state.h"

namespace tenon::inline v1 {

import::ImportOptions import_options(const std::filesystem::path& external_data,
                                     const std::map<std::string, std::vector<int64_t>>& shapes) {
  import::ImportOptions out;
  out.external_data_dir = external_data;
  for (const auto& [input, sizes] : shapes) {
    import::RequestedShape shape{input, {}};
    for (const int64_t s : sizes) shape.dims.push_back({s < 0 ? std::nullopt : std::optional(s), {}});
    out.shapes.push_back(std::move(shape));
  }
  return out;
}

namespace {

base::Result<import::RequestedDim> requested(const std::string& input, int64_t least, int64_t usual, int64_t most) {
  if (least == most) return import::RequestedDim{least < 0 ? std::nullopt : std::optional(least), {}};
  if (least >= 0 && least <= usual && usual <= most) return import::RequestedDim{{}, {}, import::SizeInterval{least, usual, most}};
  return base::fail(base::Code::bad_usage, "range of input '" + input + "'", "sizes must not fall")
      .expected("least <= usual <= most")
      .found(std::to_string(least) + ", " + std::to_string(usual) + ", " + std::to_string(most));
}

}  // namespace

base::Result<import::ImportOptions> import_options(const CompileOptions& options) {
  import::ImportOptions out = import_options(options.external_data, options.shapes);
  out.outputs = options.outputs;
  out.states = options.states;
  out.freeze_defaults = options.freeze_defaults;
  out.metadata = !options.fallback_modules.empty() || !options.pins.empty();
  out.ops = TRY(compiler::load_plugins(options.plugins)).ops;
  out.unknown_ops = compiler::default_registry().run_unknown_ops(options.backends);
  for (const auto& [input, range] : options.ranges) {
    if (range.least.size() != range.usual.size() || range.least.size() != range.most.size())
      return base::fail(base::Code::bad_usage, "range of input '" + input + "'", "its shapes have different ranks");
    import::RequestedShape shape{input, {}};
    for (size_t k = 0; k < range.least.size(); ++k)
      shape.dims.push_back(TRY(requested(input, range.least[k], range.usual[k], range.most[k])));
    out.shapes.push_back(std::move(shape));
  }
  return out;
}

namespace {

bool runs_by_plugin(const plugin::Registry& plugins, std::string_view name) {
  const auto ops = plugins.ops();
  return std::ranges::any_of(ops, [&](const plugin::Op* op) { return op->runs() && op->name_space + "::" + op->name == name; });
}

base::Result<void> check_bounds(const compiler::OptionRow& row, std::optional<int64_t> value) {
  if (!value || (value >= row.least.value_or(*value) && value <= row.most.value_or(*value))) return {};
  return base::fail(base::Code::bad_usage, std::string(row.name),
                    std::string(row.problem.empty() ? "the value is out of range" : row.problem))
      .expected(compiler::bounds_of(row))
      .found(std::to_string(*value))
      .advice(std::string(row.advice));
}

base::Result<void> check_bounds(const CompileOptions& options) {
#define TENON_BOUNDED_OPTION(NAME) TRY(check_bounds(compiler::option_row(#NAME), options.NAME));
#include "tenon/compile_options.inc"
  return {};
}

#define TENON_SAME_ENUMERATOR(PUBLIC, INNER, NAME) static_assert(static_cast<INNER>(PUBLIC::NAME) == INNER::NAME);
#include "tenon/compile_options.inc"

void copy_scalars(const CompileOptions& from, compiler::ScalarOptions& to) {
#define TENON_SCALAR_OPTION(TYPE, NAME, DEFAULT) to.NAME = static_cast<TYPE>(from.NAME);
#include "tenon/compile_options.inc"
}

base::Result<partition::Constraints> constraints_of(const CompileOptions& options) {
  partition::Constraints out;
  out.listed = std::max<size_t>(1, options.backends.size());
  out.fallback_ops = options.fallback_ops;
  out.fallback_modules = options.fallback_modules;
  for (const Pin& p : options.pins) out.pins.push_back({p.name, p.backend});
  if (options.min_block_size) out.min_block_size = static_cast<uint32_t>(*options.min_block_size);
  for (const auto& [backend, bytes] : options.memory) out.memory.push_back({backend, bytes});
  for (const auto& [from, to] : options.narrow) out.narrow.push_back({from, to});
  if (options.assign == Assign::cost) out.assign = partition::Assign::cost;
  if (options.segmenter == Segmenter::walk) out.segmenter = partition::Segmenter::walk;
  out.require_full = options.require_full;
  return out;
}

}  // namespace

base::Result<compiler::CompileOptions> inner_options(const CompileOptions& options, std::string source) {
  TRY(check_bounds(options));
  compiler::CompileOptions out;
  copy_scalars(options, out);
  out.off = compiler::disabled_passes(out);
  out.progress = options.progress;
  out.source = std::move(source);
  runtime::Libraries libraries = TRY(libraries_of(options.libraries, options.plugins));
  libraries.preferred_plugins = options.prefer;
  for (const auto& [op, tactic] : options.plugin_tactics) {
    if (!runs_by_plugin(*libraries.plugins, op))
      return base::fail(base::Code::bad_usage, "plugin_tactics " + op, "no plugin runs an op of this name")
          .expected("an op of a library that `plugins` names, \"namespace::Name\"")
          .found("'" + op + "'");
    libraries.plugin_tactics.emplace(op, tactic);
  }
  out.freeze_defaults = options.freeze_defaults;
  libraries.isolated_plugins = isolation_of(options);
  out.registry = TRY(compiler::Registry::make(libraries));
  out.backends = TRY(out.registry->named(options.backends));
  TRY(compiler::read_targets(options.targets, out));
  out.constraints = TRY(constraints_of(options));
  out.constraints.preferred = TRY(compiler::preferences(*libraries.plugins, options.prefer));
  out.calibration = compiler::read_calibration();
  if (options.measure && options.assign != Assign::cost && options.plugins.empty())
    return base::fail(base::Code::bad_usage, "measure", "what is measured is what assignment by cost goes by, and the ways of plugins")
        .expected("measure with assignment by cost, or with plugins")
        .found("assignment by priority");
  if (options.measure) {
    const bool named = !options.timing_program.empty();
    const auto program = named ? options.timing_program : std::vector<std::string>{"tenon", "time"};
    out.measuring = TRY(compiler::child_process_measure_options(program, out, libraries));
  }
  return out;
}

namespace {

/// The parts of a compiled model that saving needs later; the engine takes the others.
std::shared_ptr<compiler::Compiled> kept_for_saving(compiler::Compiled& compiled) {
  auto kept = std::make_shared<compiler::Compiled>();
  kept->registry = compiled.registry;
  kept->backends = compiled.backends;
  kept->graph = std::move(compiled.graph);
  kept->fallbacks = std::move(compiled.fallbacks);
  kept->plan = std::move(compiled.plan);
  kept->built.programs = compiled.built.programs;
  kept->built.weights = compiled.built.weights;
  kept->built.tactics = std::move(compiled.built.tactics);
  kept->built.origins = std::move(compiled.built.origins);
  kept->code = compiled.code;
  kept->report = compiled.report;
  return kept;
}

compiler::Source source_of(import::Imported imported) { return {std::move(imported.graph), std::move(imported.unbounded)}; }

/// The options for loading an engine that was compiled with `options`.
LoadOptions load_options_of(const CompileOptions& options) {
  return {.libraries = options.libraries,
          .plugins = options.plugins,
          .isolate_plugins = options.isolate_plugins,
          .plugin_timeout = options.plugin_timeout,
          .plugin_memory = options.plugin_memory};
}

base::Result<Engine> engine_of(compiler::Source source, compiler::CompileOptions inner, const CompileOptions& options) {
  auto compiled = TRY(compiler::compile(std::move(source), inner));
  auto kept = kept_for_saving(compiled);
  auto engine = TRY(compiler::load_compiled(std::move(compiled)));
  inner.progress = nullptr;
  inner.measuring = nullptr;
  const auto save = [kept, inner](const std::filesystem::path& path, bool portable) {
    compiler::CompileOptions saving = inner;
    saving.portable = portable;
    return compiler::save(*kept, saving, path);
  };
  return make_engine(std::move(engine), save, load_options_of(options));
}

base::Error not_with_graph(std::string option, std::string what, std::string advice) {
  return base::fail(base::Code::bad_usage, std::move(option), std::move(what))
      .expected("a graph without this option")
      .found("this option")
      .advice(std::move(advice));
}

}  // namespace

base::Result<void> check_graph(ir::Graph& graph, const CompileOptions& options) {
  if (!options.external_data.empty())
    return not_with_graph("external_data", "a graph has its weights already", "give the folder to what reads the model");
  if (!options.shapes.empty() || !options.ranges.empty())
    return not_with_graph("shapes", "a graph has its shapes already", "say them where the graph is made");
  if (options.context != 0)
    return not_with_graph("context", "a graph has the capacities of its states already", "say them where the graph is made");
  if (!options.build_config.file.empty() || !options.build_config.text.empty())
    return not_with_graph("build_config", "a graph is what a BuildConfig would ask for already", "give it with the checkpoint");
  if (!options.lora.empty() || options.weights != StoredWeights::keep)
    return not_with_graph(options.lora.empty() ? "weights" : "lora", "a graph has its weights already",
                          "give the option with the checkpoint");
  if (options.kv != CacheType::f32) return not_with_graph("kv", "a graph has its states already", "give the option with the checkpoint");
  if (options.batch != 1) return not_with_graph("batch", "a graph has its sizes already", "give the option with the checkpoint");
  if (options.window != 0 || options.sinks != 0)
    return not_with_graph(options.window != 0 ? "window" : "sinks", "a graph has its states already",
                          "give the option with the checkpoint");
  if (!options.outputs.empty()) return not_with_graph("outputs", "a graph has its outputs already", "say them where the graph is made");
  TRY(ir::verify(graph));
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& input = graph.value(id);
    if (input.type.is_tensor() && (input.type.dtype == base::DType::none || !input.type.has_rank()))
      return base::fail(base::Code::bad_usage, "input '" + input.name + "'", "the type of this input is not known")
          .expected("a dtype, and a size or a symbol for each dimension")
          .found(input.type.text())
          .advice("set its type before compiling");
  }
  TRY(ir::infer_all(graph));
  return import::pair_states(graph, options.states);
}

namespace {

static_assert(static_cast<nn::StoredWeights>(StoredWeights::keep) == nn::StoredWeights::keep);
static_assert(static_cast<nn::StoredWeights>(StoredWeights::int8) == nn::StoredWeights::int8);
static_assert(static_cast<nn::StoredWeights>(StoredWeights::int4) == nn::StoredWeights::int4);
static_assert(static_cast<nn::StoredWeights>(StoredWeights::bf16) == nn::StoredWeights::bf16);
static_assert(static_cast<nn::StoredWeights>(StoredWeights::f32) == nn::StoredWeights::f32);

static_assert(static_cast<nn::CacheType>(CacheType::f32) == nn::CacheType::f32);
static_assert(static_cast<nn::CacheType>(CacheType::f16) == nn::CacheType::f16);
static_assert(static_cast<nn::CacheType>(CacheType::bf16) == nn::CacheType::bf16);
static_assert(static_cast<nn::CacheType>(CacheType::int8) == nn::CacheType::int8);
static_assert(static_cast<nn::CacheType>(CacheType::fp8) == nn::CacheType::fp8);

base::Result<compiler::CheckpointOptions> checkpoint_options(const CompileOptions& options) {
  compiler::CheckpointOptions out{.context = options.context,
                                  .lora = options.lora,
                                  .weights = static_cast<nn::StoredWeights>(options.weights),
                                  .kv = static_cast<nn::CacheType>(options.kv),
                                  .batch = options.batch,
                                  .window = options.window,
                                  .sinks = options.sinks};
  out.config = TRY(compiler::build_config_of(options.build_config.file, options.build_config.text));
  TRY(compiler::refuse_dry_run(out.config));
  return out;
}

/// `make` returns base::Result<Engine>.
template <class Make>
Result<Engine> made(Make make) {
  return guarded([&]() -> Result<Engine> {
    auto engine = make();
    if (!engine) return std::unexpected(public_error(engine.error()));
    return std::move(*engine);
  });
}

}  // namespace

Result<Engine> compile(const std::filesystem::path& model, const CompileOptions& options) {
  return made([&]() -> base::Result<Engine> {
    auto inner = TRY(inner_options(options, model.filename().string()));
    const auto of_checkpoint = TRY(checkpoint_options(options));
    auto imported = TRY(compiler::read_model(model, TRY(import_options(options)), of_checkpoint));
    if (of_checkpoint.config.plain_attention) inner.off.emplace(compiler::kAttentionRule);
    inner.text = std::move(imported.text);
    return engine_of(source_of(std::move(imported)), std::move(inner), options);
  });
}

Result<Engine> compile(std::span<const std::byte> model, const CompileOptions& options, std::shared_ptr<const void> keeper) {
  return made([&]() -> base::Result<Engine> {
    auto inner = TRY(inner_options(options, "model in memory"));
    const auto of_checkpoint = TRY(checkpoint_options(options));
    if (const std::string_view flag = of_checkpoint.flag(); !flag.empty())
      return base::fail(base::Code::bad_usage, std::string(flag.substr(2)), "the option is for checkpoints, which are files")
          .expected("a GGUF file or a Hugging Face folder")
          .found("a model in memory")
          .advice("leave it out");
    return engine_of(source_of(TRY(import::import_onnx(model, std::move(keeper), TRY(import_options(options))))), std::move(inner),
                     options);
  });
}

Result<Engine> compile_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options) {
  return made([&]() -> base::Result<Engine> {
    auto inner = TRY(inner_options(options, "graph"));
    TRY(check_graph(*graph, options));
    return engine_of(std::move(graph), std::move(inner), options);
  });
}

}  // namespace tenon::inline v1
