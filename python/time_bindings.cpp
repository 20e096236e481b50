// SPDX-License-Identifier: Apache-2.0
// Functions of the child process that runs and times engines (tenon/_time.py).
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "compiler/measure/measure_run.h"
#include "compiler/plugins.h"
#include "handles.h"

namespace tenon::python {

namespace {

using Files = std::vector<std::filesystem::path>;
using FilesByName = std::map<std::string, std::filesystem::path>;

compiler::LoadOptions options_of(int threads, FilesByName libraries, Files custom_ops, const Files& files) {
  auto plugins = unwrap(compiler::load_plugins(files));
  compiler::LoadOptions options{
      .threads = threads,
      .ops = plugins.ops,
      .libraries = {.files = {}, .packages = {}, .custom_ops = std::move(custom_ops), .plugins = std::move(plugins.registry)}};
  for (auto& [name, file] : libraries) options.libraries.files.emplace(name, std::move(file));
  return options;
}

double measure_run_ns(const std::filesystem::path& engine, int threads, FilesByName libraries, Files custom_ops, const Files& plugins) {
  return unwrap(compiler::measure_run_ns(engine, options_of(threads, std::move(libraries), std::move(custom_ops), plugins)));
}

void write_results(const std::filesystem::path& engine, int threads, FilesByName libraries, Files custom_ops, const Files& plugins) {
  unwrap(compiler::write_results(engine, options_of(threads, std::move(libraries), std::move(custom_ops), plugins)));
}

}  // namespace

void bind_time(nb::module_& m) {
  m.def("_run_time", &measure_run_ns, nb::arg("engine"), nb::arg("threads"), nb::arg("libraries"), nb::arg("custom_ops"),
        nb::arg("plugins"));
  m.def("_keep_results", &write_results, nb::arg("engine"), nb::arg("threads"), nb::arg("libraries"), nb::arg("custom_ops"),
        nb::arg("plugins"));
}

}  // namespace tenon::python
