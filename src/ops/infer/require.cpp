// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"

namespace tenon::ops {

namespace {
bool is_known(const NodeView& view, size_t input) { return view.has(input) && view.type(input).has_rank(); }
std::string sizes_of(size_t input) { return "sizes of operand " + std::to_string(input); }
}  // namespace

Result<void> require_single(const NodeView& view, size_t input) {
  if (!is_known(view, input)) return {};
  return require_equal(view, view.type(input).count(), 1, "elements of operand " + std::to_string(input) + " and 1");
}

Result<void> require_broadcast(const NodeView& view, size_t input, const DimList& to) {
  if (!is_known(view, input)) return {};
  TRY(require_rank(view, input, 0, static_cast<int>(to.size())));
  return require_spreads(view, *view.type(input).shape, to, sizes_of(input));
}

Result<void> require_sizes(const NodeView& view, size_t input, const DimList& wanted) {
  if (!is_known(view, input)) return {};
  TRY(require_rank(view, input, static_cast<int>(wanted.size())));
  for (size_t k = 0; k < wanted.size(); ++k)
    TRY(require_equal(view, wanted[k], view.type(input).dim(static_cast<int>(k)), sizes_of(input)));
  return {};
}

Result<void> require_single_or(const NodeView& view, size_t input, Dim count) {
  if (!is_known(view, input) || view.type(input).count() == Dim(1)) return {};
  return require_sizes(view, input, {count});
}

}  // namespace tenon::ops
