// SPDX-License-Identifier: Apache-2.0
#include "cli/options/plugin_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>

namespace tenon::cli {

namespace {

std::vector<std::filesystem::path> from_environment() {
  std::vector<std::filesystem::path> out;
  const char* const text = std::getenv("TENON_PLUGINS");
  for (std::string_view left = text ? text : ""; !left.empty();) {
    const size_t end = std::min(left.find(':'), left.size());
    if (end > 0) out.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return out;
}

}  // namespace

void PluginOptions::add_to(CLI::App& app) {
  app.add_option("--plugin", files, "a library of plugins; may be repeated (beside those of TENON_PLUGINS=A.so:B.so)")
      ->type_name("LIB")
      ->allow_extra_args(false);
  app.add_flag("--plugin-any-build", any_build, "take other builds of plugins than the engine was built with");
}

Result<runtime::Libraries> PluginOptions::added_to(runtime::Libraries libraries) const {
  libraries.plugins = TRY(plugins()).registry;
  libraries.plugin_build = any_build ? plugin::Build::any : plugin::Build::same;
  return libraries;
}

Result<compiler::Plugins> PluginOptions::plugins() const {
  if (loaded_) return *loaded_;
  std::vector<std::filesystem::path> all = from_environment();
  all.insert(all.end(), files.begin(), files.end());
  const bool all_lines = verbose;
  const plugin::LoadOptions options{.name_space = {},
                                    .logger = [all_lines](tenon_severity severity, std::string_view library, std::string_view text) {
                                      if (all_lines || severity <= TENON_LOG_WARNING) fmt::print(stderr, "{}: {}\n", library, text);
                                    }};
  loaded_ = TRY(compiler::load_plugins(all, options));
  return *loaded_;
}

}  // namespace tenon::cli
