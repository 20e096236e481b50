// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/options/library_options.h"
#include "cli/options/model_options.h"
#include "cli/options/partition_options.h"
#include "compiler/compile.h"
#include "compiler/load.h"
#include "runtime/engine.h"

namespace CLI {
class App;
}

namespace tenon::cli {

class Console;

/// The options of every verb that compiles or runs something: MODEL, --backend-lib, --verify, --verify-passes, --without, those
/// of the table that the compiler reads as they are given (--opt, --precision, ...), of ModelOptions and of PartitionOptions.
struct EngineOptions : compiler::ScalarOptions {
  ModelOptions model;
  bool verify = false;
  bool check_memory = false;
  bool verify_passes = false;
  std::vector<std::string> without;  ///< passes that do not run
  PartitionOptions partition;
  LibraryOptions libraries;

  /// What the argument MODEL may be.
  enum class Takes : uint8_t { models, models_and_engines };
  /// Declares the options; --verify only with models_and_engines.
  void add_to(CLI::App& app, Takes takes = Takes::models_and_engines);
  /// --check-memory, of verbs that run.
  void add_check_memory_to(CLI::App& app);
  runtime::RunOptions run_options() const;
  bool is_engine() const { return model.is_engine(); }
  /// The libraries of backends and of plugins. Errors: those of LibraryOptions::libraries and PluginOptions::plugins.
  Result<runtime::Libraries> all_libraries() const;
  /// Errors: bad_usage for backends.
  Result<compiler::CompileOptions> compile_options(Console& console) const;
  /// How to load the engine. Errors: bad_usage for options that only a build has; those of plugins and libraries.
  Result<compiler::LoadOptions> load_options() const;
  /// Errors: bad_input for a --shape that is none of the engine's.
  Result<void> check_shapes(const runtime::Engine& engine) const;
  /// Loads the engine, or compiles the model in memory. load_ms gets the time taken.
  Result<std::shared_ptr<runtime::Engine>> engine(Console& console, double* load_ms = nullptr) const;

 private:
  /// Errors: bad_usage for an option that only a build has.
  Result<void> check_build_options() const;

  const CLI::App* app_ = nullptr;  ///< the parser that has the options
};

/// Compiles, and warns of each segment that a backend failed to compile. Errors: those of compiler::compile.
Result<compiler::Compiled> compiled(compiler::Source source, const compiler::CompileOptions& options, Console& console);
Result<compiler::Compiled> compiled(std::vector<compiler::EntrySource> entries, const compiler::CompileOptions& options, Console& console);

}  // namespace tenon::cli
