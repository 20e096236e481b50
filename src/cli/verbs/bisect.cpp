// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/bisect.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/compare/oracle.h"
#include "cli/compare/reference_oracle.h"
#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/verb.h"
#include "cli/options/rewrite_options.h"
#include "files/scratch_folder.h"
#include "import/onnx_export.h"
#include "rules/registry/registry.h"

namespace tenon::cli::verb_bisect {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Options {
  RewriteOptions rewriting;
  InputOptions inputs;
  std::vector<std::string> command;
  std::string dump;
  double timeout = 0;
  int64_t opset = 0;
  bool against_reference = false;
};

/// Writes the graph, runs the command, and removes the file.
class CommandJudge {
 public:
  CommandJudge(const Options& o, const files::ScratchFolder& folder, bool quiet)
      : folder_(folder.path()), stem_(fs::path(o.rewriting.model.path).stem().string()) {
    command_ = {o.command, std::chrono::milliseconds(static_cast<int64_t>(o.timeout * 1e3)), quiet};
    if (o.opset != 0) export_.opset = o.opset;
  }

  Result<OracleAnswer> operator()(const ir::Graph& graph, int64_t rewrites) const {
    const fs::path file = folder_ / fmt::format("{}.{}.onnx", stem_, rewrites);
    if (auto written = import::export_onnx(graph, file, export_); !written) {
      if (written.error().code() == Code::write_failed) return std::unexpected(std::move(written).error());
      return OracleAnswer{Verdict::skip, "it cannot be written: " + written.error()->what};
    }
    auto answer = ask(command_, file.string());
    std::error_code ignored;
    for (const fs::path& gone : {file, fs::path(file.string() + ".data")}) fs::remove(gone, ignored);
    return answer;
  }

  Result<OracleAnswer> of_file(const std::string& path) const { return ask(command_, path); }

