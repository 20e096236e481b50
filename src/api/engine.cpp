// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "files/atomic_write.h"
#include "files/mapped_file.h"
#include "files/scratch_folder.h"
#include "plugin/public/plugins.h"
#include "runtime/embedded_plugins.h"

// Last: the public names come after the inner ones (see there).
#include "api/arrays.h"
#include "api/named_arrays.h"
#include "api/output_buffers.h"
#include "api/run_once.h"
#include "api/state.h"

namespace tenon::inline v1 {

namespace {

void add_dimensions_of_container(const runtime::ContainerInfo& container, Port& port) {
  if (container.unranked) port.dimensions = {"*"};
  for (const int64_t size : container.sizes) {
    port.dimensions.push_back(size < 0 ? "?" : std::to_string(size));
    port.lower.push_back(std::max<int64_t>(size, 0));
    port.upper.push_back(size < 0 ? std::numeric_limits<int64_t>::max() : size);
  }
}

std::vector<Port> ports_of(std::span<const runtime::PortInfo> infos) {
  std::vector<Port> out;
  for (const runtime::PortInfo& p : infos) {
    out.push_back({p.name, p.dtype, p.dimensions, p.lower, p.upper, p.container.kind, p.container.key, p.default_value.has_value()});
    if (out.back().kind != ValueKind::tensor) add_dimensions_of_container(p.container, out.back());
  }
  return out;
}

}  // namespace

base::Result<runtime::Libraries> libraries_of(const BackendLibraries& libraries, std::span<const std::filesystem::path> plugins) {
  return runtime::Libraries{.files = {libraries.files.begin(), libraries.files.end()},
                            .packages = libraries.packages,
                            .custom_ops = libraries.custom_ops,
                            .plugins = TRY(plugin::cached_registry(plugins))};
}

base::Result<runtime::Libraries> libraries_of(const LoadOptions& options, const std::filesystem::path& engine) {
  auto out = TRY(libraries_of(options.libraries, options.plugins));
  if (options.embedded_plugins) out.plugins = TRY(plugin::cached_registry(options.plugins, {}, TRY(runtime::embedded_plugins(engine))));
  out.isolated_plugins = isolation_of(options);
  if (options.plugin_any_build) out.plugin_build = plugin::Build::any;
  return out;
}

namespace {

std::shared_ptr<Engine::State> state_of(std::shared_ptr<runtime::Engine> engine, LoadOptions options) {
  auto state = std::make_shared<Engine::State>();
  for (size_t k = 0; k < engine->entries().size(); ++k)
    state->entries.push_back({engine->entries()[k].name, ports_of(engine->inputs(k)), ports_of(engine->outputs(k))});
  for (const runtime::StateInfo& s : engine->states())
    state->states.push_back({s.name, s.dtype, s.shape, s.growing_axis, state_type_text(s)});
  state->engine = std::move(engine);
  state->load_options = std::move(options);
  return state;
}

base::Result<Engine> loaded(const std::filesystem::path& path, const LoadOptions& options) {
  auto file = TRY(files::MappedFile::open(path));
  return make_engine(TRY(open_engine(path, options)), std::move(file), options);
}

base::Result<std::vector<std::byte>> bytes_of(const files::MappedFile& file) {
  return std::vector<std::byte>(file.bytes().begin(), file.bytes().end());
}

base::Result<std::vector<std::byte>> saved_bytes(const Save& save) {
  const auto folder = TRY(files::ScratchFolder::make());
  const auto path = folder.path() / "engine.tenon";
  TRY(save(path, false));
  return bytes_of(*TRY(files::MappedFile::open(path)));
}

/// The file is mapped by then, and needs no name any more.
base::Result<Engine> loaded_bytes(std::span<const std::byte> bytes, const LoadOptions& options) {
  const auto folder = TRY(files::ScratchFolder::make());
  const auto path = folder.path() / "engine.tenon";
  TRY(files::write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  return loaded(path, options);
}

}  // namespace

Engine make_engine(std::shared_ptr<runtime::Engine> engine, Save save, LoadOptions options) {
  auto state = state_of(std::move(engine), std::move(options));
  state->save = std::move(save);
  return Engine(std::move(state));
}

Engine make_engine(std::shared_ptr<runtime::Engine> engine, std::shared_ptr<const files::MappedFile> file, LoadOptions options) {
  auto state = state_of(std::move(engine), std::move(options));
  state->file = std::move(file);
  return Engine(std::move(state));
}

Result<Engine> Engine::load(const std::filesystem::path& path, const LoadOptions& options) {
  return guarded([&] { return published(loaded(path, options)); });
}

Result<Engine> Engine::from_bytes(std::span<const std::byte> bytes, const LoadOptions& options) {
  return guarded([&] { return published(loaded_bytes(bytes, options)); });
}

Result<std::vector<std::byte>> Engine::bytes() const {
  return guarded([&] { return published(state_->file ? bytes_of(*state_->file) : saved_bytes(state_->save)); });
}

const LoadOptions& Engine::load_options() const { return state_->load_options; }

Result<void> Engine::save(const std::filesystem::path& path, bool portable) const {
  return guarded([&]() -> Result<void> {
    if (!state_->save)
      return std::unexpected(Error{Code::bad_usage, path.string(), "this engine came from a file",
                                   "an engine that was compiled by this process", "one that was loaded",
                                   "copy that file, or compile the model again"});
    if (auto done = state_->save(path, portable); !done) return std::unexpected(public_error(done.error()));
    return {};
  });
}

std::span<const Entry> Engine::entries() const { return state_->entries; }
Result<size_t> Engine::entry(std::string_view name) const {
  return guarded([&] { return published(state_->entry_of(name)); });
}
std::span<const Port> Engine::inputs() const { return state_->entries[0].inputs; }
std::span<const Port> Engine::outputs() const { return state_->entries[0].outputs; }
std::span<const StateInfo> Engine::states() const { return state_->states; }

const std::string& Engine::missing_plugins() const { return state_->engine->missing_plugins(); }

EngineSizes Engine::sizes() const {
  const runtime::Program& program = state_->engine->program();
  return {state_->engine->programs().weight_bytes, state_->engine->code_bytes(), program.steps.size()};
}

Result<std::vector<Array>> Engine::run(std::span<const Array> inputs, const RunOptions& options) const {
  return guarded([&] { return published(run_once(*state_, inputs, {}, options)); });
}

Result<Arrays> Engine::run(const Arrays& inputs, const RunOptions& options) const { return run(inputs, OutputBuffers(), options); }

Result<Arrays> Engine::run(const Arrays& inputs, const OutputBuffers& outputs, const RunOptions& options) const {
  return guarded([&] {
    return published([&]() -> base::Result<Arrays> {
      const Entry& entry = state_->entries[TRY(state_->entry_of(options.entry))];
      const auto ordered = TRY(in_order(inputs, entry.inputs));
      const auto buffers = TRY(buffers_in_order(outputs, entry.outputs));
      TRY(check_overlaps(ordered, buffers));
      return by_name(TRY(run_once(*state_, ordered, buffers, options)), entry.outputs);
    }());
  });
}

}  // namespace tenon::inline v1
