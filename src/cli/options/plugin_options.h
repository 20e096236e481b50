// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/plugins.h"
#include "partition/constraints.h"
#include "runtime/libraries.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// --plugin LIB: a library of plugins. --plugin-any-build: an engine takes another build of one than it was built with. --prefer NAME: a
/// kernel in place of Tenon's own. --plugin-tactic NAME=ID: the tactic of all nodes of an op. --isolate-plugins, --plugin-timeout,
/// --plugin-memory: plugin::Isolation. --verbose: lines of the log on stderr. Libraries in $TENON_PLUGINS (A.so:B.so) are loaded before
/// those.
struct PluginOptions {
  std::vector<std::string> files;
  bool any_build = false;
  bool isolate = false;
  bool verbose = false;                      ///< prints what libraries log, and each creator that is registered
  double timeout = 300;                      ///< seconds
  uint64_t memory = 0;                       ///< bytes; 0: no limit
  const std::string* embedded_in = nullptr;  ///< the engine file whose embedded libraries are loaded; null: none
  std::vector<std::string> preferred;        ///< kernels of plugins
  std::vector<std::string> tactics;          ///< "acme::Conv=2"

  void add_to(CLI::App& app);
  /// --embedded-plugins, of verbs that take the engine `file`, which is read when the plugins are.
  void add_embedded_to(CLI::App& app, const std::string& file);
  /// Declares only --plugin and --verbose.
  void add_libraries(CLI::App& app);
  /// Loaded on first use, and kept as long as these options. Errors: those of compiler::load_plugins.
  Result<compiler::Plugins> plugins() const;
  /// The libraries of backends, with those of plugins. Errors: those of plugins(); bad_usage for a tactic of no plugin.
  Result<runtime::Libraries> added_to(runtime::Libraries libraries) const;
  /// The ops of which kernels are preferred. Errors: bad_usage for what is no kernel of a plugin.
  Result<std::vector<partition::Pin>> preferences() const;

 private:
  Result<std::pair<std::string, int32_t>> tactic_of(const std::string& text) const;
  mutable std::optional<compiler::Plugins> loaded_;
};

}  // namespace tenon::cli
