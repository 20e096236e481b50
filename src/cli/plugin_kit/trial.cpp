// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/trial.h"

namespace tenon::cli {

Result<ReloadedObject> save_and_reload(const plugin::Object& object, const PluginCase& at) {
  auto fields = TRY(object.save(at.fields));
  auto made = TRY(create_at(object.op(), at, TENON_RUN, fields));
  return ReloadedObject{std::move(made), std::move(fields)};
}

void Trial::report(const PluginCase& at, std::string_view what, const Error& error) {
  sink_(at.text, std::string(what) + ": " + error->what + (error->found.empty() ? "" : ", " + error->found));
}

std::unique_ptr<plugin::Object> Trial::object(const PluginCase& at) {
  auto made = create_at(op(), at, TENON_BUILD, at.fields);
  if (made) return *std::move(made);
  report(at, "it makes no object", made.error());
  return nullptr;
}

std::optional<ReloadedObject> Trial::loaded(const plugin::Object& object, const PluginCase& at) {
  auto made = save_and_reload(object, at);
  if (made) return *std::move(made);
  report(at, "it is not saved and made again", made.error());
  return std::nullopt;
}

bool Trial::set_shapes(PluginRun& run, const PluginCase& at, const PluginCase* workspace_of) {
  const auto done = run.set_shapes(workspace_of);
  if (!done) report(at, "it does not take the shapes", done.error());
  return done.has_value();
}

std::optional<RunResults> Trial::run_once(PluginRun& run, const PluginCase& at, const PluginRunOptions& options,
                                          const std::vector<Tensor>* operands) {
  auto done = run.run(options, operands);
  if (done) return *std::move(done);
  report(at, "it does not run", done.error());
  return std::nullopt;
}

std::optional<RunResults> Trial::run(const plugin::Object& object, const PluginCase& at, const PluginRunOptions& options,
                                     const plugin::Layouts& layouts) {
  PluginRun made(object, at, layouts);
  if (!set_shapes(made, at)) return std::nullopt;
  return run_once(made, at, options);
}

std::optional<std::vector<Tensor>> Trial::expected(const PluginCase& at) {
  const auto made = object(at);
  if (!made) return std::nullopt;
  auto done = run(*made, at);
  if (!done) return std::nullopt;
  return std::move(done->tensors);
}

void Trial::expect_same(const PluginCase& at, const std::string& when, const std::vector<Tensor>& expected,
                        const std::vector<Tensor>& found_now) {
  if (op().table.is_random) return;
  if (const std::string apart = difference(expected, found_now); !apart.empty()) report(at, when + ": " + apart);
}

std::vector<Tensor> Trial::other_operands(const PluginCase& at, uint64_t seed) const {
  auto made = make_case(plugin, at.sample, seed);
  return made ? std::move(made->made.operands) : at.made.operands;
}

}  // namespace tenon::cli
