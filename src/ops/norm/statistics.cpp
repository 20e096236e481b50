// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/statistics.h"

#include "ops/infer/require.h"

namespace tenon::ops {

namespace {

/// Appends two loops: the sum over the row, and its division by the size of the row. Returns the number of the second.
int add_mean(std::vector<Loop>& loops, const DimList& shape, std::span<const int> row, DType wide, const ElementOf& element,
             const std::function<Expr(Expr)>& after) {
  const DimList kept = without_axes(shape, row);
  RowLoop sum = reduce_rows(shape, row);
  add_output(sum, wide, kept, element(sum), Combine::sum);
  loops.push_back(std::move(sum.loop));
  RowLoop mean = each_row(shape, row);
  Expr value = mean.load_of_row(static_cast<int>(loops.size()) - 1, wide) / row_count(shape, row, wide);
  add_output(mean, wide, kept, after ? after(value) : value);
  loops.push_back(std::move(mean.loop));
  return static_cast<int>(loops.size()) - 1;
}

}  // namespace

RowStatistics add_statistics(std::vector<Loop>& loops, const DimList& shape, std::span<const int> row, DType wide, const ElementOf& element,
                             double epsilon, bool deviation_epsilon) {
  RowStatistics r;
  r.mean = add_mean(loops, shape, row, wide, element, {});
  auto squared = [&](RowLoop& rows) {
    const Expr centred = element(rows) - rows.load_of_row(r.mean, wide);
    return centred * centred;
  };
  const Expr one = Expr::constant(wide, 1), eps = Expr::constant(wide, epsilon);
  r.inv_std_dev =
      add_mean(loops, shape, row, wide, squared, [&](Expr v) { return deviation_epsilon ? one / (sqrt(v) + eps) : one / sqrt(v + eps); });
  return r;
}

int add_root_mean_square(std::vector<Loop>& loops, const DimList& shape, std::span<const int> row, DType wide, const ElementOf& element,
                         double epsilon) {
  auto squared = [&](RowLoop& rows) {
    const Expr x = element(rows);
    return x * x;
  };
  return add_mean(loops, shape, row, wide, squared,
                  [&](Expr v) { return Expr::constant(wide, 1) / sqrt(v + Expr::constant(wide, epsilon)); });
}

RowMoments moments_of(std::span<const double> x, const RowOffsets& rows) {
  RowMoments m;
  for (int64_t base : rows.bases) {
    double sum = 0, squares = 0;
    for (int64_t offset : rows.inner) sum += x[base + offset];
    const double mean = sum / static_cast<double>(rows.inner.size());
    for (int64_t offset : rows.inner) squares += (x[base + offset] - mean) * (x[base + offset] - mean);
    m.mean.push_back(mean);
    m.variance.push_back(squares / static_cast<double>(rows.inner.size()));
  }
  return m;
}

Result<void> require_vector(const NodeView& view, size_t input, Dim size, std::string_view what) {
  TRY(require_rank(view, input, 1));
  if (view.has(input) && view.type(input).has_rank()) TRY(require_equal(view, view.type(input).dim(0), size, what));
  return {};
}

ir::ValueId define_root_mean_square(ir::Builder& build, ir::ValueId x, DType dtype, const Ints& axes, double epsilon) {
  const ir::ValueId squares = build("ReduceMean", {build("Mul", {x, x}), build.ints(axes)});
  return build("Reciprocal", {build("Sqrt", {build("Add", {squares, build.scalar(dtype, epsilon)})})});
}

NormalisedRows define_normalised_rows(ir::Builder& build, ir::ValueId x, DType dtype, const Ints& axes, double epsilon) {
  NormalisedRows rows;
  rows.mean = build("ReduceMean", {x, build.ints(axes)});
  rows.centred = build("Sub", {x, rows.mean});
  rows.inv_std_dev = define_root_mean_square(build, rows.centred, dtype, axes, epsilon);
  return rows;
}

std::optional<Ints> normalised_axes(const NodeView& view) {
  const int64_t axis = view.attributes->integer("axis", -1);
  if (axis >= 0 && !view.type(0).has_rank()) return std::nullopt;
  Ints axes;
  for (int64_t k = axis < 0 ? axis : axis - view.rank(0); k < 0; ++k) axes.push_back(k);
  return axes;
}

}  // namespace tenon::ops
