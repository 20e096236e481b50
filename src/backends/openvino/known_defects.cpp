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
bool is_alone(const View& view) { return view.inputs.size() == 1; }
bool is_of_floats(const View& view) { return is_float(view.type(0).dtype); }
bool may_reduce_nothing(const View& view) { return view.attributes->integer("noop_with_empty_axes", 0) != 0; }
bool has_noted_places(const View& view) { return view.outputs.size() > 1; }

bool has_no_axes(const View& view) { return view.has(1) && view.type(1).has_rank() && view.type(1).shape->front() == Dim(0); }

/// Fewer places than elements outside of the axis, or unknown.
bool gathers_from_some(const View& view) {
  const ir::Type &data = view.type(0), &places = view.type(1);
  if (!data.has_rank() || !places.has_rank()) return true;
  const int64_t axis = view.attributes->integer("axis", 0), rank = view.rank(0);
  for (int64_t k = 0; k < rank; ++k)
    if (k != (axis < 0 ? axis + rank : axis) && (*data.shape)[static_cast<size_t>(k)] != (*places.shape)[static_cast<size_t>(k)])
      return true;
  return false;
}

/// Along an axis that is not the last, of unknown sizes.
bool has_scales_inside(const View& view) {
  if (!backend::may_have_several_elements(view, 1)) return false;
  if (!view.type(0).has_rank()) return true;
  const int64_t axis = view.attributes->integer("axis", 1), rank = view.rank(0);
  return (axis < 0 ? axis + rank : axis) + 1 < rank && !std::ranges::all_of(*view.type(0).shape, &Dim::is_number);
}

/// The two directions of a recurrent layer have activations of their own.
bool has_two_activations(const View& view) {
  const ir::Attribute* activations = view.attributes->find("activations");
  if (!activations || view.attributes->text("direction", "forward") != "bidirectional") return false;
  const auto* names = std::get_if<ir::Strings>(activations);
  if (!names || names->size() % 2 != 0) return false;
  return !std::equal(names->begin(), names->begin() + static_cast<ptrdiff_t>(names->size() / 2),
                     names->begin() + static_cast<ptrdiff_t>(names->size() / 2));
}

constexpr std::string_view kHandsOn = "it hands the operand on, and writes over it", kNan = "NaN are lost",
                           kUnstoppable = "its loops cannot be stopped", kAxes = "it ignores the operand with the axes",
                           kActivations = "it takes the activations of one direction for both";

constexpr backend::KnownDefect kKnownDefects[] = {
    {"", "ArgMax", is_of_floats, kNan},
    {"", "ArgMin", is_of_floats, kNan},
    {"", "Dropout", always, kHandsOn},
    {"", "DynamicQuantizeLinear", always, "it rounds otherwise"},
    {"", "GatherElements", gathers_from_some, "indices of other sizes than the data"},
    {"", "GRU", has_two_activations, kActivations},
    {"", "LRN", [](const View& v) { return v.attributes->integer("size", 1) % 2 == 0; }, "an even size"},
    {"", "LSTM", has_two_activations, kActivations},
    {"", "Loop", always, kUnstoppable},
    {"", "Max", is_alone, kHandsOn},
    {"", "Max", is_of_floats, kNan},
    {"", "MaxPool", has_noted_places, "the places of the results"},
    {"", "Mean", is_alone, kHandsOn},
    {"", "Min", is_alone, kHandsOn},
    {"", "Min", is_of_floats, kNan},
    {"", "QuantizeLinear", has_scales_inside, "scales along an axis of unknown size"},
    {"", "ReduceL1", always, kAxes},
    {"", "ReduceL2", may_reduce_nothing, "where no axes are given it leaves signs as they are"},
    {"", "ReduceLogSum", always, kAxes},
    {"", "ReduceLogSumExp", always, kAxes},
    {"", "RNN", has_two_activations, kActivations},
    {"", "RoiAlign", [](const View& v) { return v.attributes->text("mode", "avg") == "max"; }, "the mode max"},
    {"", "Scan", always, kUnstoppable},
    {"", "SpaceToDepth", [](const View& v) { return v.attributes->text("mode", "DCR") == "CRD"; }, "it leaves the mode aside"},
    {"", "Split", backend::splits_unknown_size, "a number of parts of an unknown size"},
    {"", "Sum", is_alone, kHandsOn},
    {"", "ThresholdedRelu", always, "an infinite operand below the threshold"},
    {"", "Unsqueeze", has_no_axes, "no axes, which it takes for one"},
};

std::string refusal_of(const ir::Type& t) {
  if (!t.is_tensor()) return "not supported yet: operands and results that are no tensors";
  return t.dtype == DType::none || element_type(t.dtype) ? "" : fmt::format("not supported yet: elements of {}", name_of(t.dtype));
}

bool computes_with_wide_integers(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

/// Integers that are computed with: places and sizes, which an operand may give too, fit into what it takes for them.
std::string refusal_by_types(const View& view) {
  bool is_whole = view.op->name == "Cast" || view.op->name == "CastLike", is_wide = false;
  for (const ir::Operand& o : view.inputs) {
    if (!o.present) continue;
    if (std::string why = refusal_of(o.type); !why.empty()) return why;
    is_whole |= is_integer(o.type.dtype);
    is_wide |= computes_with_wide_integers(o.type.dtype);
  }
  for (const ir::Type& t : view.outputs) {
    if (std::string why = refusal_of(t); !why.empty()) return why;
    if (is_whole && is_integer(t.dtype)) return "it computes integers in 32 bits, and small ones saturate";
    if (is_wide && t.dtype == DType::boolean && is_integer(view.type(0).dtype)) return "it compares integers as f32";
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
