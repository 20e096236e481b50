// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/broadcast.h"

#include <algorithm>

#include "ops/infer/assume.h"

namespace tenon::ops {

namespace {
bool is_a(Dim d, DimNode::Kind kind) { return d.node() && d.node()->kind == kind; }

bool contains(const std::vector<Dim>& dims, Dim d) { return std::ranges::find(dims, d) != dims.end(); }

/// The operands of nested mins or maxs. One with a number is no set of sizes, but bounds one.
void leaves_of(Dim d, DimNode::Kind kind, std::vector<Dim>& out) {
  if (is_a(d, kind) && !d.node()->operands[1].is_number())
    for (Dim part : d.node()->operands) leaves_of(part, kind, out);
  else if (!contains(out, d)) out.push_back(d);
}

/// A size that is 0 exactly where `d` is.
Dim zero_with(Dim d) {
  if (is_a(d, DimNode::Kind::min))
    for (size_t k : {0, 1})
      if (d.node()->operands[k].lower() > 0) return zero_with(d.node()->operands[1 - k]);
  return d;
}

/// Either all of them are 0 or none.
bool agree_on_zero(const std::vector<Dim>& parts) {
  return std::ranges::all_of(parts, [](Dim part) { return part.lower() > 0; }) ||
         std::ranges::all_of(parts, [&](Dim part) { return zero_with(part) == zero_with(parts[0]); });
}

/// The sizes that a common size was made of: the leaves of its max. A max that a model computed is one size: it is not 0 where one of its
/// operands is.
void parts_of(Dim d, std::vector<Dim>& out) {
  std::vector<Dim> leaves, tested;
  if (is_a(d, DimNode::Kind::select) && d.node()->operands[2] == Dim(0)) {
    leaves_of(d.node()->operands[0], DimNode::Kind::min, tested);
    leaves_of(d.node()->operands[1], DimNode::Kind::max, leaves);
    if (!std::ranges::is_permutation(leaves, tested)) leaves = {d};
  } else {
    leaves_of(d, DimNode::Kind::max, leaves);
    if (!agree_on_zero(leaves)) leaves = {d};
  }
  for (Dim leaf : leaves)
    if (!contains(out, leaf)) out.push_back(leaf);
}

/// Each is 1 or one size that is common to all: that one. One form for each set of sizes, in whatever order they met.
Dim common_size(Dim a, Dim b) {
  std::vector<Dim> parts;
  parts_of(a, parts);
  parts_of(b, parts);
  // A size by itself is not negative.
  std::erase_if(parts, [&](Dim part) {
    return is_a(part, DimNode::Kind::max) && part.node()->operands[1] == Dim(0) && contains(parts, part.node()->operands[0]);
  });
  std::ranges::sort(parts, {}, [](Dim d) { return d.is_number() ? 0 : d.node()->id + 1; });
  Dim least = parts[0], most = parts[0];
  for (Dim part : parts) {
    least = min(least, part);
    most = max(most, part);
  }
  return agree_on_zero(parts) ? most : select(least, most, 0);
}
}  // namespace

std::optional<Dim> broadcast(Dim a, Dim b) {
  if (a == b) return a;
  if (a.is_number() && a.value() == 1) return b;
  if (b.is_number() && b.value() == 1) return a;
  if (ir::decide(AssumptionKind::broadcast, a, b) == false) return std::nullopt;
  if (a.is_number()) return a;
  if (b.is_number()) return b;
  return a.known_equal(b) ? a : common_size(a, b);
}

Result<DimList> broadcast(const NodeView& view, const DimList& a, const DimList& b) {
  const size_t rank = std::max(a.size(), b.size());
  DimList out(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const Dim x = i + a.size() < rank ? Dim(1) : a[i + a.size() - rank];
    const Dim y = i + b.size() < rank ? Dim(1) : b[i + b.size() - rank];
    auto both = broadcast(x, y);
    if (!both || !assume(view, AssumptionKind::broadcast, x, y,
                         [&] { return text_of(a) + " and " + text_of(b) + " cannot be broadcast together"; })) {
      return refuse(view, Code::shape_mismatch, "operands cannot be broadcast together")
          .expected("sizes equal or 1, axis by axis from the right")
          .found(text_of(a) + " and " + text_of(b));
    }
    out[i] = *both;
  }
  return out;
}

Result<std::optional<DimList>> broadcast_inputs(const NodeView& view, size_t first, size_t count) {
  DimList out;
  bool known = true;
  for (size_t i = first; i < first + count && i < view.inputs.size(); ++i) {
    if (!view.has(i)) continue;
    if (!view.type(i).has_rank()) known = false;
    else out = TRY(broadcast(view, out, *view.type(i).shape));
  }
  if (!known) return std::optional<DimList>();
  return std::optional(std::move(out));
}

namespace {
/// Position in a row-major tensor of shape `from` of element `i` of the broadcast shape `to`.
size_t broadcast_position(size_t i, const Sizes& from, const Sizes& to) {
  size_t position = 0, stride = 1;
  for (size_t k = 0; k < to.size(); ++k) {
    const size_t axis = to.size() - 1 - k;
    const size_t at = i % static_cast<size_t>(to[axis]);
    i /= static_cast<size_t>(to[axis]);
    if (k >= from.size()) continue;
    const size_t size = static_cast<size_t>(from[from.size() - 1 - k]);
    position += size == 1 ? 0 : at * stride;
    stride *= size;
  }
  return position;
}
}  // namespace

std::optional<ShapeData> broadcast_elements(const NodeView& view, size_t input, const DimList& to) {
  const auto data = known_elements(view, input);
  if (!data || !ranks_known(view, {input})) return std::nullopt;
  const auto from = static_sizes(*view.type(input).shape), sizes = static_sizes(to);
  if (!from || !sizes) return std::nullopt;
  size_t count = 1;
  for (int64_t s : *sizes) {
    count *= static_cast<size_t>(s);
    if (count > ir::kMaxShapeData) return std::nullopt;
  }
  ShapeData out;
  for (size_t i = 0; i < count; ++i) out.push_back((*data)[broadcast_position(i, *from, *sizes)]);
  return out;
}

}  // namespace tenon::ops
