// SPDX-License-Identifier: Apache-2.0
#include "passes/packing/packed.h"

namespace tenon::passes {

using ir::Ints;
using ir::ValueId;

PackedRows::PackedRows(ir::Builder& build, ValueId keep) : build_(build), keep_(keep) {
  const auto results = build.many("tenon::PackedRows", {keep}, 3);
  if (!build.status()) return;
  rows_ = results[0];
  packed_indices_ = results[1];
  starts_ = results[2];
}

ValueId PackedRows::size_of(ValueId value, int64_t axis) {
  const ValueId size = build_("Shape", {value}, {{"start", axis}, {"end", axis + 1}});
  return build_("Squeeze", {size, build_.ints({0})});
}

ValueId PackedRows::length() {
  if (!length_) length_ = size_of(keep_, 1);
  return length_;
}

ValueId PackedRows::positions() {
  if (!positions_) positions_ = build_("Mod", {rows_, length()});
  return positions_;
}

ValueId PackedRows::rows_of(ValueId value) {
  const ir::Type& type = build_.graph().value(value).type;
  Ints flat{-1};
  for (int a = 2; a < type.rank(); ++a) flat.push_back(type.dim(a).value());
  return build_("Gather", {build_("Reshape", {value, build_.ints(std::move(flat))}), rows_}, {{"axis", int64_t{0}}});
}

/// Gathers slices by the position of each packed row. The axis of positions is as long as the sequences; where its size is known only in
/// the run it may also be 1, and the index is clamped.
ValueId PackedRows::gather_by_position(ValueId value, int rank) {
  if (build_.graph().value(value).type.rank() == rank) value = build_("Squeeze", {value, build_.ints({0})});
  const bool whole = build_.graph().value(value).type.dim(0).known_equal(build_.graph().value(keep_).type.dim(1));
  const ValueId last = whole ? ValueId{} : build_("Sub", {size_of(value, 0), build_.scalar(DType::i64, 1)});
  return build_("Gather", {value, whole ? positions() : build_("Min", {positions(), last})}, {{"axis", int64_t{0}}});
}

ValueId PackedRows::gather_by_sequence(ValueId value) {
  if (!sequence_) sequence_ = build_("Div", {rows_, length()});
  return build_("Gather", {build_("Squeeze", {value, build_.ints({1})}), sequence_}, {{"axis", int64_t{0}}});
}

ValueId PackedRows::part(ValueId value, Part part, int rank) {
  switch (part) {
    case Part::row: return rows_of(value);
    case Part::position: return gather_by_position(value, rank);
    case Part::sequence: return gather_by_sequence(value);
    case Part::whole: break;
  }
  if (!value || build_.graph().value(value).type.rank() < rank) return value;
  return build_("Squeeze", {value, build_.ints({0})});
}

ValueId PackedRows::unpacked(ValueId packed) {
  const ir::Type type = build_.graph().value(packed).type;
  Ints trailing;
  for (int a = 1; a < type.rank(); ++a) trailing.push_back(a + 1);
  const ValueId rows = build_("Gather", {packed, packed_indices_}, {{"axis", int64_t{0}}});
  const ValueId kept = trailing.empty() ? keep_ : build_("Unsqueeze", {keep_, build_.ints(std::move(trailing))});
  return build_("Where", {kept, rows, build_.scalar(type.dtype, 0)});
}

}  // namespace tenon::passes
