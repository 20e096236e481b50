// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tenon/tenon.h>

#include <optional>

#include "engine_values.h"
#include "graph_compile.h"

namespace nb = nanobind;
using namespace tenon_python;

namespace {

template <class T>
T unwrap(tenon::Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

nb::dict run(const tenon::Engine& engine, const nb::dict& inputs, int threads, const std::optional<tenon::Team>& team, bool guard) {
  InputReader reader(engine);
  tenon::Arrays arrays;
  for (const auto& [key, value] : inputs) {
    const auto name = nb::cast<std::string>(key);
    arrays.emplace(name, reader.read(value, name));
  }
  tenon::RunOptions options;
  options.threads = threads;
  options.guard = guard;
  if (team) options.team = *team;
  const auto results = [&] {
    const nb::gil_scoped_release released;
    return engine.run(arrays, options);
  }();
  if (!results) raise(results.error());
  nb::dict out;
  for (const tenon::Port& port : engine.outputs()) out[port.name.c_str()] = numpy_of(results->at(port.name), port.name);
  return out;
}

[[noreturn]] void refuse_model(const char* expected, const nb::handle& found) {
  raise(tenon::Error{tenon::Code::bad_usage, "model", "this is no model", expected, nb::type_name(found.type()).c_str(),
                     "save the model as an ONNX file and give its path"});
}

/// Of a model in memory; whatever has SerializeToString is asked for its bytes. Null: `model` is something else.
nb::object bytes_of(const nb::handle& model) {
  if (PyBytes_Check(model.ptr())) return nb::borrow(model);
  if (PyObject_CheckBuffer(model.ptr())) return nb::steal(PyBytes_FromObject(model.ptr()));
  if (!nb::hasattr(model, "SerializeToString")) return {};
  nb::object bytes = model.attr("SerializeToString")();
  if (!PyBytes_Check(bytes.ptr())) refuse_model("bytes from SerializeToString()", bytes);
  return bytes;
}

tenon::Result<tenon::Engine> compile_bytes(nb::object bytes, const tenon::CompileOptions& options) {
  const std::span model(reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(bytes.ptr())),
                        static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
  // The bytes live as long as the weights that lie in them; any thread may let go of them.
  const std::shared_ptr<const void> keeper(new nb::object(std::move(bytes)), [](const nb::object* held) {
    const nb::gil_scoped_acquire acquired;
    delete held;
  });
  const nb::gil_scoped_release released;
  return tenon::compile(model, options, keeper);
}

/// Of a declared network, which has one (tenon.graph_rewriting.Network). Null: `model` is something else.
nb::object graph_of(const nb::handle& model) {
  if (tenon::python::is_graph(model)) return nb::borrow(model);
  nb::object graph = nb::getattr(model, "graph", nb::none());
  return tenon::python::is_graph(graph) ? graph : nb::object();
}

tenon::Result<tenon::Engine> compile_any(const nb::handle& model, const tenon::CompileOptions& options) {
  if (const nb::object graph = graph_of(model); graph.is_valid()) return tenon::python::compile_graph(graph, options);
  if (nb::object bytes = bytes_of(model); bytes.is_valid()) return compile_bytes(std::move(bytes), options);
  std::filesystem::path path;
  if (!nb::try_cast(model, path))
    refuse_model("a path, the bytes of an ONNX model, an object with SerializeToString, a tenon.rewriting.Graph or a Network", model);
  const nb::gil_scoped_release released;
  return tenon::compile(path, options);
}

/// Whose library is where: as named, else among the packages of this Python.
tenon::BackendLibraries libraries_of(const std::map<std::string, std::filesystem::path>& files) {
  tenon::BackendLibraries out{.files = files, .packages = {}};
  for (const nb::handle folder : nb::module_::import_("sys").attr("path"))
    if (std::string text; nb::try_cast(folder, text) && !text.empty()) out.packages.emplace_back(text);
  return out;
}

tenon::Engine compile(const nb::object& model, const std::optional<std::filesystem::path>& external_data, int opt, int threads,
                      const std::map<std::string, std::vector<int64_t>>& shapes, const std::vector<std::string>& backends,
                      const std::map<std::string, std::filesystem::path>& backend_libraries) {
  tenon::CompileOptions options;
  if (external_data) options.external_data = *external_data;
  options.opt = opt;
  options.threads = threads;
  options.shapes = shapes;
  options.backends = backends;
  options.libraries = libraries_of(backend_libraries);
  return unwrap(compile_any(model, options));
}

tenon::Engine load(const std::filesystem::path& path, bool verify, const std::map<std::string, std::filesystem::path>& backend_libraries) {
  const tenon::LoadOptions options{.verify = verify, .libraries = libraries_of(backend_libraries)};
  auto engine = [&] {
    const nb::gil_scoped_release released;
    return tenon::Engine::load(path, options);
  }();
  return unwrap(std::move(engine));
}

void save(const tenon::Engine& engine, const std::filesystem::path& path, bool portable) {
  auto saved = [&] {
    const nb::gil_scoped_release released;
    return engine.save(path, portable);
  }();
  unwrap(std::move(saved));
}

tenon::Team make_team(std::optional<int> threads, const std::optional<std::vector<int>>& cpus) {
  return unwrap(tenon::Team::create({threads, cpus.value_or(std::vector<int>())}));
}

std::string team_text(const tenon::Team& team) {
  std::string cpus;
  for (const int n : team.cpus()) cpus += (cpus.empty() ? ", cpus=[" : ", ") + std::to_string(n);
  return "Team(threads=" + std::to_string(team.threads()) + cpus + (cpus.empty() ? ")" : "])");
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " B";
  const bool mega = bytes >= 10'000'000;
  const std::string tenths = std::to_string(bytes / (mega ? 100'000 : 100));
  return tenths.substr(0, tenths.size() - 1) + "." + tenths.back() + (mega ? " MB" : " kB");
}

std::string ports_text(std::span<const tenon::Port> ports) {
  std::string out;
  for (const tenon::Port& p : ports) out += (out.empty() ? "" : ", ") + p.name + ": " + port_text(p);
  return out;
}

std::string engine_text(const tenon::Engine& e) {
  const tenon::EngineSizes sizes = e.sizes();
  return "<Engine (" + ports_text(e.inputs()) + ") -> (" + ports_text(e.outputs()) + "); " + bytes_text(sizes.weight_bytes) +
         " of weights, " + bytes_text(sizes.code_bytes) + " of code, " + std::to_string(sizes.steps) + " steps>";
}

std::vector<tenon::Port> ports(std::span<const tenon::Port> from) { return {from.begin(), from.end()}; }

}  // namespace

namespace tenon::python {
void bind_graph(nanobind::module_& m);
void bind_nodes(nanobind::module_& m);
void bind_rewrite(nanobind::module_& m);
void bind_scene(nanobind::module_& m);
}  // namespace tenon::python

NB_MODULE(_tenon, m) {
  nb::set_leak_warnings(false);  // an exception that ends the program keeps its frames alive
  nb::class_<tenon::Port>(m, "Port")
      .def_ro("name", &tenon::Port::name)
      .def_prop_ro("dtype", [](const tenon::Port& p) { return std::string(tenon::name_of(p.dtype)); })
      .def_prop_ro("kind", [](const tenon::Port& p) { return std::string(name_of(p.kind)); })
      .def_ro("dimensions", &tenon::Port::dimensions)
      .def("__repr__", [](const tenon::Port& p) { return "<" + p.name + ": " + port_text(p) + ">"; });
  nb::class_<tenon::Team>(m, "Team")
      .def(nb::new_(&make_team), nb::kw_only(), nb::arg("threads") = nb::none(), nb::arg("cpus") = nb::none())
      .def_prop_ro("threads", &tenon::Team::threads)
      .def_prop_ro("cpus", &tenon::Team::cpus)
      .def("__repr__", &team_text);
  nb::class_<tenon::Engine>(m, "Engine")
      .def("run", &run, nb::arg("inputs"), nb::kw_only(), nb::arg("threads") = 0, nb::arg("team") = nb::none(), nb::arg("guard") = false)
      .def("__repr__", &engine_text)
      .def("save", &save, nb::arg("path"), nb::kw_only(), nb::arg("portable") = false)
      .def_prop_ro("inputs", [](const tenon::Engine& e) { return ports(e.inputs()); })
      .def_prop_ro("outputs", [](const tenon::Engine& e) { return ports(e.outputs()); });
  m.def("compile", &compile, nb::arg("model").none(), nb::kw_only(), nb::arg("external_data") = nb::none(), nb::arg("opt") = 3,
        nb::arg("threads") = 0, nb::arg("shapes") = std::map<std::string, std::vector<int64_t>>(),
        nb::arg("backends") = std::vector<std::string>(), nb::arg("backend_libraries") = std::map<std::string, std::filesystem::path>());
  m.def("load", &load, nb::arg("path"), nb::kw_only(), nb::arg("verify") = false,
        nb::arg("backend_libraries") = std::map<std::string, std::filesystem::path>());
  tenon::python::bind_nodes(m);
  tenon::python::bind_graph(m);
  tenon::python::bind_rewrite(m);
  tenon::python::bind_scene(m);
}
