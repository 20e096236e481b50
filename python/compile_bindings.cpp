// SPDX-License-Identifier: Apache-2.0
#include "compile_bindings.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <tenon/partition.h>

#include <optional>

#include "backend_files.h"
#include "base/dtype.h"
#include "buffer.h"
#include "engine_values.h"
#include "graph_compile.h"
#include "log.h"
#include "plugins/environment.h"

namespace tenon_python {

namespace {

[[noreturn]] void refuse_model(const char* expected, const nb::handle& found) {
  raise(tenon::Error{tenon::Code::bad_usage, "model", "this is no model", expected, nb::type_name(found.type()).c_str(),
                     "save the model as an ONNX file and give its path"});
}

/// Of a model in memory; an object with SerializeToString gives its bytes. Null: `model` is something else.
nb::object bytes_of(const nb::handle& model) {
  if (PyBytes_Check(model.ptr())) return nb::borrow(model);
  if (PyObject_CheckBuffer(model.ptr())) return nb::steal(PyBytes_FromObject(model.ptr()));
  if (!nb::hasattr(model, "SerializeToString")) return {};
  nb::object bytes = model.attr("SerializeToString")();
  if (!PyBytes_Check(bytes.ptr())) refuse_model("bytes from SerializeToString()", bytes);
  return bytes;
}

std::span<const std::byte> span_of(const nb::object& bytes) {
  return {reinterpret_cast<const std::byte*>(PyBytes_AsString(bytes.ptr())), static_cast<size_t>(PyBytes_Size(bytes.ptr()))};
}

/// Of a declared network, which has one (tenon.graph_rewriting.Network). Null: `model` is something else.
nb::object graph_of(const nb::handle& model) {
  if (tenon::python::is_graph(model)) return nb::borrow(model);
  nb::object graph = nb::getattr(model, "graph", nb::none());
  return tenon::python::is_graph(graph) ? graph : nb::object();
}

tenon::Precision precision_of(const std::string& name) {
  if (name == "f32") return tenon::Precision::f32;
  if (name == "bf16") return tenon::Precision::bf16;
  raise(tenon::Error{tenon::Code::bad_usage, "precision", "there is no such precision", "f32 or bf16", name, ""});
}

/// What is done with a model, by what it is given as.
struct Compile {
  using Answer = tenon::Engine;
  const tenon::CompileOptions& options;

  Compile(tenon::CompileOptions& said, bool embed_plugins, bool plugin_fallback) : options(said) {
    said.embed_plugins = embed_plugins;
    said.plugin_fallback = plugin_fallback;
  }

  static nb::object shown(tenon::Engine engine) { return nb::cast(std::move(engine)); }
  auto graph(const nb::object& graph) const { return tenon::python::compile_graph(graph, options); }
  auto bytes(nb::object bytes) const {
    const auto model = span_of(bytes);
    // The bytes live as long as the weights that lie in them; any thread may let go of them.
    const std::shared_ptr<const void> keeper(new nb::object(std::move(bytes)), [](const nb::object* held) {
      const nb::gil_scoped_acquire acquired;
      delete held;
    });
    const nb::gil_scoped_release released;
    return tenon::compile(model, options, keeper);
  }
  auto file(const std::filesystem::path& path) const {
    const nb::gil_scoped_release released;
    return tenon::compile(path, options);
  }
};

struct Partition {
  using Answer = std::string;
  const tenon::CompileOptions& options;
  bool dry_run;

