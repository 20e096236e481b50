// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/known_defects.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/known_defects.h"
#include "backends/openvino/device/api.h"

namespace tenon::backends::openvino {

namespace {

using View = ir::NodeView;

bool always(const View&) { return true; }
bool has_one_operand(const View& view) { return view.inputs.size() == 1; }
bool takes_floats(const View& view) { return is_float(view.type(0).dtype); }
bool may_reduce_nothing(const View& view) { return view.attributes->integer("noop_with_empty_axes", 0) != 0; }
bool returns_indices(const View& view) { return view.outputs.size() > 1; }

bool has_no_axes(const View& view) { return view.has(1) && view.type(1).has_rank() && view.type(1).shape->front() == Dim(0); }

/// Whether the indices differ in size from the data on an axis other than the gathered one, or sizes are unknown.
bool has_smaller_indices(const View& view) {
  const ir::Type &data = view.type(0), &indices = view.type(1);
  if (!data.has_rank() || !indices.has_rank()) return true;
  const int64_t axis = view.attributes->integer("axis", 0), rank = view.rank(0);
  for (int64_t k = 0; k < rank; ++k)
    if (k != (axis < 0 ? axis + rank : axis) && (*data.shape)[static_cast<size_t>(k)] != (*indices.shape)[static_cast<size_t>(k)])
      return true;
  return false;
}

/// Whether several scales lie along an axis that is not the last, and sizes of the operand are unknown.
bool has_inner_scales(const View& view) {
  if (!backend::may_have_several_elements(view, 1)) return false;
  if (!view.type(0).has_rank()) return true;
  const int64_t axis = view.attributes->integer("axis", 1), rank = view.rank(0);
  return (axis < 0 ? axis + rank : axis) + 1 < rank && !std::ranges::all_of(*view.type(0).shape, &Dim::is_number);
}

/// Whether the two directions of a recurrent layer have different activations.
bool has_two_activations(const View& view) {
  const ir::Attribute* activations = view.attributes->find("activations");
  if (!activations || view.attributes->text("direction", "forward") != "bidirectional") return false;
  const auto* names = std::get_if<ir::Strings>(activations);
  if (!names || names->size() % 2 != 0) return false;
  return !std::equal(names->begin(), names->begin() + static_cast<ptrdiff_t>(names->size() / 2),
                     names->begin() + static_cast<ptrdiff_t>(names->size() / 2));
}

constexpr std::string_view kReturnsOperand = "it hands the operand on, and writes over it", kLosesNan = "NaN are lost",
                           kCannotStop = "its loops cannot be stopped", kIgnoresAxes = "it ignores the operand with the axes",
                           kMergesActivations = "it takes the activations of one direction for both";

constexpr backend::KnownDefect kKnownDefects[] = {
    {"", "ArgMax", takes_floats, kLosesNan},
    {"", "ArgMin", takes_floats, kLosesNan},
    {"", "Dropout", always, kReturnsOperand},
    {"", "DynamicQuantizeLinear", always, "it rounds otherwise"},
    {"", "GatherElements", has_smaller_indices, "indices of other sizes than the data"},
    {"", "GRU", has_two_activations, kMergesActivations},
    {"", "LRN", [](const View& v) { return v.attributes->integer("size", 1) % 2 == 0; }, "an even size"},
    {"", "LSTM", has_two_activations, kMergesActivations},
    {"", "Loop", always, kCannotStop},
    {"", "Max", has_one_operand, kReturnsOperand},
    {"", "Max", takes_floats, kLosesNan},
    {"", "MaxPool", returns_indices, "the places of the results"},
    {"", "Mean", has_one_operand, kReturnsOperand},
    {"", "Min", has_one_operand, kReturnsOperand},
    {"", "Min", takes_floats, kLosesNan},
    {"", "QuantizeLinear", has_inner_scales, "scales along an axis of unknown size"},
    {"", "ReduceL1", always, kIgnoresAxes},
    {"", "ReduceL2", may_reduce_nothing, "where no axes are given it leaves signs as they are"},
    {"", "ReduceLogSum", always, kIgnoresAxes},
    {"", "ReduceLogSumExp", always, kIgnoresAxes},
    {"", "RNN", has_two_activations, kMergesActivations},
    {"", "RoiAlign", [](const View& v) { return v.attributes->text("mode", "avg") == "max"; }, "the mode max"},
    {"", "Scan", always, kCannotStop},
    {"", "SpaceToDepth", [](const View& v) { return v.attributes->text("mode", "DCR") == "CRD"; }, "it leaves the mode aside"},
    {"", "Split", backend::splits_unknown_size, "a number of parts of an unknown size"},
    {"", "Sum", has_one_operand, kReturnsOperand},
    {"", "ThresholdedRelu", always, "an infinite operand below the threshold"},
    {"", "Unsqueeze", has_no_axes, "no axes, which it takes for one"},
};

/// Why it does not take values of that type; empty: it does.
std::string refusal_of(const ir::Type& t) {
  if (!t.is_tensor()) return "not supported yet: operands and results that are no tensors";
  return t.dtype == DType::none || element_type(t.dtype) ? "" : fmt::format("not supported yet: elements of {}", name_of(t.dtype));
}

bool is_wide_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

/// Why it does not run the node with operands and results of these types; empty: it does. It computes integers in 32 bits: a node whose
/// operands and results are both integers may overflow there. Integers that are only indices or sizes fit.
std::string refusal_by_types(const View& view) {
  bool takes_integers = view.op->name == "Cast" || view.op->name == "CastLike", takes_wide_integers = false;
  for (const ir::Operand& o : view.inputs) {
    if (!o.present) continue;
    if (std::string why = refusal_of(o.type); !why.empty()) return why;
    takes_integers |= is_integer(o.type.dtype);
    takes_wide_integers |= is_wide_integer(o.type.dtype);
  }
  for (const ir::Type& t : view.outputs) {
    if (std::string why = refusal_of(t); !why.empty()) return why;
    if (takes_integers && is_integer(t.dtype)) return "it computes integers in 32 bits, and small ones saturate";
    if (takes_wide_integers && t.dtype == DType::boolean && is_integer(view.type(0).dtype)) return "it compares integers as f32";
  }
  return {};
}

}  // namespace

std::string known_defect_in(const View& view) {
  if (!view.op->domain.empty()) return "not supported yet: ops of other domains, of which it leaves attributes aside";
  if (std::string why = refusal_by_types(view); !why.empty()) return why;
  if (const std::string_view why = backend::known_defect_in(kKnownDefects, view); !why.empty()) return std::string(why);
  for (const ir::Graph* body : view.bodies)
    for (ir::NodeId n : body->nodes())
      if (std::string why = known_defect_in(body->view(n)); !why.empty()) return why;
  return {};
}

}  // namespace tenon::backends::openvino
