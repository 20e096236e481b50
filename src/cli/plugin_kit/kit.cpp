// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/kit.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <typeinfo>

#include "base/nearest.h"
#include "cli/plugin_kit/forked.h"
#include "cli/plugin_kit/trial.h"
#include "compiler/plugins.h"

namespace tenon::cli {

namespace {

using Json = nlohmann::ordered_json;
using LineSink = std::function<void(std::string_view)>;

constexpr size_t kMostFindings = 5;  ///< of one check, which may fail at every sample

Result<compiler::Plugins> loaded(const std::filesystem::path& library) {
  const std::filesystem::path files[] = {library};
  return compiler::load_plugins(files);
}

std::string name_of(const plugin::Op& op) { return op.name_space + "::" + op.name; }

/// The op whose results it computes: its own, or the one that it is a kernel of. Null: there is none.
const ir::Op* op_of(const plugin::Op& op, const ir::OpTable& table) {
  if (!op.table.kernel_of) return table.find(op.name_space, op.name);
  const std::string_view name = op.table.kernel_of;
  const size_t colons = name.find("::");
  return colons == name.npos ? table.find("", name) : table.find(name.substr(0, colons), name.substr(colons + 2));
}

/// Why an op is not tried; empty: it is.
std::string why_not(const plugin::Op& op, const plugin::Registry& registry) {
  if (op.table.kernel_of) return op_of(op, ops::table()) ? "" : fmt::format("there is no op {}", op.table.kernel_of);
  return registry.find(op.name_space, op.name) == &op ? "" : "there is a newer version of it";
}

/// Run in the child: prints a line for each op of the library.
void list_ops(const std::filesystem::path& library, const LineSink& write_line) {
  const auto plugins = loaded(library);
  if (!plugins) return write_line(Json{{"refused", true}}.dump());
  for (const plugin::Op* op : plugins->registry->ops()) {
    Json line{{"op", name_of(*op)}, {"not_tried", why_not(*op, *plugins->registry)}};
    line["checks"] = Json::array();
    for (const Check& check : all_checks()) line["checks"].push_back(check.applies(*op));
    write_line(line.dump());
  }
}

/// One check of one op, in the child.
void try_it(const std::filesystem::path& library, const std::string& name, const Check& check, const LineSink& write_line) {
  const auto found = [&write_line](const std::string& sample, const std::string& what) {
    write_line(Json{{"sample", sample}, {"what", what}}.dump(-1, ' ', false, Json::error_handler_t::replace));
  };
  const auto plugins = loaded(library);
  if (!plugins) return found("", "it does not load a second time: " + plugins.error()->what);
  for (const plugin::Op* op : plugins->registry->ops()) {
    if (name_of(*op) != name || !why_not(*op, *plugins->registry).empty()) continue;
    const ir::OpTable& table = *plugins->ops;
    const ir::Op* const computed = op_of(*op, table);
    const TestedPlugin plugin{.op = *op, .def = ops::def_of(*computed), .table = table};
    try {  // an exception of the plugin's
      const PluginCases drawn = draw_cases(plugin);
      Trial trial(plugin, drawn, found);
      check.run(trial);
    } catch (const std::exception& e) { found("", fmt::format("it throws {}: {}", typeid(e).name(), e.what())); } catch (...) {
      found("", "it throws something");
    }
  }
}

KitRow row_of(const std::string& op, const Check& check) {
  return {.op = op, .check = std::string(check.name), .docs = std::string(check.docs), .not_tried = {}, .findings = {}};
}

class Kit {
 public:
  Kit(const std::filesystem::path& library, std::chrono::seconds timeout, Console& console)
      : library_(library), timeout_(timeout), console_(console) {}

  Result<KitReport> run(const std::string& which) {
    const ChildOutcome opened = TRY(run_forked([&](const LineSink& write_line) { list_ops(library_, write_line); }, timeout_));
    std::vector<Json> ops;
    for (const std::string& line : opened.lines) ops.push_back(Json::parse(line));
    if (!opened.ended.empty())
      return fail(Code::device_failed, library_.string(), "the library does not survive being opened")
          .expected("a library that loads and returns")
          .found(opened.ended);
    if (!ops.empty() && ops[0].contains("refused")) return refusal();
    TRY(choose(ops, which));
    for (const Json& op : ops) TRY(test(op));
    return std::move(report_);
  }

 private:
  /// The error in the child, which only this process reports in full.
  Error refusal() const {
    auto again = loaded(library_);
    if (!again) return std::move(again).error();
    return fail(Code::device_failed, library_.string(), "the library loads at times, and at others it does not");
  }

