// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/nearest.h"
#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/verb.h"
#include "cli/plugin_kit/kit.h"
#include "cli/plugins/plugin_log.h"
#include "cli/plugins/plugin_text.h"
#include "ops/creators/op_creator.h"
#include "plugin/public/plugins.h"

namespace tenon::cli::verb_plugin {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> files;
  std::string file, op;
  int timeout = 20;
  bool verbose = false;
  CLI::App *list = nullptr, *show = nullptr, *test = nullptr;
};

plugin::Logger logger_of(const Options& o, Console& console) {
  const LinePrinter note = [&console](const std::string& line) { console.note(line); };
  return logger_to([&console](const std::string& line) { console.warn(line); }, o.verbose ? note : nullptr);
}

using Rows = std::vector<std::vector<std::string>>;

void add_row(Rows& rows, const plugin::Op& op, const std::string& library, const std::string& how) {
  rows.push_back({op.name_space + "::" + op.name, op.version, library, names_of(op.operands), names_of(op.results), how,
                  op.table.docs ? op.table.docs : ""});
}

/// The creators that Tenon has itself, with their fields.
Json list_op_creators(Rows& rows, std::vector<std::string>& lines) {
  Json out = Json::array();
  for (const ops::OpCreator& creator : ops::op_creators()) {
    const std::string op = fmt::format("tenon::{}", creator.op);
    add_row(rows, creator.declared, creator.declared.library_name, op);
    lines.emplace_back();
    for (std::string& line : declaration_lines(creator.declared)) lines.push_back(std::move(line));
    Json one = json_of(creator.declared);
    one["op"] = op;
    out.push_back(std::move(one));
  }
  return out;
}

Result<void> list(const Options& o, Console& console) {
  plugin::Registry registry;
  Json json = Json::array(), creators = Json::array();
  Rows rows{{"op", "version", "library", "operands", "results", "computed by", "description"}};
  std::vector<std::string> lines;
  const plugin::Logger log = logger_of(o, console);
  const bool lists_own = o.files.empty();
  if (lists_own) {
    log_op_creators(log);
    creators = list_op_creators(rows, lines);
  }
  std::vector<std::filesystem::path> files(o.files.begin(), o.files.end());
  if (lists_own) files = plugin::files_of_environment();
  for (const auto& file : files) TRY(registry.load(file, {.name_space = {}, .logger = log}));
  for (const auto& library : registry.libraries()) {
    json.push_back(json_of(*library));
    for (const plugin::Op& op : library->ops) add_row(rows, op, library->name, computed_by(op));
  }
  console.table(rows);
  for (const std::string& line : lines) console.line(line);
  console.object({{"creators", creators}, {"libraries", json}});
  return {};
}

/// Op `which` of the library, "Name" or "namespace::Name"; all where it is empty.
Result<std::vector<const plugin::Op*>> chosen(const plugin::Library& library, const std::string& which) {
  std::vector<const plugin::Op*> out;
  std::vector<std::string> known;
  for (const plugin::Op& op : library.ops) {
    known.push_back(op.name_space + "::" + op.name);
    if (which.empty() || which == op.name || which == known.back()) out.push_back(&op);
  }
  if (!out.empty()) return out;
  const std::string near = nearest_name(which, known);
  return fail(Code::bad_usage, library.file.string(), "the library has no such op")
      .expected(fmt::format("one of {}", fmt::join(known, ", ")))
      .found(which)
      .advice(near.empty() ? "`tenon plugin list LIB` lists them" : "did you mean " + near + "?");
}

Result<void> show(const Options& o, Console& console) {
  const auto library = TRY(plugin::open_library(o.file, logger_of(o, console)));
  const auto ops = TRY(chosen(*library, o.op));
  console.line(fmt::format("{} {}, {}", library->name, library->version, library->file.string()));
  console.line(fmt::format("needs version {} of the plugin interface (this is {})", library->needs, TENON_PLUGIN_VERSION));
  console.line(fmt::format("SHA-256 {}", library->sha256));
  Json json = json_of(*library);
  json["ops"] = Json::array();
  for (const plugin::Op* op : ops) {
    console.line();
    for (const std::string& line : lines_of(*op)) console.line(line);
    json["ops"].push_back(json_of(*op));
  }
  console.object(json);
  return {};
}

Result<void> test(const Options& o, Console& console) {
  return report(TRY(test_plugins(o.file, o.op, std::chrono::seconds(o.timeout), console)), o.file, console);
}

}  // namespace

VERB(plugin) {
    .summary = "list, describe and test the ops of plugin libraries",
    .examples =
        "  tenon plugin list                             plugin creators that Tenon has itself, with their fields\n"
        "  tenon plugin list ./swish.so ./others.so      the ops of both libraries\n"
        "  tenon plugin show ./swish.so                  operands, results, fields and functions of each op\n"
        "  tenon plugin show ./swish.so acme::Swish --json | jq '.ops[0].fields'\n"
        "  tenon plugin test ./swish.so                  runs the conformance checks of docs/plugins.md\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.require_subcommand(1);
      o->list = app.add_subcommand("list", "list the ops of libraries: name, version, operands, results, and how each is computed")
                    ->fallthrough();
      o->list
          ->add_option(
              "LIB", o->files,
              "plugin libraries, shared ones that export the interface of tenon/plugin.h (default: creators of Tenon's own ops, and "
              "the libraries of TENON_PLUGINS)")
          ->type_name("LIB");
      o->show = app.add_subcommand("show", "show what a library declares: operands, results, fields, functions, definitions, SHA-256")
                    ->fallthrough();
      o->show->add_option("LIB", o->file, "a plugin library")->required()->type_name("LIB");
      o->show->add_option("OP", o->op, "one of its ops, Name or namespace::Name (default: all)");
      for (CLI::App* const verb : {o->list, o->show})
        verb->add_flag("--verbose", o->verbose, "print what libraries log, and a line for each creator that is registered");
      o->test =
          app.add_subcommand("test", "check that ops follow the plugin interface, on their samples and on generated cases")->fallthrough();
      o->test->add_option("LIB", o->file, "a plugin library")->required()->type_name("LIB");
      o->test->add_option("OP", o->op, "one of its ops, Name or namespace::Name (default: all)");
      o->test->add_option("--timeout", o->timeout, "seconds of CPU time that one check may use, and that it may be idle")
          ->check(at_least(1))
          ->capture_default_str();
      return [o](Console& console) {
        if (o->list->parsed()) return list(*o, console);
        return o->show->parsed() ? show(*o, console) : test(*o, console);
      };
    },
};

}  // namespace tenon::cli::verb_plugin
