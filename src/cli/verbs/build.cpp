// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <optional>

#include "base/threads/thread_pool.h"
#include "cli/console/console.h"
#include "cli/console/graphviz.h"
#include "cli/console/number_checks.h"
#include "cli/console/option_groups.h"
#include "cli/console/verb.h"
#include "cli/inspect/graph_page.h"
#include "cli/inspect/measured_text.h"
#include "cli/options/engine_options.h"
#include "cli/options/table_options.h"
#include "compiler/measured_data.h"
#include "compiler/plan_record.h"
#include "compiler/read_model.h"
#include "compiler/save.h"
#include "compiler/shapes/default_shapes.h"
#include "compiler/targets/target_options.h"
#include "files/atomic_write.h"
#include "files/mapped_file.h"
#include "ir/dot.h"

namespace tenon::cli::verb_build {
namespace {

struct Options {
  EngineOptions engine;
  std::string output;
  std::string svg, html, dump_plan, tactic;
  std::vector<std::string> entries, targets;
  bool portable = false;
};

/// A row a backend that makes no kernels: the ops that it runs.
void add_devices(const compiler::CompileReport& r, std::vector<std::vector<std::string>>& rows) {
  if (r.device_ops.empty()) rows.push_back({"on other backends", "nothing"});
  std::string last;
  for (const auto& [op, count] : r.device_ops) {
    const auto text = fmt::format("{} x{}", op.second, count);
    const auto share = r.guessed_shares.find(op.first);  // none of a fallback's graph
    if (op.first == last) rows.back()[1] += ", " + text;
    else if (share == r.guessed_shares.end()) rows.push_back({"on " + op.first, text});
    else rows.push_back({"on " + op.first, fmt::format("a guessed {:.1f} % of the time: {}", 100 * share->second, text)});
    last = op.first;
  }
}

std::string shapes_text(const std::vector<Sizes>& shapes) {
  std::string out;
  for (const Sizes& s : shapes) out += fmt::format("{}[{}]", out.empty() ? "" : " ", fmt::join(s, ","));
  return out;
}

/// The compiled graph, one colour a fused group.
Result<void> draw(const compiler::Compiled& c, const std::string& path) {
  const compiler::GroupsOfNodes groups = compiler::plan_record(c).groups_of_nodes;
  ir::DotOptions options;
  options.color_group = [&](ir::NodeId id) -> std::optional<size_t> {
    const auto found = groups.find(id);
    return found == groups.end() ? std::nullopt : std::optional(found->second[0]);
  };
  return files::write_file(path, TRY(render_svg(ir::dot(*c.graph, options))));
}

uint64_t peak_of(const runtime::PlannedBytes& planned) { return planned.peak(default_thread_pool().size()); }

std::string peak_text(const Result<runtime::PlannedBytes>& planned, const std::string& at) {
  return planned ? fmt::format("{:.2f} MB at {}", static_cast<double>(peak_of(*planned)) / 1e6, at)
                 : fmt::format("not known at {}: {}", at, planned.error()->what);
}

/// Writes the plan after each pass that changed it as DIR/NN-PASS.txt.
class PlanDump {
 public:
  explicit PlanDump(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void add(std::string_view pass, const codegen::Plan& plan) {
    if (!status_) return;
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    status_ = files::write_file(folder_ / fmt::format("{:03}-{}.txt", ++count_, pass), codegen::text_of(plan));
  }
  Result<void> status() { return std::move(status_); }

 private:
  std::filesystem::path folder_;
  int count_ = 0;
  Result<void> status_;
};

using Peak = Result<runtime::PlannedBytes>;  ///< a figure for the report: it may fail

void show_figures(const compiler::CompileReport& r, const std::string& peak, const std::filesystem::path& path, Console& console) {
  std::vector<std::vector<std::string>> rows{{"", path.string()},
                                             {"nodes", fmt::format("{} -> {}", r.nodes_before, r.nodes_after)},
                                             {"fused groups", std::to_string(r.groups)},
                                             {"kernels", fmt::format("{} ({} bytes of code)", r.kernels, r.code_bytes)},
                                             {"steps", std::to_string(r.steps)},
                                             {"weights", fmt::format("{:.1f} MB", static_cast<double>(r.weight_bytes) / 1e6)},
                                             {"planned peak", peak}};
  add_devices(r, rows);
  console.table(rows);
}

void show_times(const compiler::CompileReport& r, double build_ms, Console& console) {
  std::string line;
  for (const compiler::StepTime& t : r.times) line += fmt::format("{}{} {:.0f} ms", line.empty() ? "" : ", ", t.name, t.ms);
  console.line(fmt::format("{:.0f} ms: {}", build_ms, line));
}

using Json = nlohmann::ordered_json;

Json json_of(const compiler::CompileReport& r, const Peak& planned, const std::filesystem::path& path, double build_ms) {
  Json times = Json::array();
  for (const compiler::StepTime& t : r.times) times.push_back({{"name", t.name}, {"ms", t.ms}});
  return {{"file", path.string()},
          {"nodes_before", r.nodes_before},
          {"nodes_after", r.nodes_after},
          {"groups", r.groups},
          {"kernels", r.kernels},
          {"weight_bytes", r.weight_bytes},
          {"arena_bytes", planned ? Json(planned->values) : Json()},
          {"peak_bytes", planned ? Json(peak_of(*planned)) : Json()},
          {"build_ms", build_ms},
          {"steps", times},
          {"plugin_times", compiler::measured_data(r.measured)}};
}

void report(const compiler::Compiled& compiled, const std::vector<Sizes>& shapes, const std::filesystem::path& path, double build_ms,
            Console& console) {
  const Peak planned = runtime::planned_bytes(compiled.built.programs, shapes);
  show_figures(compiled.report, peak_text(planned, shapes_text(shapes)), path, console);
  show_measured(compiled.report.measured, console);
  show_times(compiled.report, build_ms, console);
  console.object(json_of(compiled.report, planned, path, build_ms));
}

Result<compiler::CompileOptions> compile_options(const Options& o, Console& console) {
  auto options = TRY(o.engine.compile_options(console));
  options.portable = o.portable;
  if (!o.tactic.empty()) {
    const auto file = TRY(files::MappedFile::open(o.tactic));
    options.tactics = TRY(codegen::TacticBook::parse({reinterpret_cast<const char*>(file->bytes().data()), file->size()}, o.tactic));
  }
  TRY(compiler::read_targets(o.targets, options));
  return options;
}

/// "decode=decode.onnx". Errors: bad_usage; those of import.
Result<compiler::EntrySource> read_entry(const std::string& text, const import::ImportOptions& reading, Console& console) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    return fail(Code::bad_usage, "--entry " + text, "an entry is a name and a model").expected("NAME=MODEL").found(text);
  import::ImportOptions own = reading;
  own.shapes.clear();  // those, and the selected outputs, are of MODEL
  own.outputs.clear();
  auto imported = TRY(compiler::read_model(text.substr(equals + 1), own));
  for (const std::string& w : imported.warnings) console.warn(w);
  return compiler::EntrySource{text.substr(0, equals), {std::move(imported.graph), std::move(imported.unbounded)}};
}

Result<compiler::Compiled> compile_entries(const Options& o, std::vector<compiler::EntrySource> entries, compiler::CompileOptions options,
                                           Console& console) {
  PlanDump dump(o.dump_plan);
  if (!o.dump_plan.empty()) options.dump_plan = [&](std::string_view pass, const codegen::Plan& plan) { dump.add(pass, plan); };
  auto out = TRY(compiled(std::move(entries), options, console));
  TRY(dump.status());
  return out;
}

/// Checked before the model is read. Errors: those of CommandFiles.
Result<std::filesystem::path> output_path(const Options& o, Console& console) {
  if (!o.dump_plan.empty())
    TRY(console.files.check_folder("--dump-plan", o.dump_plan, [](const std::string& name) { return name.ends_with(".txt"); }));
  if (!o.output.empty()) return o.output;  // checked with the other arguments
  auto path = std::filesystem::path(o.engine.model.path).replace_extension(".tenon").filename();
  TRY(console.files.check_output("--output", path));
  return path;
}

/// The engine, the drawing, the page.
Result<void> write_results(const Options& o, const compiler::Compiled& compiled, const compiler::CompileOptions& options,
                           const std::filesystem::path& path, GraphPage* page, Console& console) {
  console.progress("write");
  TRY(compiler::save(compiled, options, path));
  if (!o.svg.empty()) TRY(draw(compiled, o.svg));
  if (!page) return {};
  add_entries(*page, compiled);
  return files::write_file(o.html, page->html());
}

Result<void> build_engine(const Options& o, Console& console) {
  const auto start = std::chrono::steady_clock::now();
  const std::filesystem::path path = TRY(output_path(o, console));
  auto reading = TRY(o.engine.model.import_options());
  reading.metadata |= !o.html.empty();  // the page shows the module of a node
  const compiler::CheckpointOptions of_checkpoint = TRY(o.engine.model.checkpoint_options());
  const bool writes = !of_checkpoint.config.dry_run;
  auto imported = TRY(compiler::read_model(o.engine.model.path, reading, of_checkpoint));
  std::optional<GraphPage> page;
  if (!o.html.empty()) page.emplace(std::filesystem::path(o.engine.model.path).filename().string());
  for (const std::string& w : imported.warnings) console.warn(w);
  for (const std::string& note : imported.notes) console.note(note);
  auto options = TRY(compile_options(o, console));
  options.text = std::move(imported.text);
  options.plan_only = !writes;
  if (of_checkpoint.config.plain_attention) options.off.emplace(compiler::kAttentionRule);
  std::vector<compiler::EntrySource> entries;
  entries.push_back({"main", {std::move(imported.graph), std::move(imported.unbounded)}});
  for (const std::string& text : o.entries) entries.push_back(TRY(read_entry(text, reading, console)));
  if (page)
    for (const compiler::EntrySource& e : entries) page->add(*e.source.graph, "as exported", e.name);
  const auto compiled = TRY(compile_entries(o, std::move(entries), options, console));
  if (writes) TRY(write_results(o, compiled, options, path, page ? &*page : nullptr, console));
  else console.note("a dry run (dry_run of the BuildConfig): nothing is written");
  const double build_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  report(compiled, compiler::default_shapes(compiled.built.programs[0].inputs, reading.shapes), path, build_ms, console);
  return {};
}

}  // namespace

VERB(build) {
    .summary = "compile a model into an engine file",
    .examples =
        "  tenon build model.onnx\n"
        "  tenon build model.onnx -o model.tenon --shape ids=1x128\n"
        "  tenon build model.onnx --external-data weights/ --opt 2\n"
        "  tenon build model.onnx --target x86_avx2\n"
        "  tenon build model.onnx --backend reference\n"
        "  tenon build model.gguf --lora adapter/ --weights int8\n"
        "  tenon build prefill.onnx --entry decode=decode.onnx -o decoder.tenon\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->engine.add_to(app, EngineOptions::Takes::models);
      app.add_option("-o,--output", o->output, "the engine file (default: the model's name with .tenon, here)")->type_name("OUT.tenon");
      app.add_option(
             "--entry", o->entries,
             "one more model that the engine runs, by that name: MODEL is its entry `main`, and equal weights are kept once; may be repeated")
          ->type_name("NAME=MODEL")
          ->allow_extra_args(false);
      app.add_option("--svg", o->svg, "draw the compiled graph, with a colour for each fused group (needs Graphviz)")->type_name("OUT");
      app.add_option("--dump-plan", o->dump_plan, "write the plan as text to this folder after each planning pass that changed it")
          ->type_name("OUTDIR");
      app.add_option("--html", o->html,
                     "write the graph before and after compilation as an interactive HTML page with fused groups, kernels and rules")
          ->type_name("OUT");
      add_table_option(app, "build_config", o->engine.model.build_config);
      add_table_option(app, "batch", o->engine.model.batch);
      add_table_option(app, "window", o->engine.model.window)->check(at_least(1));
      add_table_option(app, "sinks", o->engine.model.sinks)->check(at_least(0));
      CLI::Option* target = add_table_option(app, "targets", o->targets);
      CLI::Option* tactic =
          app.add_option(
                 "--tactic", o->tactic,
                 "file with tactics of kernels (tile sizes, splits, ...): lines NODE: field=value ... (`inspect` prints those of an engine)")
              ->type_name("FILE");
      app.add_flag("--portable", o->portable, "leave native code out: the engine is compiled when it is loaded, on any CPU")
          ->excludes(target)
          ->excludes(tactic);
      add_scalar_options(app, o->engine, true);
      group_options(app, kDebugOptions, {"--dump-plan"});
      return [o](Console& console) { return build_engine(*o, console); };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_build