  Result<void> choose(std::vector<Json>& ops, const std::string& which) const {
    if (which.empty()) return {};
    std::vector<std::string> known;
    for (const Json& op : ops) known.push_back(op["op"]);
    std::erase_if(ops, [&](const Json& op) {
      const std::string name = op["op"];
      return name != which && !name.ends_with("::" + which);
    });
    if (!ops.empty()) return {};
    const std::string near = nearest_name(which, known);
    return fail(Code::bad_usage, library_.string(), "the library has no such op")
        .expected("an op that `tenon plugin list` shows")
        .found(which)
        .advice(near.empty() ? "leave it out to test all" : "did you mean " + near + "?");
  }

  Result<void> test(const Json& op) {
    const std::string name = op["op"];
    std::string why_not = op["not_tried"];
    size_t k = 0;
    for (const Check& check : all_checks()) {
      if (!op["checks"][k++].get<bool>()) continue;
      KitRow row = row_of(name, check);
      row.not_tried = why_not;
      if (why_not.empty()) {
        console_.progress(fmt::format("{}: {}", name, check.name));
        TRY(try_one(row, check));
      }
      if (&check == all_checks().data() && !row.findings.empty()) why_not = "it does not run";
      report_.findings += row.findings.size();
      report_.rows.push_back(std::move(row));
    }
    return {};
  }

  Result<void> try_one(KitRow& row, const Check& check) const {
    const ChildOutcome done = TRY(run_forked([&](const LineSink& write_line) { try_it(library_, row.op, check, write_line); }, timeout_));
    for (const std::string& line : done.lines) {
      const Json finding = Json::parse(line, nullptr, false);
      if (finding.is_discarded()) continue;  // the child ended while it wrote
      if (row.findings.size() < kMostFindings) row.findings.push_back({finding["sample"], finding["what"]});
    }
    if (!done.ended.empty()) row.findings.push_back({"", fmt::format("it {}", done.ended)});
    return {};
  }

  const std::filesystem::path& library_;
  std::chrono::seconds timeout_;
  Console& console_;
  KitReport report_;
};

std::string outcome_of(const KitRow& row) {
  if (!row.not_tried.empty()) return "not tried: " + row.not_tried;
  return row.findings.empty() ? "good" : fmt::format("{} finding{}", row.findings.size(), row.findings.size() == 1 ? "" : "s");
}

Json json_of(const KitRow& row) {
  Json out{{"op", row.op}, {"check", row.check}, {"means", row.docs}};
  out["result"] = !row.not_tried.empty() ? "not tried" : row.findings.empty() ? "good" : "bad";
  if (!row.not_tried.empty()) out["why"] = row.not_tried;
  out["findings"] = Json::array();
  for (const KitFinding& f : row.findings) out["findings"].push_back({{"sample", f.sample}, {"what", f.what}});
  return out;
}

}  // namespace

Result<KitReport> test_plugins(const std::filesystem::path& library, const std::string& op, std::chrono::seconds timeout,
                               Console& console) {
  return Kit(library, timeout, console).run(op);
}

Result<void> report(const KitReport& report, const std::filesystem::path& library, Console& console) {
  std::vector<std::vector<std::string>> rows{{"op", "check", "result"}};
  Json json = Json::array();
  for (const KitRow& row : report.rows) {
    rows.push_back({row.op, row.check, outcome_of(row)});
    json.push_back(json_of(row));
  }
  console.table(rows);
  for (const KitRow& row : report.rows) {
    if (!row.findings.empty()) console.line(fmt::format("\n{}, {}: {}", row.op, row.check, row.docs));
    for (const KitFinding& f : row.findings) console.line(fmt::format("  {}{}", f.sample.empty() ? "" : "at " + f.sample + ": ", f.what));
  }
  console.line(fmt::format("\n{} checks, {} findings", report.rows.size(), report.findings));
  console.object({{"library", library.string()}, {"findings", report.findings}, {"checks", json}});
  const bool all_tried = std::ranges::all_of(report.rows, [](const KitRow& row) { return row.not_tried.empty(); });
  if (report.findings == 0 && all_tried) return {};
  if (report.findings == 0) return fail(Code::not_supported, library.string(), "not every op of the library could be tried");
  return fail(Code::device_failed, library.string(), "the plugin is not sound")
      .expected("no finding")
      .found(fmt::format("{} findings; each is shown with its check", report.findings))
      .advice("fix the plugin; docs/plugins.md explains the checks");
}

}  // namespace tenon::cli
