// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine.h"

#include "base/activity.h"
#include "base/index_named.h"
#include "runtime/device_error.h"
#include "runtime/input_checks.h"

#include <algorithm>
#include <cstring>

namespace tenon::runtime {

namespace {

Error missing_device(const std::string& name, const Devices& from) {
  std::string known;
  for (const auto& device : from) known.append(known.empty() ? "" : ", ").append(device->name());
  return fail(Code::not_supported, "engine", "this engine has segments for the device '" + name + "', which is not linked in")
      .expected("the device '" + name + "'")
      .found(known.empty() ? "no device" : known)
      .advice("link tenon::tenon instead of tenon::run; `tenon inspect` names the ops that run there");
}

/// The devices that these blobs need, each once, their libraries opened. Errors: not_supported for one that is not there.
Result<Devices> choose_devices(std::span<const Blob* const> blobs, const Devices& from) {
  const auto named = [](const Devices& list, std::string_view name) {
    return std::ranges::find_if(list, [&](const auto& device) { return device->name() == name; });
  };
  Devices chosen;
  for (const Blob* blob : blobs) {
    if (named(chosen, blob->device) != chosen.end()) continue;
    const auto found = named(from, blob->device);
    if (found == from.end()) return missing_device(blob->device, from);
    const Activity activity((*found)->name(), "opened its library");
    if (auto opened = (*found)->open(); !opened) return backend_error(std::move(opened).error(), blob->device);
    chosen.push_back(*found);
  }
  return chosen;
}

/// Devices that keep something for the engine as a whole, in place of those that serve every engine.
Result<void> adapt_to_engine(std::span<const Blob* const> blobs, Devices& devices) {
  for (auto& device : devices) {
    std::vector<std::string_view> bytes;
    for (const Blob* blob : blobs)
      if (blob->device == device->name()) bytes.emplace_back(blob->bytes);
    if (auto own = TRY(device->for_engine(bytes))) device = std::move(own);
  }
  return {};
}

/// What runs of these entries can use: their own programs, their fallbacks, and what these run.
std::vector<const Blob*> blobs_of(const ProgramTable& table, std::span<const Entry> entries) {
  std::vector<uint32_t> roots;
  for (const Entry& e : entries) {
    roots.push_back(e.program);
    for (const auto& fallback : {e.unbounded_program, e.overridable_program})
      if (fallback) roots.push_back(*fallback);
  }
  const std::vector<bool> used = reachable(table, roots);
  std::vector<const Blob*> out;
  for (size_t k = 0; k < table.size(); ++k)
    for (const Blob& blob : table[k].blobs)
      if (used[k]) out.push_back(&blob);
  return out;
}

Result<Devices> devices_of(const ProgramTable& table, std::span<const Entry> entries, const Devices& from) {
  const std::vector<const Blob*> blobs = blobs_of(table, entries);
  Devices out = TRY(choose_devices(blobs, from));
  TRY(adapt_to_engine(blobs, out));
  return out;
}

}  // namespace

std::string missing_plugins_text(const Error& error) { return error->what + ": " + error->found; }

Result<std::shared_ptr<Engine>> Engine::create(EngineParts parts, const Devices& devices) {
  TRY(check_code(parts.programs, parts.code, "program"));
  if (parts.programs.weight_bytes > parts.weights.size())
    return fail(Code::bad_file, "weights", "the weights are shorter than the program says")
        .expected(std::to_string(parts.programs.weight_bytes) + " bytes")
        .found(std::to_string(parts.weights.size()) + " bytes");
  auto engine = std::shared_ptr<Engine>(new Engine(std::move(parts)));
  engine->code_ = TRY(CodeMapping::map(engine->parts_.code.bytes));
  engine->parts_.code.bytes = {};
  TRY(engine->find_devices(devices));
  return engine;
}

/// plugin_free: entries that have a plugin-free program run as that one.
void Engine::set_entries(bool plugin_free) {
  entries_.clear();
  for (const uint32_t number : entries_of(programs())) {
    const std::string& name = programs().programs[number].name;
    const auto plugin_free_program = fallback_of(programs(), number, Condition::plugin_missing);
    if (plugin_free && plugin_free_program) entries_.push_back({name, *plugin_free_program});
    else
      entries_.push_back({name, number, fallback_of(programs(), number, Condition::size_out_of_range),
                          fallback_of(programs(), number, Condition::default_overridden)});
  }
}

Result<void> Engine::find_devices(const Devices& from) {
  set_entries(false);
  auto found = devices_of(programs(), entries_, from);
  const bool has_plugin_free = std::ranges::any_of(
      entries_, [&](const Entry& e) { return fallback_of(programs(), e.program, Condition::plugin_missing).has_value(); });
  if (!found && found.error().code() == Code::not_supported && has_plugin_free) {
    parts_.missing_plugins = missing_plugins_text(found.error());
    set_entries(true);
    found = devices_of(programs(), entries_, from);
  }
  devices_ = TRY(std::move(found));
  return {};
}

Result<size_t> Engine::entry(std::string_view name) const { return index_named("entry", "entries", entries_, name); }

Result<size_t> Engine::state(std::string_view name) const { return index_named("state", "states", states(), name); }

bool Engine::overrides_default(std::span<const Tensor> inputs, size_t entry) const {
  const size_t required = required_inputs(entry);
  return entries_[entry].overridable_program && inputs.size() > required &&
         std::ranges::any_of(inputs.subspan(required), [](const Tensor& t) { return !t.empty_handle(); });
}

std::vector<Tensor> Engine::defaults(size_t entry) const {
  std::vector<Tensor> out;
  for (const PortInfo& port : inputs(entry).subspan(required_inputs(entry)))
    out.push_back(Tensor::view(port.dtype, port.default_value->shape, weights() + port.default_value->offset, nullptr));
  return out;
}

uint32_t Engine::number_for(std::span<const Tensor> inputs, size_t entry) const {
  const Entry& e = entries_[entry];
  if (overrides_default(inputs, entry)) return *e.overridable_program;
  if (!e.unbounded_program) return e.program;
  std::vector<Sizes> shapes;
  for (const Tensor& t : inputs.first(std::min(inputs.size(), required_inputs(entry)))) shapes.push_back(t.shape());
  return runtime::program_for(programs(), shapes, e.program);
}

Result<std::unique_ptr<Segment>> Engine::make_segment(const Blob& blob, std::span<const Tensor> weights, int threads) const {
  for (const auto& device : devices_)
    if (device->name() == blob.device) {
      const Activity activity(blob.device, "made a segment ready to run");
      return device->make({blob.bytes, weights, threads, this, blob.graphs});
    }
  return fail(Code::internal, "device '" + blob.device + "'", "the engine was made without it");
}

}  // namespace tenon::runtime
