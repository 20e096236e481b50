// SPDX-License-Identifier: Apache-2.0
#include "compile_bindings.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tenon/partition.h>

#include "backend_files.h"
#include "buffer.h"
#include "engine_values.h"
#include "graph_compile.h"
#include "log.h"
#include "option_arguments.h"
#include "plugins/environment.h"

namespace tenon_python {

namespace {

[[noreturn]] void refuse_model(const char* expected, const nb::handle& found) {
  raise(tenon::Error{tenon::Code::bad_usage, "model", "this is no model", expected, nb::type_name(found.type()).c_str(),
                     "save the model as an ONNX file and give its path"});
}

/// The bytes of a model in memory, or of an object with SerializeToString. Null: `model` is something else.
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

/// The graph of a network (tenon.graph_rewriting.Network). Null: `model` is something else.
nb::object graph_of(const nb::handle& model) {
  if (tenon::python::is_graph(model)) return nb::borrow(model);
  nb::object graph = nb::getattr(model, "graph", nb::none());
  return tenon::python::is_graph(graph) ? graph : nb::object();
}

/// The functions that take a model, by the form in which it is given.
struct Compile {
  using Answer = tenon::Engine;
  const tenon::CompileOptions& options;

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

/// The options of the function for the model.
tenon::CompileOptions options_of(const char* function, const nb::handle& model, const nb::kwargs& given, bool saving) {
  tenon::CompileOptions options;
  options.progress = step_logger(name_of_model(model));
  read_options(function, given, saving, options);
  options.libraries = libraries_of(options.libraries.files, options.libraries.custom_ops);
  options.plugins = tenon::python::with_environment(options.plugins);
  if (options.measure) options.timing_program = nb::cast<std::vector<std::string>>(nb::module_::import_("tenon._time").attr("command")());
  return options;
}

nb::object compile(const nb::object& model, const nb::kwargs& given) {
  const tenon::CompileOptions options = options_of("compile", model, given, true);
  return Compile::shown(with_model(model, Compile{options}));
}

nb::object partition(const nb::object& model, bool dry_run, const nb::kwargs& given) {
  const tenon::CompileOptions options = options_of("partition", model, given, false);
  return Partition::shown(with_model(model, Partition{options, dry_run}));
}

#define TENON_PYTHON_SIGNATURE(FUNCTION, TEXT) constexpr const char* k_##FUNCTION##_signature = TEXT;
#include "tenon/compile_options.inc"

std::vector<std::string> torch_options() {
  std::vector<std::string> out;
#define TENON_TORCH_OPTION(KEYWORD) out.emplace_back(#KEYWORD);
#include "tenon/compile_options.inc"
  return out;
}

}  // namespace

void bind_compile(nb::module_& m) {
  m.def("compile", &compile, nb::arg("model").none(), nb::arg("options"), nb::sig(k_compile_signature));
  m.def("partition", &partition, nb::arg("model").none(), nb::kw_only(), nb::arg("dry_run") = false, nb::arg("options"),
        nb::sig(k_partition_signature));
  m.attr("_torch_options") = torch_options();
}

}  // namespace tenon_python
