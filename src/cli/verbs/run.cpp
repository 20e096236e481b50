// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cli/bench/measure.h"
#include "cli/console/console.h"
#include "cli/console/verb.h"
#include "cli/inspect/tensor_values.h"
#include "cli/options/engine_options.h"
#include "cli/options/input_options.h"
#include "cli/options/state_options.h"
#include "cli/options/step_inputs.h"
#include "cli/partition/segments_run.h"
#include "files/npy.h"
#include "files/npz.h"

namespace tenon::cli::verb_run {
namespace {

struct Options {
  EngineOptions engine;
  InputOptions inputs;
  StateOptions states;
  std::string output_dir, output, entry;
  bool segments = false, print = false;
};

/// Characters that are not safe in a file name as %XX.
std::string file_name_of(const std::string& name) {
  std::string out;
  for (const unsigned char c : name) {
    if (std::isalnum(c) || c == '.' || c == '_' || c == '-') out += static_cast<char>(c);
    else out += fmt::format("%{:02X}", c);
  }
  return out;
}

Result<void> write_results(const Options& o, const files::NamedTensors& results) {
  if (!o.output.empty()) TRY(files::write_npz(o.output, results));
  if (o.output_dir.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(o.output_dir, error);
  if (error) return fail(Code::write_failed, o.output_dir, "the folder cannot be made").expected("a folder").found(error.message());
  for (const auto& [name, tensor] : results)
    TRY(files::write_npy(std::filesystem::path(o.output_dir) / (file_name_of(name) + ".npy"), tensor));
  return {};
}

/// "name/0", "name/1", ... of a sequence; "name/keys" and "name/values" of a map; nothing of an optional without element.
void add_named(const std::string& name, const Tensor& t, files::NamedTensors& named) {
  if (t.dtype() == DType::sequence) {
    for (size_t k = 0; k < t.elements().size(); ++k) add_named(fmt::format("{}/{}", name, k), t.elements()[k], named);
  } else if (t.dtype() == DType::map) {
    named.emplace_back(name + "/keys", t.elements()[0]);
    named.emplace_back(name + "/values", t.elements()[1]);
  } else if (t.dtype() == DType::optional) {
    if (t.count() > 0) add_named(name, t.elements()[0], named);
  } else {
    named.emplace_back(name, t);
  }
}

constexpr int64_t kMostShown = 1000;  ///< elements whose values --json has without --print

/// Values of more than `most` elements are null.
nlohmann::ordered_json json_of(const Tensor& t, int64_t most) {
  if (!t.holds_tensors())
    return {{"dtype", name_of(t.dtype())}, {"shape", t.shape()}, {"values", t.count() <= most ? json_of_values(t) : nullptr}};
  if (t.dtype() == DType::map)
    return {{"kind", "map"}, {"keys", json_of(t.elements()[0], most)}, {"values", json_of(t.elements()[1], most)}};
  nlohmann::ordered_json elements = nlohmann::ordered_json::array();
  for (const Tensor& e : t.elements()) elements.push_back(json_of(e, most));
  return {{"kind", t.dtype() == DType::sequence ? "sequence" : "optional"}, {"elements", elements}};
}

/// All elements, below the type.
void print(const std::string& name, const Tensor& t, Console& console) {
  console.line(fmt::format("{}: {}", name, type_text(t)));
  if (!t.holds_tensors()) return console.line(values_text(t));
  const char* const parts[] = {"keys", "values"};
  for (size_t k = 0; k < t.elements().size(); ++k)
    print(t.dtype() == DType::map ? name + "/" + parts[k] : fmt::format("{}/{}", name, k), t.elements()[k], console);
}

std::string element_preview(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::string) return t.strings()[static_cast<size_t>(i)];
  return is_float(t.dtype()) ? fmt::format("{:.6g}", t.number(i)) : std::to_string(t.integer(i));
}

/// "cat: 0.25, dog: 0.75"
std::string map_preview(const Tensor& map) {
  const Tensor &keys = map.elements()[0], &values = map.elements()[1];
  std::string out;
  for (int64_t i = 0; i < std::min<int64_t>(keys.count(), 6); ++i)
    out += (i ? ", " : "") + element_preview(keys, i) + ": " + element_preview(values, i);
  return out + (keys.count() > 6 ? ", ..." : "");
}

std::string preview(const Tensor& t) {
  if (t.dtype() == DType::map) return map_preview(t);
  std::string out;
  if (t.holds_tensors()) {
    for (size_t k = 0; k < t.elements().size() && k < 3; ++k) out += (k ? "; " : "") + preview(t.elements()[k]);
    return out + (t.elements().size() > 3 ? "; ..." : "");
  }
  for (int64_t i = 0; i < std::min<int64_t>(t.count(), 6); ++i) out += (i ? ", " : "") + element_preview(t, i);
  return out + (t.count() > 6 ? ", ..." : "");
}

std::string shortened(const std::string& text) {
  constexpr size_t kMost = 60;
  return text.size() <= kMost ? text : text.substr(0, kMost - 3) + "...";
}

nlohmann::ordered_json show_segments(const SegmentRuns& runs, Console& console) {
  std::vector<std::vector<std::string>> rows{{"segment", "backend", "steps", "us", "copies", "bytes copied", "what"}};
  auto json = nlohmann::ordered_json::array();
  for (const SegmentRun& s : runs.runs()) {
    rows.push_back({std::to_string(json.size()), s.backend, std::to_string(s.steps), fmt::format("{:.1f}", s.us), std::to_string(s.copies),
                    std::to_string(s.copied_bytes), shortened(s.what)});
    json.push_back({{"id", json.size()},
                    {"backend", s.backend},
                    {"steps", s.steps},
                    {"us", s.us},
                    {"copies", s.copies},
                    {"copied_bytes", s.copied_bytes},
                    {"what", s.what}});
  }
  console.table(rows);
  console.line();
  return json;
}

/// Errors: bad_usage where a result would overwrite an input.
Result<void> check_output_folder(const Options& o, const runtime::Engine& engine, size_t entry, const Console& console) {
  if (o.output_dir.empty()) return {};
  return console.files.check_folder("--output-dir", o.output_dir, [&](const std::string& name) {
    return std::ranges::any_of(engine.outputs(entry), [&](const runtime::PortInfo& port) {
      const std::string stem = file_name_of(port.name);
      return name == stem + ".npy" || name.starts_with(stem + file_name_of("/"));  // of a sequence or a map
    });
  });
}

/// The steps of a context, one after the other.
struct Steps {
  StepInputs inputs;
  std::vector<Tensor> last = {};  ///< inputs of the step that ran last, which its results may read
  std::vector<double> ms = {};    ///< of each step

