// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/exception_error.h"
#include "runtime/engine.h"
#include "runtime/libraries.h"

// To be included after the inner headers: the public interface and `base` both have an Error, a Code and a DType. Inside namespace v1 these
// names are the public ones; those of base are written base::Error, ... A file that includes this header includes the inner ones before it.
#include "tenon/tenon.h"

namespace tenon::files {
class MappedFile;
}

namespace tenon::inline v1 {

struct Engine::State {
  std::shared_ptr<runtime::Engine> engine;
  std::vector<Entry> entries;  ///< in the order of the engine's
  std::vector<StateInfo> states;
  std::function<base::Result<void>(const std::filesystem::path&, bool portable)>
      save;                                       ///< writes the engine to a file; empty: it was loaded from one
  std::shared_ptr<const files::MappedFile> file;  ///< the file from which it was loaded; null: it was compiled
  LoadOptions load_options;
  /// The runtime's options for a run of `program`. Errors: bad_usage.
  static base::Result<runtime::RunOptions> run_options(const RunOptions& options, const runtime::Program& program);
  /// The number of the entry that a run names. Errors: bad_usage.
  base::Result<size_t> entry_of(std::string_view name) const { return name.empty() ? 0 : engine->entry(name); }
  std::mutex lock;
  std::vector<std::unique_ptr<runtime::Context>> idle;  ///< contexts that no run uses now
};

struct Context::State {
  std::shared_ptr<Engine::State> engine;
  std::unique_ptr<runtime::Context> context;
  std::vector<Array> results = {};
  /// Runs an entry. The results are in memory of the context.
  base::Result<std::span<const base::Tensor>> run(std::span<const Array> inputs, const RunOptions& options, size_t entry);
  /// As Engine::State::run_options.
  static base::Result<runtime::RunOptions> inner(const RunOptions& options, const runtime::Program& program);
};

/// An error as the public interface returns it.
Error public_error(const base::Error& error);
/// `result` as the public interface returns it.
template <class T>
Result<T> published(base::Result<T> result) {
  if (!result) return std::unexpected(public_error(result.error()));
  if constexpr (std::is_void_v<T>) return {};
  else return std::move(*result);
}
/// Tensors over the caller's arrays (tensor_of). Errors: those of tensor_of.
base::Result<std::vector<base::Tensor>> tensors_of(std::span<const Array> inputs, std::span<const Port> ports);
using Save = std::function<base::Result<void>(const std::filesystem::path&, bool portable)>;
/// The public engine of one that was compiled. options: the libraries and plugins that it needs.
Engine make_engine(std::shared_ptr<runtime::Engine> engine, Save save, LoadOptions options);
/// The public engine of one that was loaded from `file`.
Engine make_engine(std::shared_ptr<runtime::Engine> engine, std::shared_ptr<const files::MappedFile> file, LoadOptions options);

/// The runtime's libraries: those named, and the registry of the plugins. Errors: those of plugin::cached_registry.
base::Result<runtime::Libraries> libraries_of(const BackendLibraries& libraries, std::span<const std::filesystem::path> plugins);
/// The libraries for loading an engine. engine: its file, whose recorded libraries are used where the options request that.
base::Result<runtime::Libraries> libraries_of(const LoadOptions& options, const std::filesystem::path& engine);

/// How plugins are isolated in worker processes; nullopt: they run in this process.
template <class Options>
std::optional<plugin::Isolation> isolation_of(const Options& options) {
  if (!options.isolate_plugins) return std::nullopt;
  return plugin::Isolation{.call_timeout = options.plugin_timeout, .memory = options.plugin_memory};
}

/// Loads an engine file. The only function that libtenon and libtenon_run implement differently: the latter cannot compile portable
/// engines.
base::Result<std::shared_ptr<runtime::Engine>> open_engine(const std::filesystem::path& path, const LoadOptions& options);

/// Calls `call`, and converts exceptions of libraries (memory, file system) into an error.
template <class Call>
auto guarded(Call&& call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    try {
      return std::unexpected(public_error(base::exception_error("")));
    } catch (...) {
      // No memory for the error's texts either; this one is short enough to need none.
      return std::unexpected(Error{Code::out_of_memory, "", "memory ran out", "", "", ""});
    }
  }
}

}  // namespace tenon::inline v1
