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

/// An object that an engine makes of what another one saves.
struct Loaded {
  std::unique_ptr<plugin::Object> object;
  std::vector<plugin::Field> fields;  ///< what was saved
};
/// Errors: what `save` and `create` say.
Result<Loaded> saved_and_loaded(const plugin::Object& object, const PluginCase& at);

/// What one check works on, and where it reports findings.
class Trial {
 public:
  using Found = std::function<void(const std::string& sample, const std::string& what)>;
  Trial(const PluginOf& plugin, const PluginCases& drawn, Found found) : plugin(plugin), drawn(drawn), found_(std::move(found)) {}

  const PluginOf& plugin;
  const PluginCases& drawn;

  const plugin::Op& op() const { return plugin.op; }
  const std::vector<PluginCase>& cases() const { return drawn.cases; }
  void found(const PluginCase& at, const std::string& what) { found_(at.text, what); }
  void found(const PluginCase& at, std::string_view what, const Error& error);
  void found(const std::string& sample, const std::string& what) { found_(sample, what); }

  /// A new object; null, with a finding, where the op does not make one.
  std::unique_ptr<plugin::Object> object(const PluginCase& at);
  /// None, with a finding, where it is not saved or not made again.
  std::optional<Loaded> loaded(const plugin::Object& object, const PluginCase& at);
  /// Shapes and one run; none, with a finding, where there is an error: what a plugin may refuse is no case.
  std::optional<RunResults> run(const plugin::Object& object, const PluginCase& at, const PluginRunOptions& options = {},
                                const plugin::Layouts& layouts = {});
  std::optional<RunResults> again(PluginRun& run, const PluginCase& at, const PluginRunOptions& options = {},
                                  const std::vector<Tensor>* operands = nullptr);
  bool set_shapes(PluginRun& run, const PluginCase& at, const PluginCase* workspace_of = nullptr);
  /// What it is to give: one run of a new object. None as with run().
  std::optional<std::vector<Tensor>> expected(const PluginCase& at);
  /// A finding where the results are others, bit for bit. Ops that are random may give others.
  void same(const PluginCase& at, const std::string& when, const std::vector<Tensor>& expected, const std::vector<Tensor>& found);
  /// Other operand values of the same types.
  std::vector<Tensor> other_operands(const PluginCase& at, uint64_t seed) const;

 private:
  Found found_;
};

/// One property of plugins.
struct Check {
  std::string_view name;  ///< "canaries"
  std::string_view docs;  ///< what holds for a plugin that is sound
  bool (*applies)(const plugin::Op& op);
  void (*run)(Trial& trial);
};
/// In the order in which they are made; the first is that the op runs at all, and the others need that.
std::span<const Check> all_checks();

}  // namespace tenon::cli
