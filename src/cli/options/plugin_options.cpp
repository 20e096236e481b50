// SPDX-License-Identifier: Apache-2.0
#include "cli/options/plugin_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/nearest.h"
#include "cli/console/number_checks.h"
#include "cli/console/option_groups.h"
#include "cli/options/table_options.h"
#include "cli/plugins/plugin_log.h"
#include "runtime/embedded_plugins.h"

namespace tenon::cli {

void PluginOptions::add_libraries(CLI::App& app) {
  add_table_option(app, "plugins", files);
  app.add_flag("--verbose", verbose, "print what plugin libraries log, and a line for each plugin creator that is registered");
  group_options(app, kPluginOptions, {"--verbose"});
}

void PluginOptions::add_to(CLI::App& app) {
  add_libraries(app);
  add_table_option(app, "prefer", preferred);
  add_table_option(app, "plugin_tactics", tactics);
  app.add_flag("--plugin-any-build", any_build, "accept other builds of plugins than those that the engine was built with");
  CLI::Option* const isolated = add_table_option(app, "isolate_plugins", isolate);
  add_table_option(app, "plugin_timeout", timeout)->check(more_than_zero())->needs(isolated)->capture_default_str();
  add_table_option(app, "plugin_memory", memory)->check(at_least(1))->needs(isolated);
  group_options(app, kPluginOptions, {"--plugin-any-build"});
}

void PluginOptions::add_embedded_to(CLI::App& app, const std::string& file) {
  app.add_flag_callback(
      "--embedded-plugins", [this, &file] { embedded_in = &file; },
      "load the plugin libraries inside the engine file, which are code of the engine's author");
  group_options(app, kPluginOptions, {"--embedded-plugins"});
}

Result<runtime::Libraries> PluginOptions::added_to(runtime::Libraries libraries) const {
  libraries.plugins = TRY(plugins()).registry;
  libraries.plugin_build = any_build ? plugin::Build::any : plugin::Build::same;
  libraries.preferred_plugins = preferred;
  if (isolate) libraries.isolated_plugins = {.call_timeout = std::chrono::milliseconds(std::llround(timeout * 1000)), .memory = memory};
  for (const std::string& text : tactics)
    libraries.plugin_tactics.insert_or_assign(TRY(tactic_of(text)).first, TRY(tactic_of(text)).second);
  return libraries;
}

Result<std::pair<std::string, int32_t>> PluginOptions::tactic_of(const std::string& text) const {
  const size_t equals = text.rfind('=');
  const std::string name = text.substr(0, equals);
  int32_t id = -1;
  if (equals != text.npos) std::from_chars(text.data() + equals + 1, text.data() + text.size(), id);
  if (id < 0) return fail(Code::bad_usage, "--plugin-tactic", "it names an op of a plugin, and a tactic").expected("NAME=ID").found(text);
  std::vector<std::string> known;
  for (const plugin::Op* op : TRY(plugins()).registry->ops())
    if (op->runs()) known.push_back(op->name_space + "::" + op->name);
  if (std::ranges::find(known, name) != known.end()) return std::pair(name, id);
  const std::string near = nearest_name(name, known);
  return fail(Code::bad_usage, "--plugin-tactic " + text, "no plugin runs an op of this name")
      .expected(known.empty() ? "an op of a library that --plugin names" : fmt::format("{}", fmt::join(known, ", ")))
      .found("'" + name + "'")
      .advice(near.empty() ? "`tenon plugin list LIB` names what a library has" : "did you mean '" + near + "'?");
}

Result<std::vector<partition::Pin>> PluginOptions::preferences() const {
  return compiler::preferences(*TRY(plugins()).registry, preferred);
}

Result<compiler::Plugins> PluginOptions::plugins() const {
  if (loaded_) return *loaded_;
  std::vector<std::filesystem::path> all = plugin::files_of_environment();
  all.insert(all.end(), files.begin(), files.end());
  const LinePrinter print = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  const plugin::Logger log = logger_to(print, verbose ? print : nullptr);
  log_op_creators(log);
  std::vector<std::shared_ptr<const plugin::Library>> inside;
  if (embedded_in) inside = TRY(runtime::embedded_plugins(*embedded_in, log));
  loaded_ = TRY(compiler::load_plugins(all, log, inside));
  return *loaded_;
}

}  // namespace tenon::cli
