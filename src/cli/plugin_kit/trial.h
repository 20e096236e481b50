// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/plugin_kit/plugin_case.h"
#include "cli/plugin_kit/plugin_run.h"

namespace tenon::cli {

/// An object created from the fields that another one saved, as when an engine is loaded.
struct ReloadedObject {
  std::unique_ptr<plugin::Object> object;
  std::vector<plugin::Field> fields;  ///< the saved fields
};
/// Saves an object, and creates another one from its fields. Errors: those of `save` and `create`.
Result<ReloadedObject> save_and_reload(const plugin::Object& object, const PluginCase& at);

/// What one check works on: the plugin and its cases. report() adds a finding to those of the check.
class Trial {
 public:
  using FindingSink = std::function<void(const std::string& sample, const std::string& what)>;
  Trial(const TestedPlugin& plugin, const PluginCases& drawn, FindingSink sink) : plugin(plugin), drawn(drawn), sink_(std::move(sink)) {}

  const TestedPlugin& plugin;
  const PluginCases& drawn;

  const plugin::Op& op() const { return plugin.op; }
  const std::vector<PluginCase>& cases() const { return drawn.cases; }
  void report(const PluginCase& at, const std::string& what) { sink_(at.text, what); }
  void report(const PluginCase& at, std::string_view what, const Error& error);
  void report(const std::string& sample, const std::string& what) { sink_(sample, what); }

  /// A new object; null, with a finding, where the op does not make one.
  std::unique_ptr<plugin::Object> object(const PluginCase& at);
  /// Saves the object and makes another one from its fields; none, with a finding, where one of the two fails.
  std::optional<ReloadedObject> loaded(const plugin::Object& object, const PluginCase& at);
  /// Sets the shapes and runs once; none, with a finding, where one of the two fails: a plugin must take every case.
  std::optional<RunResults> run(const plugin::Object& object, const PluginCase& at, const PluginRunOptions& options = {},
                                const plugin::Layouts& layouts = {});
  /// One run with the shapes that are set; none, with a finding, where it fails.
  std::optional<RunResults> run_once(PluginRun& run, const PluginCase& at, const PluginRunOptions& options = {},
                                     const std::vector<Tensor>* operands = nullptr);
  bool set_shapes(PluginRun& run, const PluginCase& at, const PluginCase* workspace_of = nullptr);
  /// The results of one run of a new object, with which checks compare others. None as with run().
  std::optional<std::vector<Tensor>> expected(const PluginCase& at);
  /// Reports a finding where the results differ in a bit. The results of ops that are random may differ.
  void expect_same(const PluginCase& at, const std::string& when, const std::vector<Tensor>& expected, const std::vector<Tensor>& found);
  /// Other operand values of the same types.
  std::vector<Tensor> other_operands(const PluginCase& at, uint64_t seed) const;

 private:
  FindingSink sink_;
};

/// One property of plugins.
struct Check {
  std::string_view name;  ///< "canaries"
  std::string_view docs;  ///< the property that a correct plugin has
  bool (*applies)(const plugin::Op& op);
  void (*run)(Trial& trial);
};
/// All checks, in the order in which they run; the first is that the op runs at all, and the others need that.
std::span<const Check> all_checks();

}  // namespace tenon::cli
