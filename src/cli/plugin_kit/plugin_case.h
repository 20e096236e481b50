// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/core/sample.h"
#include "ops/plugin/evaluated_graphs.h"
#include "ops/plugin/plugin_op.h"
#include "plugin/public/plugins.h"

namespace tenon::cli {

/// A plugin and the op that it computes: its own, or the one that it is a kernel of.
struct PluginOf {
  const plugin::Op& op;
  const ops::OpDef& def;
  const ir::OpTable& table;  ///< where ops are found

  bool is_kernel() const { return op.table.kernel_of != nullptr; }
};

/// A node to try an op at: one of its samples, or what was drawn from one.
struct PluginCase {
  std::string text;          ///< "f32[2,3]; beta=1.5"
  bool is_as_given = false;  ///< a sample of the op's own, which it must take
  bool is_varied = false;    ///< another case with other sizes or fields
  ops::Sample sample;
  ops::SampleCase made;
  std::vector<plugin::Field> fields;
  std::vector<ir::Type> results;
  std::vector<plugin::AddedGraph> graphs;  ///< that its node adds

  ir::NodeView view() const { return made.graph->view(made.node); }
};

/// "f32[2,3]; beta=1.5"
std::string text_of(const ops::Sample& sample);
/// An object for the case, of these fields. Errors: what `create` says.
Result<std::unique_ptr<plugin::Object>> create_at(const plugin::Op& op, const PluginCase& at, tenon_phase phase,
                                                  std::span<const plugin::Field> fields);
/// The operands, then the results.
std::vector<plugin::PortType> port_types_of(const PluginCase& at);
/// Of them, all in one layout.
std::vector<tenon_format> formats_of(const PluginCase& at, int32_t layout);

struct PluginCases {
  struct Refused {
    std::string text, why;
  };
  std::vector<PluginCase> cases;
  std::vector<Refused> refused;          ///< samples of its own that the op does not take
  std::optional<Refused> refused_drawn;  ///< the first that was made up
};

/// The samples of an op, then each with other sizes (0, 1, odd ones, larger ones; equal sizes stay equal) and other fields. An op without
/// samples gets some by its ports. What was made up is left out where the op refuses it, in whatever function: who runs it may.
PluginCases draw_cases(const PluginOf& plugin);

/// A case of these operands and fields. symbolic: sizes of the graph are symbols "nSIZE". Errors: those of inference and of the op.
Result<PluginCase> make_case(const PluginOf& plugin, ops::Sample sample, uint64_t seed = 1, bool symbolic = false);

/// Sizes over 1 of operands that are no given values, mapped by `size_of`.
ops::Sample with_sizes(ops::Sample sample, const std::function<int64_t(int64_t)>& size_of);

/// Other values that a field may have, and whether the op says itself that it takes them (a range, choices).
struct FieldValues {
  std::vector<ir::Attribute> values;
  bool are_declared = false;
};
FieldValues other_values(const tenon_field_rule& rule);
/// Far outside of what any field means, where the op declares nothing of its values.
std::vector<ir::Attribute> odd_values(const tenon_field_rule& rule);

}  // namespace tenon::cli