  Result<std::span<const Tensor>> run(runtime::Context& context, const runtime::RunOptions& options, size_t entry) {
    last = TRY(inputs.next());
    const auto start = std::chrono::steady_clock::now();
    auto results = context.run(last, options, entry);
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    return results;
  }
};

/// Errors: that of the first step that fails, with its number where there are several.
Result<std::span<const Tensor>> run_steps(const Options& o, Steps& steps, runtime::Context& context, const runtime::RunOptions& options,
                                          size_t entry, Console& console) {
  TRY(o.states.begin(context));
  std::span<const Tensor> results;
  for (int64_t k = 0; k < o.states.count(); ++k) {
    auto ran = steps.run(context, options, entry);
    if (!ran) return o.states.steps ? at_step(std::move(ran).error(), k, *o.states.steps) : std::move(ran).error();
    results = *ran;
    if (o.states.steps) console.progress(fmt::format("step {} of {}", k + 1, *o.states.steps));
  }
  TRY(o.states.end(context));
  return results;
}

/// Types of the states, of growing ones with the length that they have.
std::string state_text(const runtime::StateInfo& info, int64_t length) {
  Sizes shape = info.shape;
  if (info.growing_axis) shape[*info.growing_axis] = length;
  return type_text(info.dtype, shape);
}

/// Prints, after the results, the times of the steps and the states.
void show_steps(const runtime::Engine& engine, const runtime::Context& context, std::span<const double> ms, nlohmann::ordered_json& answer,
                Console& console) {
  auto steps = nlohmann::ordered_json::array(), states = nlohmann::ordered_json::array();
  for (const double each : ms) steps.push_back({{"ms", each}});
  std::vector<std::vector<std::string>> rows{{"state", "type", "capacity"}};
  for (size_t k = 0; k < engine.states().size(); ++k) {
    const runtime::StateInfo& info = engine.states()[k];
    const int64_t length = context.length(k);
    rows.push_back({info.name, state_text(info, length), info.growing_axis ? std::to_string(info.shape[*info.growing_axis]) : ""});
    states.push_back({{"name", info.name}, {"type", rows.back()[1]}});
    if (info.growing_axis) states.back().update({{"length", length}, {"capacity", info.shape[*info.growing_axis]}});
  }
  answer["steps"] = std::move(steps);
  answer["states"] = std::move(states);
  console.line();
  if (rows.size() > 1) console.table(rows);
  if (rows.size() > 1) console.line();
  console.line(ms.size() == 1 ? fmt::format("1 step: {:.3g} ms", ms[0])
                              : fmt::format("{} steps: {:.3g} ms the first, {:.3g} ms the median of the others", ms.size(), ms[0],
                                            median(ms.subspan(1))));
}

Result<void> run_model(const Options& o, Console& console) {
  const auto engine = TRY(o.engine.engine(console));
  const size_t entry = o.entry.empty() ? 0 : TRY(engine->entry(o.entry));
  TRY(check_output_folder(o, *engine, entry, console));
  TRY(o.states.check(*engine));
  Steps steps{TRY(StepInputs::make(o.inputs, engine->inputs(entry), TRY(o.engine.model.import_options()).shapes, o.states.steps))};
  auto context = TRY(runtime::Context::create(engine));
  runtime::RunOptions options = o.engine.run_options();
  options.seed = o.inputs.seed;
  std::optional<SegmentRuns> runs;
  if (o.segments) {
    const auto inputs = TRY(StepInputs(steps.inputs).next());
    TRY(o.states.begin(*context));
    TRY(context->run(inputs, options, entry));  // the first run makes what segments run in
    runs.emplace(engine->program_for(inputs, entry)).watch(options);
  }
  const auto results = TRY(run_steps(o, steps, *context, options, entry, console));
  auto answer = nlohmann::ordered_json::object();  // one that becomes an object later is broken where memory ends in between
  if (runs) answer["segments"] = show_segments(*runs, console);
  files::NamedTensors named;
  std::vector<std::vector<std::string>> rows{{"output", "type", "values"}};
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (size_t k = 0; k < results.size(); ++k) {
    const std::string& name = engine->outputs(entry)[k].name;
    add_named(name, results[k], named);
    rows.push_back({name, type_text(results[k]), preview(results[k])});
    nlohmann::ordered_json entry{{"name", name}};
    entry.update(json_of(results[k], o.print ? INT64_MAX : kMostShown));
    json.push_back(std::move(entry));
  }
  TRY(write_results(o, named));
  if (!o.print) console.table(rows);
  for (size_t k = 0; o.print && k < results.size(); ++k) print(engine->outputs(entry)[k].name, results[k], console);
  answer["outputs"] = std::move(json);
  if (o.states.steps) show_steps(*engine, *context, steps.ms, answer, console);
  console.object(answer);
  return {};
}

}  // namespace

VERB(run) {
    .summary = "run a model or an engine",
    .examples =
        "  tenon run model.onnx\n"
        "  tenon run model.onnx --input ids=ids.npy --output-dir results\n"
        "  tenon run model.tenon --input batch.npz --output results.npz\n"
        "  tenon run model.onnx --print\n"
        "  tenon run decoder.tenon --entry decode --steps 32 --input ids=ids.npy     (ids: 32 x the shape of the input, or its shape)\n"
        "  tenon run model.tenon --verify\n"
        "\nWhen an engine is loaded, its header, tables and code are checked, its weights are not: a bit of them that flipped gives other\n"
        "numbers without an error. --verify reads the whole file and finds every changed bit. Use it once after a download or a copy, and\n"
        "where a disk is in doubt; it takes one reading of the file.\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->engine.add_to(app);
      o->engine.model.plugins.add_embedded_to(app, o->engine.model.path);
      o->engine.add_check_memory_to(app);
      o->inputs.add_to(app);
      o->states.add_to(app);
      app.add_option("--entry", o->entry, "what to run of an engine with several entries (default: its first one)")->type_name("NAME");
      app.add_option("--output-dir", o->output_dir, "write each output as NAME.npy to this folder (of a sequence: NAME%2F0.npy, ...)")
          ->type_name("OUTDIR");
      app.add_option("--output", o->output, "write all outputs to one archive (of a sequence: NAME/0, NAME/1, ...)")->type_name("OUT.npz");
      app.add_flag("--print", o->print, "print all elements of the results (--json has those of up to 1000 without it)");
      app.add_flag("--segments", o->segments,
                   "list the segments of each backend with their time and the bytes copied, measured in a second run")
          ->excludes("--steps");
      return [o](Console& console) { return run_model(*o, console); };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_run
