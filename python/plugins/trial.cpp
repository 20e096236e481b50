// SPDX-License-Identifier: Apache-2.0
// Cases to try a plugin with, for tenon.test_plugin.
#include "plugins/trial.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "compiler/plugins.h"
#include "convert.h"
#include "handles.h"
#include "ops/core/sample.h"
#include "ops/plugin/plugin_op.h"
#include "plugins/environment.h"

namespace tenon::python {

namespace {

using Files = std::vector<std::filesystem::path>;

struct TrialOp {
  const ir::OpTable& ops;
  const ops::PluginOp& plugin;
};

TrialOp asked(const std::string& name_space, const std::string& name, const Files& plugins) {
  const ir::OpTable& ops = *unwrap(compiler::load_plugins(with_environment(plugins))).ops;
  const ir::Op* const op = ops.find(name_space, name);
  const ops::PluginOp* const plugin = op ? ops::plugin_of(*op) : nullptr;
  if (!plugin)
    raise(fail(Code::bad_usage, "plugin '" + name_space + "::" + name + "'", "no plugin is this op")
              .expected("what @tenon.plugin registered, or an op of a library of plugins"));
  return {ops, *plugin};
}

/// A graph of the op alone, and its inputs. sample: its types, "f32[2,3]; beta=1.5". symbolic: sizes over 1 are symbols.
nb::tuple plugin_case(const std::string& name_space, const std::string& name, const std::string& sample, bool symbolic,
                      const Files& plugins) {
  constexpr uint64_t kSeed = 1;
  const TrialOp at = asked(name_space, name, plugins);
  ops::Sample parsed = unwrap(ops::parse_sample(at.plugin.def(), sample));
  const auto needed = std::ranges::count(at.plugin.op().results, 0, &tenon_port::optional);
  parsed.outputs = std::max(parsed.outputs, static_cast<size_t>(needed));
  ops::SampleCase made = unwrap(ops::build_sample(at.plugin.def(), parsed, kSeed, symbolic, true, at.ops));
  for (uint32_t k = 0; k < made.graph->outputs().size(); ++k)
    made.graph->set_output_name(k, at.plugin.op().results[std::min<size_t>(k, at.plugin.op().results.size() - 1)].name);
  nb::list inputs;
  for (const Tensor& input : made.inputs) inputs.append(numpy_of(input));
  return nb::make_tuple(std::make_shared<PyGraph>(std::move(made.graph)), inputs);
}

/// Its samples, and whether it has a definition.
nb::tuple plugin_samples(const std::string& name_space, const std::string& name, const Files& plugins) {
  const TrialOp at = asked(name_space, name, plugins);
  return nb::make_tuple(at.plugin.op().samples, at.plugin.op().has_definition());
}

}  // namespace

void bind_trial(nb::module_& m) {
  m.def("_plugin_case", &plugin_case, nb::arg("name_space"), nb::arg("name"), nb::arg("sample"), nb::arg("symbolic"), nb::arg("plugins"));
  m.def("_plugin_samples", &plugin_samples, nb::arg("name_space"), nb::arg("name"), nb::arg("plugins"));
}

}  // namespace tenon::python
