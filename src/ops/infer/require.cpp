// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"

#include "ops/core/refuse.h"
#include "ops/infer/assume.h"
#include "ops/infer/types.h"

namespace tenon::ops {

namespace {
std::string operand_name(size_t input) { return "operand " + std::to_string(input); }
}  // namespace

Result<void> require_rank(const NodeView& view, size_t input, int low, int high) {
  if (!view.has(input) || !view.type(input).has_rank()) return {};
  const int rank = view.rank(input);
  if (rank >= low && (high < 0 || rank <= high)) return {};
  std::string wanted = "rank " + std::to_string(low);
  if (high < 0) wanted += " or more";
  else if (high != low) wanted += " to " + std::to_string(high);
  return refuse(view, Code::rank_mismatch, operand_name(input) + " has a wrong rank").expected(wanted).found(view.type(input).text());
}

Result<void> require_dtype(const NodeView& view, size_t input, bool (*accepted)(DType), std::string_view wanted) {
  const DType dtype = dtype_of(view, input);
  if (dtype == DType::none || accepted(dtype)) return {};
  return refuse(view, Code::dtype_mismatch, operand_name(input) + " has a wrong dtype")
      .expected(std::string(wanted))
      .found(std::string(name_of(dtype)));
}

Result<void> require_same_dtype(const NodeView& view, size_t a, size_t b) {
  const DType x = dtype_of(view, a), y = dtype_of(view, b);
  if (x == DType::none || y == DType::none || x == y) return {};
  return refuse(view, Code::dtype_mismatch, "operands " + std::to_string(a) + " and " + std::to_string(b) + " differ in dtype")
      .expected(std::string(name_of(x)))
      .found(std::string(name_of(y)))
      .advice("put a Cast in front of one of them");
}

Result<void> require_equal(const NodeView& view, Dim a, Dim b, std::string_view what) {
  if (assume(view, AssumptionKind::equal, a, b, [&] { return std::string(what) + " differ"; })) return {};
  return refuse(view, Code::shape_mismatch, std::string(what) + " differ").expected(a.text()).found(b.text());
}

Result<void> require_equal(const NodeView& view, const DimList& a, const DimList& b, std::string_view what) {
  for (size_t k = 0; k < a.size(); ++k) TRY(require_equal(view, a[k], b[k], what));
  return {};
}

Result<void> require_at_least(const NodeView& view, Dim a, Dim b, std::string_view what) {
  if (assume(view, AssumptionKind::at_least, a, b, [&] { return std::string(what); })) return {};
  return refuse(view, Code::shape_mismatch, std::string(what)).expected("at least " + b.text()).found(a.text());
}

Result<void> require_broadcastable(const NodeView& view, Dim from, Dim to, std::string_view what) {
  if (from.known_equal(1)) return {};
  if (from.equals(1) == false) return require_equal(view, from, to, what);
  if (assume(view, AssumptionKind::spreads, from, to, [&] { return std::string(what) + " differ"; })) return {};
  return refuse(view, Code::shape_mismatch, std::string(what) + " differ").expected(to.text() + " or 1").found(from.text());
}

Result<void> require_broadcastable(const NodeView& view, const DimList& from, const DimList& to, std::string_view what) {
  if (from.size() > to.size())
    return refuse(view, Code::rank_mismatch, std::string(what) + " differ: one has too many axes")
        .expected("what can be spread over " + text_of(to))
        .found(text_of(from));
  for (size_t k = 0; k < from.size(); ++k) TRY(require_broadcastable(view, from[k], to[k + to.size() - from.size()], what));
  return {};
}

namespace {
bool is_known(const NodeView& view, size_t input) { return view.has(input) && view.type(input).has_rank(); }
std::string sizes_named(size_t input) { return "sizes of operand " + std::to_string(input); }
}  // namespace

Result<void> require_single_element(const NodeView& view, size_t input) {
  if (!is_known(view, input)) return {};
  return require_equal(view, view.type(input).count(), 1, "elements of operand " + std::to_string(input) + " and 1");
}

Result<void> require_broadcastable(const NodeView& view, size_t input, const DimList& to) {
  if (!is_known(view, input)) return {};
  TRY(require_rank(view, input, 0, static_cast<int>(to.size())));
  return require_broadcastable(view, *view.type(input).shape, to, sizes_named(input));
}

Result<void> require_sizes(const NodeView& view, size_t input, const DimList& wanted) {
  if (!is_known(view, input)) return {};
  TRY(require_rank(view, input, static_cast<int>(wanted.size())));
  for (size_t k = 0; k < wanted.size(); ++k)
    TRY(require_equal(view, wanted[k], view.type(input).dim(static_cast<int>(k)), sizes_named(input)));
  return {};
}

Result<void> require_single_element_or(const NodeView& view, size_t input, Dim count) {
  if (!is_known(view, input) || view.type(input).count() == Dim(1)) return {};
  return require_sizes(view, input, {count});
}

}  // namespace tenon::ops
