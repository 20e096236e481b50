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

// After the inner headers: both worlds have an Error, a Code and a DType. Inside namespace v1 the public ones are meant; the inner
// ones are spelled base::. A file that includes this header includes the inner ones before it.
#include "tenon/tenon.h"

namespace tenon::files {
class MappedFile;
}

namespace tenon::inline v1 {

struct Engine::State {
  std::shared_ptr<runtime::Engine> engine;
  std::vector<Entry> entries;  ///< in the order of the engine's
  std::vector<StateInfo> states;
  std::function<base::Result<void>(const std::filesystem::path&, bool portable)> save;  ///< none: it came from a file
  std::shared_ptr<const files::MappedFile> file;                                        ///< none: it was compiled
  LoadOptions load_options;
  /// What the runtime is given for a run of `program`. Errors: bad_usage.
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
  /// Results lie in the context.
  base::Result<std::span<const base::Tensor>> run(std::span<const Array> inputs, const RunOptions& options, size_t entry);
  /// As Engine::State::run_options.
  static base::Result<runtime::RunOptions> inner(const RunOptions& options, const runtime::Program& program);
};

Error public_error(const base::Error& error);
/// `result` as the public interface returns it.
template <class T>
Result<T> published(base::Result<T> result) {
  if (!result) return std::unexpected(public_error(result.error()));
  if constexpr (std::is_void_v<T>) return {};
  else return std::move(*result);
}
/// Errors: those of tensor_of.
base::Result<std::vector<base::Tensor>> tensors_of(std::span<const Array> inputs, std::span<const Port> ports);
using Save = std::function<base::Result<void>(const std::filesystem::path&, bool portable)>;
/// Of an engine that was compiled. options: the libraries and plugins that it needs.
Engine make_engine(std::shared_ptr<runtime::Engine> engine, Save save, LoadOptions options);
/// Of an engine that was loaded from `file`.
Engine make_engine(std::shared_ptr<runtime::Engine> engine, std::shared_ptr<const files::MappedFile> file, LoadOptions options);

/// Errors: those of plugin::cached_registry.
base::Result<runtime::Libraries> libraries_of(const BackendLibraries& libraries, std::span<const std::filesystem::path> plugins);
/// engine: the file whose own libraries are taken where the options say so.
base::Result<runtime::Libraries> libraries_of(const LoadOptions& options, const std::filesystem::path& engine);

/// None: plugins run in this process.
template <class Options>
std::optional<plugin::Isolation> isolation_of(const Options& options) {
  if (!options.isolate_plugins) return std::nullopt;
  return plugin::Isolation{.call_timeout = options.plugin_timeout, .memory = options.plugin_memory};
}

/// What load() does, the one thing in which the two libraries differ.
base::Result<std::shared_ptr<runtime::Engine>> open_engine(const std::filesystem::path& path, const LoadOptions& options);

/// Runs `call` and converts what libraries below may throw (no memory, a file system) into an error.
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
