// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/axis_selection.h"

#include <algorithm>
#include <limits>

namespace tenon::rules {
using namespace rewrite;

namespace {

/// Operands of Slice after the data.
constexpr size_t kStarts = 1, kEnds = 2, kAxes = 3, kSteps = 4;

std::optional<int64_t> only_int(const GraphQuery& query, ValueId value) {
  const auto ints = query.ints(value);
  return ints && ints->size() == 1 ? std::optional((*ints)[0]) : std::nullopt;
}

std::optional<int> sliced_axis(const GraphQuery& query, NodeId slice) {
  const DimList* starts = query.shape(query.operand(slice, kStarts));
  const auto rank = query.rank(query.operand(slice, 0));
  if (!rank || !starts || starts->size() != 1 || !(*starts)[0].known_equal(1)) return std::nullopt;
  if (!query.operand(slice, kAxes)) return 0;
  const auto axis = only_int(query, query.operand(slice, kAxes));
  return axis ? std::optional(static_cast<int>(*axis < 0 ? *axis + *rank : *axis)) : std::nullopt;
}

bool is_last(const AxisSelection& selection, std::optional<int64_t> index) {
  return index && (*index == -1 || (selection.size.is_number() && *index == selection.size.value() - 1));
}

void read_gather(const Match& m, AxisSelection& selection) {
  const ValueId indices = m.operand(selection.reader, 1);
  selection.constant = m.is_constant(indices);
  selection.last = is_last(selection, only_int(m, indices));
}

void read_slice(const Match& m, AxisSelection& selection) {
  const auto start = only_int(m, m.operand(selection.reader, kStarts)), end = only_int(m, m.operand(selection.reader, kEnds));
  const ValueId steps = m.operand(selection.reader, kSteps);
  const auto step = steps ? only_int(m, steps) : 1;
  selection.constant = start && end && step;
  selection.last = is_last(selection, start) && step == 1 && end &&
                   (*end == std::numeric_limits<int32_t>::max() || *end > int64_t{1} << 40 ||
                    (selection.size.is_number() && *end >= selection.size.value()));
}

/// The selection that one node is, without its readers; nullopt where it is none.
std::optional<AxisSelection> selection_of(const Match& m, NodeId node) {
  const ValueId value = m.operand(node, 0);
  const DimList* shape = m.shape(value);
  const bool gather = m.node(node).is("Gather");
  const auto axis = !shape ? std::nullopt : gather ? m.axis(node, "axis", 0, value) : sliced_axis(m, node);
  if (!axis || *axis < 0 || *axis >= static_cast<int>(shape->size())) return std::nullopt;
  AxisSelection selection{node, {}, m.producer(value), value, *axis, (*shape)[static_cast<size_t>(*axis)], 1};
  const auto list = gather ? m.rank(m.operand(node, 1)) : std::optional(1);
  const DimList* result = m.shape(m.result(node));
  if (!list || *list > 1 || !result) return std::nullopt;
  if (*list == 1) selection.count = (*result)[static_cast<size_t>(*axis)];
  gather ? read_gather(m, selection) : read_slice(m, selection);
  return selection;
}

bool same_operand(const Match& m, ValueId a, ValueId b) {
  if (a == b) return true;
  const auto x = m.ints(a), y = m.ints(b);
  return x && y && *x == *y && m.rank(a) == m.rank(b);
}

bool alike(const Match& m, NodeId a, NodeId b) {
  const Node &x = m.node(a), &y = m.node(b);
  if (x.op != y.op || x.inputs.size() != y.inputs.size() || !(x.attributes == y.attributes)) return false;
  for (size_t i = 1; i < x.inputs.size(); ++i)
    if (!same_operand(m, x.inputs[i], y.inputs[i])) return false;
  return true;
}

/// Never more than there is: a Slice by what it is, a Gather of one element too, as without an element there is nothing to gather.
bool is_smaller(const Match& m, const AxisSelection& selection) {
  if (selection.size.known_equal(selection.count) || selection.size.known_equal(1)) return false;
  return m.node(selection.reader).is("Slice") || selection.count.known_equal(1) || selection.size.less(selection.count) == false;
}

}  // namespace

std::optional<std::vector<NodeId>> equal_readers(Match& m, ValueId value) {
  std::vector<NodeId> readers;
  for (const ir::Use& use : m.value(value).uses) {
    if (use.is_output() || use.slot != 0 || !alike(m, m.root(), use.node)) {
      m.refuse("it has a reader that reads more, or other elements");
      return std::nullopt;
    }
    if (m.graph().is_before(use.node, m.root())) {
      m.refuse("an equal reader comes before it");
      return std::nullopt;
    }
    readers.push_back(use.node);
  }
  return readers;
}

std::optional<AxisSelection> sole_selection(Match& m) {
  auto selection = selection_of(m, m.root());
  if (!selection || !selection->producer) return std::nullopt;
  const Node& producer = m.node(selection->producer);
  if (std::ranges::all_of(producer.inputs, [&](ValueId v) { return !v || m.is_constant(v); })) return std::nullopt;
  if (!is_smaller(m, *selection)) {
    m.refuse("it may not be smaller than what it picks from");
    return std::nullopt;
  }
  auto readers = equal_readers(m, selection->value);
  if (!readers) return std::nullopt;
  selection->readers = std::move(*readers);
  m.take(selection->producer);
  return selection;
}

std::optional<int> aligned_axis(const Match& m, const AxisSelection& selection, ValueId operand) {
  const DimList *of = m.shape(operand), *whole = m.shape(selection.value);
  if (!of || !whole || of->size() > whole->size()) return std::nullopt;
  const int axis = selection.axis - static_cast<int>(whole->size() - of->size());
  if (axis < 0 || (*of)[static_cast<size_t>(axis)].known_equal(1)) return kUnselected;
  return (*of)[static_cast<size_t>(axis)].known_equal(selection.size) ? std::optional(axis) : std::nullopt;
}

ValueId select_from(const Match& m, Rewriter& w, const AxisSelection& selection, ValueId x, int axis) {
  const Node& reader = m.node(selection.reader);
  std::vector<ValueId> inputs(reader.inputs.begin(), reader.inputs.end());
  inputs[0] = x;
  if (reader.is("Gather")) {
    if (m.rank(inputs[1]) == 0) {
      const auto index = only_int(m, inputs[1]);
      inputs[1] = index ? w.ints({*index}) : w("Unsqueeze", {inputs[1], w.ints({0})});
    }
    return w("Gather", std::move(inputs), {{"axis", int64_t{axis}}});
  }
  if (inputs.size() <= kAxes) inputs.resize(kAxes + 1);
  inputs[kAxes] = w.ints({axis});
  return w("Slice", std::move(inputs));
}

bool replace_readers(const Match& m, Rewriter& w, const AxisSelection& selection, ValueId y) {
  const Node& reader = m.node(selection.reader);
  if (reader.is("Gather") && m.rank(reader.inputs[1]) == 0) y = w("Squeeze", {y, w.ints({selection.axis})});
  for (NodeId node : selection.readers) w.replace(m.result(node), y);
  return true;
}

bool move_selection_up(const Match& m, Rewriter& w) {
  const MovedSelection& moved = m.state<MovedSelection>();
  const Node& producer = m.node(moved.selection.producer);
  std::vector<ValueId> inputs(producer.inputs.begin(), producer.inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (moved.axes[i] != kUnselected) inputs[i] = select_from(m, w, moved.selection, inputs[i], moved.axes[i]);
  const auto index = std::ranges::find(producer.outputs, moved.selection.value) - producer.outputs.begin();
  return replace_readers(m, w, moved.selection, w.clone_with_operands(moved.selection.producer, inputs)[static_cast<size_t>(index)]);
}

}  // namespace tenon::rules
