// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>

#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/verb.h"
#include "cli/options/rewrite_options.h"
#include "cli/rewrite/report.h"
#include "cli/rewrite/watch.h"
#include "import/onnx_export.h"
#include "rewrite/verify/verification.h"

namespace tenon::cli::verb_rewrite {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
  RewriteOptions rewriting;
  std::string output, dump, verify = "off";
  int64_t stop_after = -1, opset = 0, raise = 0;
  bool stats = false, external = false, strict = false;
};

/// The parts of the result of a run.
struct RewriteResult {
  passes::Report report;
  int64_t nodes_before = 0, nodes_after = 0, rewrites = 0;
  double read_ms = 0, check_ms = 0, write_ms = 0;
  std::optional<RewriteRecord> last;
  std::optional<import::Exported> written;
  std::optional<rewrite::Verification> verification;
};

double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

std::string plural(int64_t count, std::string_view word) { return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s"); }

std::string headline(const Options& o, const RewriteResult& done) {
  const auto rules =
      std::ranges::count_if(done.report.rules.rules, [](const auto& r) { return r.applied > 0 && r.name != "fold_constants"; });
  return fmt::format("{}: {} nodes -> {}, {} by {} (of {})", o.rewriting.model.path, done.nodes_before, done.nodes_after,
                     plural(done.rewrites, "rewrite"), plural(rules, "rule"), o.rewriting.rules_text());
}

std::string time_text(const RewriteResult& done) {
  std::string out =
      fmt::format("read {:.1f} ms, passes {:.1f} ms (matching and rewriting {:.1f} ms", done.read_ms, done.report.ms, done.report.rules.ms);
  out += done.check_ms > 0 ? fmt::format("), checks and dump {:.1f} ms", done.check_ms) : ")";
  return done.written ? out + fmt::format(", write {:.1f} ms", done.write_ms) : out;
}

int64_t bytes_of_file(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

void report(const Options& o, const RewriteResult& done, Console& console) {
  console.line(headline(o, done));
  if (done.written)
    console.line(
        fmt::format("{}: opset {}, {} bytes{}", o.output, done.written->opset, bytes_of_file(o.output),
                    done.written->external_bytes > 0 ? fmt::format(" and {} in {}.data", done.written->external_bytes, o.output) : ""));
  else console.line("nothing is written: give a file with -o OUT.onnx");
  if (done.last)
    console.line(fmt::format("stopped after rewrite {}: {} at {}, in pass {}", done.last->number, done.last->rule, done.last->matched[0],
                             done.last->pass));
  if (!o.dump.empty())
    console.line(fmt::format("{}: every rewrite, before and after", (std::filesystem::path(o.dump) / "index.html").string()));
  if (done.verification) {
    std::string text = "verification: " + rewrite::text_of(*done.verification);
    while (text.ends_with('\n')) text.pop_back();
    console.line(text);
  }
  console.line(time_text(done));
  if (o.stats) print_statistics(done.report, console);
}

Json json_of(const rewrite::Verification& v) {
  Json unverified = Json::object();
  for (const auto& [rule, reasons] : v.unverified)
    for (const auto& [reason, count] : reasons) unverified[rule][reason] = count;
  return {{"asked", v.rewrites},      {"verified", v.verified}, {"known", v.known},         {"wrong", v.wrong},
          {"instances", v.instances}, {"skipped", v.skipped},   {"unverified", unverified}, {"ms", v.ms}};
}

Json json_of(const Options& o, const RewriteResult& done) {
  return {{"file", o.rewriting.model.path},
          {"output", done.written ? Json(o.output) : Json(nullptr)},
          {"opset", done.written ? Json(done.written->opset) : Json(nullptr)},
          {"bytes", done.written ? Json(bytes_of_file(o.output) + done.written->external_bytes) : Json(nullptr)},
          {"nodes_before", done.nodes_before},
          {"nodes_after", done.nodes_after},
          {"rewrites", done.rewrites},
          {"folded", folded_nodes(done.report.rules)},
          {"read_ms", done.read_ms},
          {"rewrite_ms", done.report.rules.ms},  // matching and rewriting alone
          {"passes_ms", done.report.ms},
          {"check_ms", done.check_ms},
          {"write_ms", done.write_ms},
          {"verification", done.verification ? json_of(*done.verification) : Json(nullptr)},
          {"rules", rules_json(done.report.rules)},
          {"passes", passes_json(done.report)},
          {"left_out", done.report.rules.reports}};
}

Result<void> run_passes(const Options& o, passes::Options options, ir::Graph& graph, RewriteDump* dump, RewriteResult& done,
                        Console& console) {
  options.rewriting.timing = o.stats || console.json;
  options.rewriting.stop_after = o.stop_after >= 0 ? o.stop_after : std::numeric_limits<int64_t>::max();
  rewrite::Verifier verifier(*rewrite::verify_named(o.verify));
  if (o.verify != "off") options.rewriting.check = std::ref(verifier);
  RewriteWatch watch(console, dump);
  watch.hook_into(options);
  done.nodes_before = count_nodes(graph);
  done.report = TRY(passes::optimise(graph, options));
  watch.deduct_from(done.report);
  done.nodes_after = count_nodes(graph);
  done.rewrites = watch.rewrites();
  done.check_ms = watch.check_ms();
  done.last = watch.last();
  if (o.verify != "off") done.verification = verifier.result();
  return {};
}

Result<void> write(const Options& o, const ir::Graph& graph, RewriteResult& done, Console& console) {
  if (o.output.empty()) return {};
  console.progress("writing " + o.output);
  const auto start = Clock::now();
  import::ExportOptions options;
  if (o.opset != 0) options.opset = o.opset;
  options.raise_to = o.raise;
  options.external_data = o.external;
  done.written = TRY(import::export_onnx(graph, o.output, options));
  done.write_ms = ms_since(start);
  return {};
}

Result<void> finish_dump(const Options& o, const RewriteResult& done, RewriteDump& dump, Console& console) {
  console.progress(fmt::format("drawing {}", plural(static_cast<int64_t>(dump.size()), "rewrite")));
  const auto name = std::filesystem::path(o.rewriting.model.path).filename().string();
  for (const std::string& w : TRY(dump.finish("Rewrites of " + name, {headline(o, done)}))) console.warn(w);
  return {};
}

Error left_out(const RewriteResult& done) {
  return fail(Code::bad_rule, "--strict", "a rule was left out")
      .expected("rules that settle and keep their promises")
      .found(done.report.rules.reports[0])
      .advice("take the rule away with -NAME in --rules, or leave --strict out");
}

Result<void> rewrite_model(const Options& o, Console& console) {
  const passes::Options options = TRY(o.rewriting.passes_options());
  std::optional<RewriteDump> dump;
  if (!o.dump.empty()) {
    TRY(console.files.check_folder("--dump", o.dump, [](const std::string&) { return true; }));
    dump = TRY(RewriteDump::into(o.dump));
  }
  console.progress("reading " + o.rewriting.model.path);
  RewriteResult done;
  const auto start = Clock::now();
  const import::Imported m = TRY(o.rewriting.model.import());
  done.read_ms = ms_since(start);
  for (const std::string& w : m.warnings) console.warn(w);
  TRY(o.rewriting.check_keep(*m.graph));
  if (dump) dump->set_opsets(m.graph->opsets);
  TRY(run_passes(o, options, *m.graph, dump ? &*dump : nullptr, done, console));
  for (const std::string& report : done.report.rules.reports) console.warn(report);
  if (dump) TRY(finish_dump(o, done, *dump, console));
  if (o.strict && !done.report.rules.reports.empty()) {
    console.object(json_of(o, done));
    return left_out(done);
  }
  TRY(write(o, *m.graph, done, console));
  report(o, done, console);
  console.object(json_of(o, done));
  return {};
}

}  // namespace

VERB(rewrite) {
    .summary = "rewrite a model by rules and write it as ONNX again",
    .examples =
        "  tenon rewrite model.onnx -o smaller.onnx\n"
        "  tenon rewrite model.onnx --stats                       what each rule would do; nothing is written\n"
        "  tenon rewrite model.onnx -o fused.onnx --rules default+onnxruntime-bias_gelu\n"
        "  tenon rewrite model.onnx -o ort.onnx --rules default+onnxruntime --raise-opset 26\n"
        "  tenon rewrite model.onnx -o own.onnx --rules default --rules mine.rules\n"
        "  tenon rewrite model.onnx --dump rewrites/              pictures of every rewrite\n"
        "  tenon rewrite model.onnx -o part.onnx --stop-after 12  the first 12 rewrites\n"
        "  tenon rewrite model.onnx -o sure.onnx --verify all --isolate --strict\n"
        "\n`tenon rules list` shows rules and sets. A rule that breaks a promise or does not settle is undone, named in a warning and left\n"
        "out; the rest goes on, and the exit code is 0 unless --strict is given.\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->rewriting.add_to(app);
      app.add_option("-o,--output", o->output, "the file to write (default: none, only the report)")->type_name("OUT");
      app.add_flag("--stats", o->stats, "what each rule and each pass did");
      app.add_option("--dump", o->dump,
                     "write every rewrite to this folder: the graph before and after it as ONNX, and an HTML page with pictures")
          ->type_name("OUTDIR");
      app.add_option("--stop-after", o->stop_after, "apply only the first K rewrites")->check(at_least(0))->type_name("K");
      app.add_option("--verify", o->verify,
                     "run rewrites and what they replace on random inputs and compare: one of each kind, or every one")
          ->check(CLI::IsMember({"off", "first", "all"}))
          ->capture_default_str();
      app.add_flag("--strict", o->strict, "fail, and write nothing, where a rule is disabled");
      app.add_option("--opset", o->opset, "exactly this opset (default: the lowest that has every node)")->type_name("N");
      app.add_option("--raise-opset", o->raise, "fused ops that this opset has raise the opset instead of becoming functions")
          ->type_name("N")
          ->excludes("--opset");
      app.add_flag("--external-weights", o->external, "put the weights into OUT.data");
      return [o](Console& console) { return rewrite_model(*o, console); };
    },
};

}  // namespace tenon::cli::verb_rewrite
