// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "compiler/compile.h"
#include "ops/core/op.h"
#include "runtime/engine.h"

namespace tenon::compiler {

struct LoadOptions {
  bool verify = false;                     ///< check every byte of the file; done in any case where it holds no native code
  int threads = 0;                         ///< to compile on, where that is needed
  const ir::OpTable* ops = &ops::table();  ///< what its nodes may be; outlives the engine
  runtime::Libraries libraries = {};       ///< of its backends
};

/// An engine without native code (built with --portable), compiled for this CPU.
struct Recompiled {
  Compiled compiled;
  std::string missing;  ///< as runtime::Engine::missing_plugins
};
/// None of an engine that has native code. Errors: see load().
Result<std::optional<Recompiled>> compile_if_portable(const std::filesystem::path& path, const LoadOptions& options = {});
/// Loads an engine that has native code, or compiles one that has none (built with --portable), which may come from anywhere.
/// Errors: those of runtime::load_engine; bad_file, bad_graph and those of compile().
Result<std::shared_ptr<runtime::Engine>> load(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace tenon::compiler
