// SPDX-License-Identifier: Apache-2.0
#include "engine_bindings.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tenon/tenon.h>

#include <chrono>
#include <optional>
#include <span>

#include "backend_files.h"
#include "engine_context.h"
#include "engine_run.h"
#include "engine_values.h"
#include "log.h"
#include "package_name.h"
#include "plugins/environment.h"

namespace tenon_python {

namespace {

template <class T>
T unwrap(tenon::Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

tenon::LoadOptions load_options(bool verify, const BackendFiles& backend_libraries, const Files& custom_ops, const Files& plugins,
                                bool plugin_any_build, bool embedded_plugins, bool isolate_plugins, double plugin_timeout,
                                uint64_t plugin_memory) {
  return {.verify = verify,
          .libraries = libraries_of(backend_libraries, custom_ops),
          .plugins = tenon::python::with_environment(plugins),
          .plugin_any_build = plugin_any_build,
          .embedded_plugins = embedded_plugins,
          .isolate_plugins = isolate_plugins,
          .plugin_timeout = tenon::python::timeout_of(plugin_timeout),
          .plugin_memory = plugin_memory};
}

/// `load`: called without the GIL.
template <class Load>
tenon::Engine opened(const Load& load, const std::string& name) {
  auto engine = [&] {
    const nb::gil_scoped_release released;
    return load();
  }();
  const std::string missing = engine ? engine->missing_plugins() : "";
  if (!missing.empty() && PyErr_WarnEx(PyExc_UserWarning, ("definitions run in place of plugins: " + missing).c_str(), 1) != 0)
    throw nb::python_error();
  if (engine && is_logging()) write_log(name + ": loaded");
  return unwrap(std::move(engine));
}

template <class... Options>
tenon::Engine load(const std::filesystem::path& path, const Options&... options) {
  const tenon::LoadOptions all = load_options(options...);
  return opened([&] { return tenon::Engine::load(path, all); }, path.filename().string());
}

template <class... Options>
tenon::Engine load_bytes(const nb::bytes& bytes, const Options&... options) {
  const tenon::LoadOptions all = load_options(options...);
  const std::span file(static_cast<const std::byte*>(bytes.data()), bytes.size());
  return opened([&] { return tenon::Engine::from_bytes(file, all); }, "engine in memory");
}

/// Binds `call`, one of the above, with the options of load_options().
template <class Call>
void def_load(nb::module_& m, const char* name, Call call, const char* source) {
  m.def(name, call, nb::arg(source), nb::kw_only(), nb::arg("verify") = false, nb::arg("backend_libraries") = BackendFiles(),
        nb::arg("custom_ops") = Files(), nb::arg("plugins") = Files(), nb::arg("plugin_any_build") = false,
        nb::arg("embedded_plugins") = false, nb::arg("isolate_plugins") = false, nb::arg("plugin_timeout") = 300.0,
        nb::arg("plugin_memory") = 0);
}

/// For pickle: (tenon._pickle.restore, the engine file and the options that load it).
nb::tuple reduced(const tenon::Engine& engine) {
  auto bytes = unwrap([&] {
    const nb::gil_scoped_release released;
    return engine.bytes();
  }());
  const tenon::LoadOptions& options = engine.load_options();
  nb::dict named;
  named["backend_libraries"] = options.libraries.files;
  named["custom_ops"] = options.libraries.custom_ops;
  named["plugins"] = options.plugins;
  named["plugin_any_build"] = options.plugin_any_build;
  named["embedded_plugins"] = options.embedded_plugins;
  named["isolate_plugins"] = options.isolate_plugins;
  named["plugin_timeout"] = std::chrono::duration<double>(options.plugin_timeout).count();
  named["plugin_memory"] = options.plugin_memory;
  const nb::object restore = nb::module_::import_((std::string(kPackageName) + "._pickle").c_str()).attr("restore");
  return nb::make_tuple(restore, nb::make_tuple(nb::bytes(bytes.data(), bytes.size()), named));
}

void save_engine(const tenon::Engine& engine, const std::filesystem::path& path, bool portable) {
  auto saved = [&] {
    const nb::gil_scoped_release released;
    return engine.save(path, portable);
  }();
  unwrap(std::move(saved));
}

tenon::ThreadPool make_thread_pool(std::optional<int> threads, const std::optional<std::vector<int>>& cpus) {
  return unwrap(tenon::ThreadPool::create({threads, cpus.value_or(std::vector<int>())}));
}

std::string thread_pool_text(const tenon::ThreadPool& thread_pool) {
  std::string cpus;
  for (const int n : thread_pool.cpus()) cpus += (cpus.empty() ? ", cpus=[" : ", ") + std::to_string(n);
  return "ThreadPool(threads=" + std::to_string(thread_pool.threads()) + cpus + (cpus.empty() ? ")" : "])");
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " B";
  const bool mega = bytes >= 10'000'000;
  const std::string tenths = std::to_string(bytes / (mega ? 100'000 : 100));
  return tenths.substr(0, tenths.size() - 1) + "." + tenths.back() + (mega ? " MB" : " kB");
}

std::string ports_text(std::span<const tenon::Port> ports) {
  std::string out;
  for (const tenon::Port& p : ports) out += (out.empty() ? "" : ", ") + p.name + ": " + port_text(p) + (p.has_default ? " = ..." : "");
  return out;
}

/// " (x: f32[n]) -> (y: f32[n])"
std::string signature(const tenon::Entry& e) { return " (" + ports_text(e.inputs) + ") -> (" + ports_text(e.outputs) + ")"; }

std::string engine_text(const tenon::Engine& e) {
  const tenon::EngineSizes sizes = e.sizes();
  std::string entries = signature(e.entries()[0]);
  for (const tenon::Entry& entry : e.entries().subspan(1)) entries += ", " + entry.name + signature(entry);
  for (const tenon::StateInfo& s : e.states()) entries += ", state " + s.name + ": " + s.type;
  return "<Engine" + entries + "; " + bytes_text(sizes.weight_bytes) + " of weights, " + bytes_text(sizes.code_bytes) + " of code, " +
         std::to_string(sizes.steps) + " steps>";
}

std::vector<tenon::Port> ports(std::span<const tenon::Port> from) { return {from.begin(), from.end()}; }

}  // namespace

void bind_engine(nb::module_& m) {
  nb::class_<tenon::Port>(m, "Port")
      .def_ro("name", &tenon::Port::name)
      .def_prop_ro("dtype", [](const tenon::Port& p) { return std::string(tenon::name_of(p.dtype)); })
      .def_prop_ro("kind", [](const tenon::Port& p) { return std::string(name_of(p.kind)); })
      .def_ro("dimensions", &tenon::Port::dimensions)
      .def_ro("has_default", &tenon::Port::has_default)
      .def("__repr__", [](const tenon::Port& p) { return "<" + p.name + ": " + port_text(p) + ">"; });
  nb::class_<tenon::ThreadPool>(m, "ThreadPool")
      .def(nb::new_(&make_thread_pool), nb::kw_only(), nb::arg("threads") = nb::none(), nb::arg("cpus") = nb::none())
      .def_prop_ro("threads", &tenon::ThreadPool::threads)
      .def_prop_ro("cpus", &tenon::ThreadPool::cpus)
      .def("__repr__", &thread_pool_text);
  nb::class_<tenon::Entry>(m, "Entry")
      .def_ro("name", &tenon::Entry::name)
      .def_prop_ro("inputs", [](const tenon::Entry& e) { return ports(e.inputs); })
      .def_prop_ro("outputs", [](const tenon::Entry& e) { return ports(e.outputs); })
      .def("__repr__", [](const tenon::Entry& e) { return "<" + e.name + signature(e) + ">"; });
  nb::class_<tenon::StateInfo>(m, "State")
      .def_ro("name", &tenon::StateInfo::name)
      .def_prop_ro("dtype", [](const tenon::StateInfo& s) { return std::string(tenon::name_of(s.dtype)); })
      .def_prop_ro("shape", [](const tenon::StateInfo& s) { return nb::tuple(nb::cast(s.shape)); })
      .def_ro("growing_axis", &tenon::StateInfo::growing_axis)
      .def("__repr__", [](const tenon::StateInfo& s) { return "<" + s.name + ": " + s.type + ">"; });
  nb::class_<tenon::Engine> engine(m, "Engine");
  nb::class_<PyContext> context(m, "Context");
  bind_context(context);
  bind_run(m, engine, context);
  engine.def("__repr__", &engine_text)
      .def("__reduce__", &reduced)
      .def("__copy__", [](const nb::object& self) { return self; })
      .def("__deepcopy__", [](const nb::object& self, const nb::handle&) { return self; })
      .def("save", &save_engine, nb::arg("path"), nb::kw_only(), nb::arg("portable") = false)
      .def_prop_ro("entries", [](const tenon::Engine& e) { return std::vector<tenon::Entry>(e.entries().begin(), e.entries().end()); })
      .def_prop_ro("states", [](const tenon::Engine& e) { return std::vector<tenon::StateInfo>(e.states().begin(), e.states().end()); })
      .def_prop_ro("inputs", [](const tenon::Engine& e) { return ports(e.inputs()); })
      .def_prop_ro("outputs", [](const tenon::Engine& e) { return ports(e.outputs()); })
      .def_prop_ro("missing_plugins", &tenon::Engine::missing_plugins);
  def_load(m, "load", &load<bool, BackendFiles, Files, Files, bool, bool, bool, double, uint64_t>, "path");
  def_load(m, "_load_bytes", &load_bytes<bool, BackendFiles, Files, Files, bool, bool, bool, double, uint64_t>, "bytes");
}

}  // namespace tenon_python
