// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "plugin/kept.h"
#include "runtime/embedded_plugins.h"

// Last: the public names come after the inner ones (see there).
#include "api/arrays.h"
#include "api/run_once.h"
#include "api/state.h"

namespace tenon::inline v1 {

namespace {

void add_dimensions_of_held(const runtime::Held& held, Port& port) {
  if (held.unranked) port.dimensions = {"*"};
  for (const int64_t size : held.sizes) {
    port.dimensions.push_back(size < 0 ? "?" : std::to_string(size));
    port.lower.push_back(std::max<int64_t>(size, 0));
    port.upper.push_back(size < 0 ? std::numeric_limits<int64_t>::max() : size);
  }
}

std::vector<Port> ports_of(std::span<const runtime::PortInfo> infos) {
  std::vector<Port> out;
  for (const runtime::PortInfo& p : infos) {
    out.push_back({p.name, p.dtype, p.dimensions, p.lower, p.upper, p.held.kind, p.held.key});
    if (out.back().kind != ValueKind::tensor) add_dimensions_of_held(p.held, out.back());
  }
  return out;
}

std::string names_of(std::span<const Port> ports) {
  std::string out;
  for (const Port& p : ports) out += (out.empty() ? "" : ", ") + p.name;
  return out;
}

/// Named arrays in the engine's order.
base::Result<std::vector<Array>> in_order(const Arrays& named, std::span<const Port> ports) {
  std::vector<Array> out;
  for (const Port& p : ports) {
    const auto found = named.find(p.name);
    if (found == named.end())
      return base::fail(base::Code::bad_input, "input '" + p.name + "'", "the input is missing")
          .expected(names_of(ports))
          .found("no array of this name")
          .advice("give every input a value");
    out.push_back(found->second);
  }
  if (named.size() == ports.size()) return out;
  for (const auto& [name, array] : named)
    if (std::ranges::none_of(ports, [&](const Port& p) { return p.name == name; }))
      return base::fail(base::Code::bad_input, "input '" + name + "'", "the model has no such input").expected(names_of(ports)).found(name);
  return out;
}

}  // namespace

base::Result<runtime::Libraries> libraries_of(const BackendLibraries& libraries, std::span<const std::filesystem::path> plugins) {
  return runtime::Libraries{.files = {libraries.files.begin(), libraries.files.end()},
                            .packages = libraries.packages,
                            .custom_ops = libraries.custom_ops,
                            .plugins = TRY(plugin::kept_registry(plugins))};
}

base::Result<runtime::Libraries> libraries_of(const LoadOptions& options, const std::filesystem::path& engine) {
  auto out = TRY(libraries_of(options.libraries, options.plugins));
  if (options.embedded_plugins) out.plugins = TRY(plugin::kept_registry(options.plugins, {}, TRY(runtime::embedded_plugins(engine))));
  out.isolated_plugins = isolation_of(options);
  if (options.plugin_any_build) out.plugin_build = plugin::Build::any;
  return out;
}

Engine make_engine(std::shared_ptr<runtime::Engine> engine, Save save) {
  auto state = std::make_shared<Engine::State>();
  state->inputs = ports_of(engine->inputs());
  state->outputs = ports_of(engine->outputs());
  state->engine = std::move(engine);
  state->save = std::move(save);
  return Engine(std::move(state));
}

Result<Engine> Engine::load(const std::filesystem::path& path, const LoadOptions& options) {
  return guarded([&]() -> Result<Engine> {
    auto engine = open_engine(path, options);
    if (!engine) return std::unexpected(public_error(engine.error()));
    return make_engine(std::move(*engine));
  });
}

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

std::span<const Port> Engine::inputs() const { return state_->inputs; }
std::span<const Port> Engine::outputs() const { return state_->outputs; }

const std::string& Engine::missing_plugins() const { return state_->engine->missing(); }

EngineSizes Engine::sizes() const {
  const runtime::Program& program = state_->engine->program();
  return {program.weight_bytes, state_->engine->code_bytes(), program.steps.size()};
}

Result<std::vector<Array>> Engine::run(std::span<const Array> inputs, const RunOptions& options) const {
  return guarded([&]() -> Result<std::vector<Array>> {
    auto tensors = tensors_of(inputs, state_->inputs);
    if (!tensors) return std::unexpected(public_error(tensors.error()));
    auto results = run_once(*state_, *tensors, Context::State::inner(options));
    if (!results) return std::unexpected(public_error(results.error()));
    return std::move(*results);
  });
}

Result<Arrays> Engine::run(const Arrays& inputs, const RunOptions& options) const {
  return guarded([&]() -> Result<Arrays> {
    auto ordered = in_order(inputs, state_->inputs);
    if (!ordered) return std::unexpected(public_error(ordered.error()));
    auto results = run(*ordered, options);
    if (!results) return std::unexpected(std::move(results).error());
    Arrays named;
    for (size_t k = 0; k < results->size(); ++k) named.emplace(state_->outputs[k].name, std::move((*results)[k]));
    return named;
  });
}

}  // namespace tenon::inline v1
