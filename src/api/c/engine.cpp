// SPDX-License-Identifier: Apache-2.0
// Engines of the C interface.
#include "api/c/engine.h"

namespace tenon::inline v1 {

Description::Description(const Engine& engine) {
  for (const Entry& e : engine.entries())
    entry_list_.push_back(&entries_.emplace_back(tenon_entry_info{sizeof(tenon_entry_info), e.name.c_str(), e.inputs.size(),
                                                                  add_ports(e.inputs), e.outputs.size(), add_ports(e.outputs)}));
  for (const StateInfo& s : engine.states())
    state_list_.push_back(&states_.emplace_back(tenon_state_info{sizeof(tenon_state_info), s.name.c_str(), static_cast<int32_t>(s.dtype),
                                                                 static_cast<int32_t>(s.shape.size()), s.shape.data(),
                                                                 s.growing_axis ? static_cast<int32_t>(*s.growing_axis) : -1}));
  const EngineSizes sizes = engine.sizes();
  info_ = {sizeof(tenon_engine_info), entry_list_.size(), entry_list_.data(), state_list_.size(),
           state_list_.data(),        sizes.weight_bytes, sizes.code_bytes,   engine.missing_plugins().c_str()};
}

const tenon_value_info* Description::add_port(const Port& port) {
  auto& dimensions = dimensions_.emplace_back();
  for (const std::string& d : port.dimensions) dimensions.push_back(d.c_str());
  const bool has_rank = port.lower.size() == port.dimensions.size();  // not of containers whose tensors have any shape
  return &ports_.emplace_back(tenon_value_info{.struct_size = sizeof(tenon_value_info),
                                               .name = port.name.c_str(),
                                               .dtype = static_cast<int32_t>(port.dtype),
                                               .kind = static_cast<int32_t>(port.kind),
                                               .rank = has_rank ? static_cast<int32_t>(dimensions.size()) : -1,
                                               .has_default = port.has_default ? 1 : 0,
                                               .dimensions = has_rank ? dimensions.data() : nullptr,
                                               .lower = has_rank ? port.lower.data() : nullptr,
                                               .upper = has_rank ? port.upper.data() : nullptr});
}

const tenon_value_info* const* Description::add_ports(std::span<const Port> ports) {
  auto& list = port_lists_.emplace_back();
  for (const Port& p : ports) list.push_back(add_port(p));
  return list.data();
}

namespace {

base::Result<LoadOptions> load_options_of(const tenon_load_options* given) {
  const tenon_load_options o = TRY(read_struct(given, "options"));
  TRY(check_not_negative(o.plugin_timeout_ms, "options: plugin_timeout_ms"));
  if (o.plugin_count > 0) TRY(check_not_null(o.plugins, "options: plugins"));
  LoadOptions out{.verify = o.verify != 0};
  for (const char* path : std::span(o.plugins, o.plugin_count)) {
    TRY(check_not_null(path, "options: plugins"));
    out.plugins.emplace_back(path);
  }
  out.plugin_any_build = o.plugin_any_build != 0;
  out.embedded_plugins = o.embedded_plugins != 0;
  out.isolate_plugins = o.isolate_plugins != 0;
  if (o.plugin_timeout_ms > 0) out.plugin_timeout = std::chrono::milliseconds(o.plugin_timeout_ms);
  out.plugin_memory = o.plugin_memory;
  return out;
}

/// load: gives the engine, given the options.
template <class Load>
int32_t load_with(const tenon_load_options* options, tenon_engine** engine, tenon_error** error, Load load) noexcept {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(engine, "engine"));
    Engine made = TRY(load(TRY(load_options_of(options))));
    *engine = new tenon_engine(std::move(made));
    return {};
  });
}

}  // namespace

}  // namespace tenon::inline v1

// Functions of C are in no namespace.
using namespace tenon::v1;
namespace base = tenon::base;

extern "C" {

int32_t tenon_engine_load(const char* path, const tenon_load_options* options, tenon_engine** engine, tenon_error** error) {
  return load_with(options, engine, error, [&](const LoadOptions& o) -> base::Result<Engine> {
    TRY(check_not_null(path, "path"));
    return inner(Engine::load(path, o));
  });
}

int32_t tenon_engine_load_bytes(const void* bytes, size_t size, const tenon_load_options* options, tenon_engine** engine,
                                tenon_error** error) {
  return load_with(options, engine, error, [&](const LoadOptions& o) -> base::Result<Engine> {
    TRY(check_not_null(bytes, "bytes"));
    return inner(Engine::from_bytes({static_cast<const std::byte*>(bytes), size}, o));
  });
}

void tenon_engine_free(tenon_engine* engine) { delete engine; }

const tenon_engine_info* tenon_engine_describe(const tenon_engine* engine) {
  return engine != nullptr ? &engine->description.info() : nullptr;
}

}  // extern "C"