 private:
  fs::path folder_;
  std::string stem_;
  OracleCommand command_;
  import::ExportOptions export_;
};

Error bad_without_rules(const Options& o, const OracleAnswer& answer, const std::optional<OracleAnswer>& original) {
  const bool is_first_cause = original && original->verdict != Verdict::good;
  std::string what = is_first_cause ? "the original model is not good already: no rewrite is to blame"
                                    : "the model is not good with no rewrite done: reading, writing or a pass without rules is to blame";
  return fail(Code::bad_input, o.rewriting.model.path, std::move(what))
      .expected("good with 0 rewrites, bad with all")
      .found((is_first_cause ? original->reason : answer.reason) + (is_first_cause ? " on the file as it is" : ""))
      .advice(is_first_cause ? "run the command on the model by hand: it must end with exit code 0"
                             : "try --only, which leaves out the passes without rules; `tenon export` reads and writes alone");
}

Error not_bad(const Options& o, int64_t rewrites, const OracleAnswer& answer) {
  return fail(Code::bad_input, o.rewriting.model.path,
              fmt::format("the model is not bad after all {} rewrites: there is nothing to find", rewrites))
      .expected("good with 0 rewrites, bad with all")
      .found(fmt::format("{} ({})", name_of(answer.verdict), answer.reason))
      .advice("give the rules, the inputs and the shapes with which it goes wrong");
}

/// Checks that 0 rewrites are good and all rewrites are bad.
Result<void> check_ends(const Options& o, Bisection& bisection, int64_t all, const CommandJudge* command) {
  const OracleAnswer none = TRY(bisection.probe(0));
  if (none.verdict != Verdict::good) {
    std::optional<OracleAnswer> original;
    if (command) original = TRY(command->of_file(o.rewriting.model.path));
    return bad_without_rules(o, none, original);
  }
  const OracleAnswer every = TRY(bisection.probe(all));
  if (every.verdict != Verdict::bad) return not_bad(o, all, every);
  return {};
}

bool is_of_the_library(const std::string& rule) {
  return std::ranges::any_of(rules::all_rules(), [&](const rules::Entry& e) { return e.rule->name == rule; });
}

std::string joined(const std::vector<std::string>& words) {
  constexpr size_t kShown = 8;
  std::string out;
  for (size_t i = 0; i < std::min(words.size(), kShown); ++i) out += (out.empty() ? "" : ", ") + words[i];
  return words.size() > kShown ? out + fmt::format(", and {} more", words.size() - kShown) : out.empty() ? "-" : out;
}

void report(const Options& o, const BisectResult& c, int64_t all, const RewriteRecord& r, Console& console) {
  console.line();
  if (c.exact())
    console.line(fmt::format("rewrite {} of {} is the first bad one: rule {}{}, in pass {}", c.bad, all, r.rule,
                             r.sets.empty() ? "" : " (" + r.sets + ")", r.pass));
  else
    console.line(fmt::format(
        "one of the rewrites {} to {} of {} is the first bad one; those between were skipped. The last of them: rule {}, in pass {}",
        c.good + 1, c.bad, all, r.rule, r.pass));
  if (!r.docs.empty()) console.line("  " + r.docs);
  console.line("  matched   " + joined(r.matched));
  console.line("  made      " + joined(r.made));
  console.line("  from      " + joined(r.sources));
  if (is_of_the_library(r.rule)) console.line(fmt::format("  without   add --rules=-{}", r.rule));
  if (!o.dump.empty()) console.line("  pictures  " + (fs::path(o.dump) / "index.html").string());
}

Json json_of(const Options& o, const Bisection& bisection, int64_t all) {
  Json probes = Json::array();
  for (const Probe& p : bisection.probes())
    probes.push_back({{"rewrites", p.rewrites}, {"verdict", name_of(p.answer.verdict)}, {"reason", p.answer.reason}, {"ms", p.ms}});
  return {{"file", o.rewriting.model.path}, {"rewrites", all}, {"probes", probes}};
}

Json json_of(const BisectResult& c, const RewriteRecord& r) {
  return {{"exact", c.exact()}, {"last_good", c.good},  {"first_bad", c.bad}, {"rule", r.rule},      {"set", r.sets},
          {"pass", r.pass},     {"matched", r.matched}, {"made", r.made},     {"sources", r.sources}};
}

Result<void> finish_dump(const Options& o, const BisectResult& result, RewriteDump& dump, Console& console) {
  const auto title = fmt::format("Rewrite {} of {}", result.bad, fs::path(o.rewriting.model.path).filename().string());
  for (const std::string& w : TRY(dump.finish(title, {}))) console.warn(w);
  return {};
}

Result<void> find(const Options& o, Bisection& bisection, RewriteDump* dump, const CommandJudge* command, Console& console) {
  const int64_t all = TRY(bisection.count());
  if (all == 0)
    return fail(Code::bad_input, o.rewriting.model.path, "no rule rewrites anything")
        .expected("rules that match")
        .found(o.rewriting.rules_text());
  const auto checked = check_ends(o, bisection, all, command);
  console.object(json_of(o, bisection, all));
  TRY(checked);
  const BisectResult result = TRY(bisection.search(0, all));
  const RewriteRecord record = TRY(bisection.record(result.bad, dump));
  if (dump) TRY(finish_dump(o, result, *dump, console));
  report(o, result, all, record, console);
  Json out = json_of(o, bisection, all);
  out["faulty"] = json_of(result, record);
  console.object(out);
  return {};
}

Result<void> bisect_by_command(const Options& o, const passes::Options& options, const ir::Graph& graph, RewriteDump* dump,
                               Console& console) {
  const InterruptGuard interrupt_guard;
  const files::ScratchFolder folder = TRY(files::ScratchFolder::make());
  const CommandJudge judge(o, folder, console.quiet);
  Bisection bisection(graph, options, judge, console);
  return find(o, bisection, dump, &judge, console);
}

Result<void> bisect_by_reference(const Options& o, const passes::Options& options, const ir::Graph& graph, RewriteDump* dump,
                                 Console& console) {
  console.progress("reference");
  const ReferenceOracle oracle = TRY(ReferenceOracle::make(graph, TRY(inputs_for(graph, o.inputs))));
  const auto judge = [&](const ir::Graph& rewritten, int64_t) -> Result<OracleAnswer> { return oracle.judge(rewritten); };
  Bisection bisection(graph, options, judge, console);
  return find(o, bisection, dump, nullptr, console);
}

Result<void> bisect(const Options& o, Console& console) {
  if (o.command.empty() != o.against_reference)
    return fail(Code::bad_usage, "bisect", "one judge is needed: a command or the reference")
        .expected("-- COMMAND... or --against-reference")
        .found(o.against_reference ? "both" : "neither");
  const passes::Options options = TRY(o.rewriting.passes_options());
  std::optional<RewriteDump> dump;
  if (!o.dump.empty()) {
    TRY(console.files.check_folder("--dump", o.dump, [](const std::string&) { return true; }));
    dump = TRY(RewriteDump::into(o.dump));
  }
  const import::Imported m = TRY(o.rewriting.model.import());
  for (const std::string& w : m.warnings) console.warn(w);
  TRY(o.rewriting.check_keep(*m.graph));
  RewriteDump* to = dump ? &*dump : nullptr;
  return o.against_reference ? bisect_by_reference(o, options, *m.graph, to, console)
                             : bisect_by_command(o, options, *m.graph, to, console);
}

}  // namespace

VERB(bisect) {
    .summary = "find the rewrite that makes a model bad, by a command whose exit code tells good models from bad ones",
    .examples =
        "  tenon bisect model.onnx -- python check.py           check.py gets the model as its last argument\n"
        "  tenon bisect model.onnx --rules mine.rules -- ./run --model {} --expect out.npz\n"
        "  tenon bisect model.onnx --timeout 60 --dump faulty/ -- python check.py\n"
        "  tenon bisect model.onnx --against-reference --inputs batch.npz\n"
        "\nThe command ends with exit code 0 where the model is good and with 125 where it cannot say; all else, a signal and a time-out\n"
        "are bad. It must call the model good with no rewrite done and bad with all; both are checked first. {} stands for the model. Its\n"
        "output goes to stderr (--quiet: nowhere).\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->rewriting.add_to(app);
      app.add_option("COMMAND", o->command, "after --: the command that checks a model, and its arguments");
      app.add_option("--timeout", o->timeout, "seconds that the command may take; a model that takes longer is bad")
          ->check(zero_or_more())
          ->type_name("SECONDS");
      app.add_flag("--against-reference", o->against_reference,
                   "judge by the outputs, in Tenon's reference evaluator (slow on large models)");
      o->inputs.add_to(app);
      app.add_option("--dump", o->dump, "write the faulty rewrite to this folder: the graph before and after it as ONNX, and as a picture")
          ->type_name("OUTDIR");
      app.add_option("--opset", o->opset, "write the models with exactly this opset")->type_name("N");
      return [o](Console& console) { return bisect(*o, console); };
    },
};

}  // namespace tenon::cli::verb_bisect
