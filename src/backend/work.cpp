// SPDX-License-Identifier: Apache-2.0
#include "backend/work.h"

#include <algorithm>

#include "ops/core/op.h"

namespace tenon::backend {

namespace {

constexpr int64_t kUnbounded = int64_t{1} << 40;  // what Symbols gives a symbol of which nothing is known
constexpr int64_t kUnknown = 64;

double size_of(Dim d) {
  return static_cast<double>(substitute(d, [](const DimNode& s) { return Dim(guessed_size(s)); }).number().value_or(kUnknown));
}

double count_of(const ir::Type& type) {
  if (!type.is_tensor() || !type.has_rank()) return kUnknown;
  double count = 1;
  for (Dim d : *type.shape) count *= size_of(d);
  return count;
}

double steps_of(const ops::LoopForm& form) {
  double steps = 0;
  for (const ops::Loop& loop : form.loops) {
    double turns = 1;
    for (const ops::Axis& axis : loop.axes) turns *= size_of(axis.extent);
    steps += turns;
  }
  return steps;
}

}  // namespace

int64_t guessed_size(const DimNode& symbol) { return std::clamp(kUnknown, symbol.lower, symbol.upper); }

double bytes_of(const ir::Type& type) { return count_of(type) * bits_of(type.dtype) / 8; }

std::optional<int64_t> max_bytes(const ir::Type& type) {
  if (!type.is_tensor() || !type.has_rank() || bits_of(type.dtype) == 0) return std::nullopt;
  double count = 1;
  for (Dim d : *type.shape) {
    if (d.upper() >= kUnbounded) return std::nullopt;
    count *= static_cast<double>(d.upper());
  }
  const double bytes = count * bits_of(type.dtype) / 8;
  return bytes < 0x1p62 ? std::optional(static_cast<int64_t>(bytes)) : std::nullopt;
}

Work work_of(const ir::Graph& graph, ir::NodeId node) {
  const ir::NodeView view = graph.view(node);
  Work out;
  for (const ir::Operand& o : view.inputs)
    if (o.present) out.bytes += bytes_of(o.type);
  for (const ir::Type& t : view.outputs) {
    out.bytes += bytes_of(t);
    out.steps += count_of(t);
  }
  const ops::OpDef& def = ops::def_of(*view.op);
  if (!def.loop_form) return out;
  if (const auto form = def.loop_form(view)) out.steps = steps_of(*form);
  return out;
}

}  // namespace tenon::backend
