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

/// A plugin under test and the op that it computes: its own, or the one for which it has a kernel.
struct TestedPlugin {
  const plugin::Op& op;
  const ops::OpDef& def;
  const ir::OpTable& table;  ///< where ops are found

  bool is_kernel() const { return op.table.kernel_of != nullptr; }
};

/// A node to test an op on: one of the op's samples, or one generated from a sample.
struct PluginCase {
  std::string text;          ///< "f32[2,3]; beta=1.5"
  bool is_as_given = false;  ///< one of the op's own samples, which it must support
  bool is_varied = false;    ///< generated from another case, with other sizes or fields
  ops::Sample sample;
  ops::SampleCase made;
  std::vector<plugin::Field> fields;
  std::vector<ir::Type> results;
  std::vector<plugin::AddedGraph> graphs;  ///< graphs that its node adds

  ir::NodeView view() const { return made.graph->view(made.node); }
};

/// "f32[2,3]; beta=1.5"
std::string text_of(const ops::Sample& sample);
/// Creates a plugin object for the case with these fields. Errors: those of `create`.
Result<std::unique_ptr<plugin::Object>> create_at(const plugin::Op& op, const PluginCase& at, tenon_phase phase,
                                                  std::span<const plugin::Field> fields);
/// The types of the operands, then of the results.
std::vector<plugin::PortType> port_types_of(const PluginCase& at);
/// The formats of operands and results, all in one layout.
std::vector<tenon_format> formats_of(const PluginCase& at, int32_t layout);

struct PluginCases {
  struct Refused {
    std::string text, why;
  };
  std::vector<PluginCase> cases;
  std::vector<Refused> refused;          ///< samples of the op's own that it refuses
  std::optional<Refused> refused_drawn;  ///< the first generated case that the op refuses
};

/// The samples of an op, then each with other sizes (0, 1, odd ones, larger ones; equal sizes stay equal) and other fields. An op without
/// samples gets some by its ports. Generated cases that the op refuses, in any of its functions, are left out.
PluginCases draw_cases(const TestedPlugin& plugin);

/// A case of these operands and fields. symbolic: sizes of the graph are symbols "nSIZE". Errors: those of inference and of the op.
Result<PluginCase> make_case(const TestedPlugin& plugin, ops::Sample sample, uint64_t seed = 1, bool symbolic = false);

/// The sample with sizes above 1 mapped by `size_of`, except of operands with given values.
ops::Sample with_sizes(ops::Sample sample, const std::function<int64_t(int64_t)>& size_of);

/// Other values that a field may have, and whether the op declares these as valid (a range, choices).
struct FieldValues {
  std::vector<ir::Attribute> values;
  bool are_declared = false;
};
FieldValues other_values(const tenon_field_rule& rule);
/// Extreme values of a field for which the op declares neither range nor choices.
std::vector<ir::Attribute> odd_values(const tenon_field_rule& rule);

}  // namespace tenon::cli
