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

/// How an engine file is loaded.
struct LoadOptions {
  bool verify = false;                     ///< check the checksums of the whole file; always done for a portable engine
  int threads = 0;                         ///< of the code of a portable engine, which is compiled when it is loaded; 0: all
  const ir::OpTable* ops = &ops::table();  ///< ops of its nodes; must outlive the engine
  runtime::Libraries libraries = {};       ///< of its backends
};

/// A portable engine (built with --portable), compiled for this CPU.
struct CompiledPortable {
  Compiled compiled;
  std::string missing;  ///< the value of runtime::Engine::missing_plugins
};
/// Compiles a portable engine; nullopt for one with native code. Errors: see load().
Result<std::optional<CompiledPortable>> compile_if_portable(const std::filesystem::path& path, const LoadOptions& options = {});
/// Loads an engine, and compiles it where it is portable. A portable engine may be damaged or hostile: everything in it is checked.
/// Errors: those of runtime::load_engine; bad_file, bad_graph and those of compile().
Result<std::shared_ptr<runtime::Engine>> load(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace tenon::compiler