  static nb::object shown(const std::string& json) { return nb::module_::import_("json").attr("loads")(json); }
  auto graph(const nb::object& graph) const { return tenon::python::partition_graph(graph, options, !dry_run); }
  auto bytes(const nb::object& bytes) const {
    const nb::gil_scoped_release released;
    return tenon::partition(span_of(bytes), options, !dry_run);
  }
  auto file(const std::filesystem::path& path) const {
    const nb::gil_scoped_release released;
    return tenon::partition(path, options, !dry_run);
  }
};

/// For messages.
std::string name_of_model(const nb::handle& model) {
  std::filesystem::path path;
  if (!PyBytes_Check(model.ptr()) && nb::try_cast(model, path)) return path.filename().string();
  return nb::type_name(model.type()).c_str();
}

template <class Do>
typename Do::Answer with_model(const nb::handle& model, const Do& what) {
  const auto answer = [&] {
    if (const nb::object graph = graph_of(model); graph.is_valid()) return what.graph(graph);
    if (nb::object bytes = bytes_of(model); bytes.is_valid()) return what.bytes(std::move(bytes));
    std::filesystem::path path;
    if (!nb::try_cast(model, path))
      refuse_model("a path, the bytes of an ONNX model, an object with SerializeToString, a tenon.rewriting.Graph or a Network", model);
    return what.file(path);
  }();
  if (!answer) raise(answer.error());
  return *answer;
}

tenon::Assign assign_of(const std::string& name) {
  if (name == "priority") return tenon::Assign::priority;
  if (name == "cost") return tenon::Assign::cost;
  raise(tenon::Error{tenon::Code::bad_usage, "assign", "there is no such way to share a graph out", "priority or cost", name, ""});
}

tenon::Segmenter segmenter_of(const std::string& name) {
  if (name == "fewest") return tenon::Segmenter::fewest;
  if (name == "walk") return tenon::Segmenter::walk;
  raise(tenon::Error{tenon::Code::bad_usage, "segmenter", "there is no such way to cut a graph", "fewest or walk", name, ""});
}

using Folder = std::optional<std::filesystem::path>;
/// A size: a number, or the least, the usual and the most.
using Size = std::variant<int64_t, std::tuple<int64_t, int64_t, int64_t>>;
using Shapes = std::map<std::string, std::vector<Size>>;
using Limits = std::map<std::string, int64_t>;
using Names = std::vector<std::string>;
using Pins = std::map<std::string, std::string>;
using Types = std::map<std::string, std::string>;
using Tactics = std::map<std::string, int32_t>;

tenon::InputRange range_of(const std::vector<Size>& sizes) {
  tenon::InputRange out;
  for (const Size& size : sizes) {
    const int64_t* one = std::get_if<int64_t>(&size);
    const auto [least, usual, most] = one ? std::tuple(*one, *one, *one) : std::get<1>(size);
    out.least.push_back(least);
    out.usual.push_back(usual);
    out.most.push_back(most);
  }
  return out;
}

tenon::DType type_of(const std::string& name) {
  if (const auto known = tenon::dtype_named(name)) return *known;
  raise(tenon::Error{tenon::Code::bad_usage, "narrow", "there is no such element type", R"({"f64": "f32", "i64": "i32"})", name, ""});
}

/// What Python calls: everything that may be said beside a model, and what is said to `Do` alone.
template <class Do, class... More>
nb::object call(const nb::object& model, const Folder& external_data, int opt, int threads, const Shapes& shapes, const Names& outputs,
                const Names& backends, const BackendFiles& libraries, const Files& custom_ops, const std::string& assign, bool measure,
                std::optional<int64_t> min_block_size, const Names& fallback_ops, const Names& fallback_modules, const Pins& pins,
                bool require_full, const Limits& memory, const Types& narrow, const std::string& segmenter, const Files& plugins,
                const Names& prefer, const Tactics& plugin_tactics, bool isolate_plugins, double plugin_patience, uint64_t plugin_memory,
                bool winograd, const std::string& precision, bool freeze_defaults, More... more) {
  tenon::CompileOptions options;
  options.progress = step_logger(name_of_model(model));
  if (external_data) options.external_data = *external_data;
  options.opt = opt;
  options.threads = threads;
  for (const auto& [input, sizes] : shapes) options.ranges.emplace(input, range_of(sizes));
  options.outputs = outputs;
  options.backends = backends;
  options.libraries = libraries_of(libraries, custom_ops);
  options.assign = assign_of(assign);
  options.measure = measure;
  if (measure) options.stopwatch = nb::cast<Names>(nb::module_::import_("tenon._stopwatch").attr("command")());
  options.min_block_size = min_block_size;
  options.fallback_ops = fallback_ops;
  options.fallback_modules = fallback_modules;
  for (const auto& [name, backend] : pins) options.pins.push_back({name, backend});
  options.require_full = require_full;
  options.memory = memory;
  options.segmenter = segmenter_of(segmenter);
  options.plugins = tenon::python::with_environment(plugins);
  options.prefer = prefer;
  options.plugin_tactics = plugin_tactics;
  options.isolate_plugins = isolate_plugins;
  options.plugin_patience = tenon::python::patience_of(plugin_patience);
  options.plugin_memory = plugin_memory;
  options.winograd = winograd;
  options.precision = precision_of(precision);
  options.freeze_defaults = freeze_defaults;
  for (const auto& [from, to] : narrow) options.narrow.emplace(type_of(from), type_of(to));
  return Do::shown(with_model(model, Do{options, more...}));
}

template <class Do, class... More, class... Args>
void def(nb::module_& m, const char* name, Args... more) {
  m.def(name, &call<Do, More...>, nb::arg("model").none(), nb::kw_only(), nb::arg("external_data") = nb::none(), nb::arg("opt") = 3,
        nb::arg("threads") = 0, nb::arg("shapes") = Shapes(), nb::arg("outputs") = Names(), nb::arg("backends") = Names(),
        nb::arg("backend_libraries") = BackendFiles(), nb::arg("custom_ops") = Files(), nb::arg("assign") = "priority",
        nb::arg("measure") = false, nb::arg("min_block_size") = nb::none(), nb::arg("fallback_ops") = Names(),
        nb::arg("fallback_modules") = Names(), nb::arg("pins") = Pins(), nb::arg("require_full") = false, nb::arg("memory") = Limits(),
        nb::arg("narrow") = Types(), nb::arg("segmenter") = "fewest", nb::arg("plugins") = Files(), nb::arg("prefer") = Names(),
        nb::arg("plugin_tactics") = Tactics(), nb::arg("isolate_plugins") = false, nb::arg("plugin_patience") = 300.0,
        nb::arg("plugin_memory") = 0, nb::arg("winograd") = true, nb::arg("precision") = "f32", nb::arg("freeze_defaults") = false,
        more...);
}

}  // namespace

/// Whose library is where: as named, else among the packages of this Python.
void bind_compile(nb::module_& m) {
  def<Compile, bool, bool>(m, "compile", nb::arg("embed_plugins") = false, nb::arg("plugin_fallback") = false);
  def<Partition, bool>(m, "partition", nb::arg("dry_run") = false);
}

}  // namespace tenon_python
