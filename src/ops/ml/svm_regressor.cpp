// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"
#include "ops/ml/kernel.h"

namespace tenon::ops::op_svm_regressor {

namespace {

/// One score a sample: the weighted sum of its kernel values with the support vectors; without support vectors its product with the
/// coefficients.
struct Machine {
  SvmKernel kernel;
  std::vector<double> weights, vectors;
  double offset = 0;
  int64_t supports = 0;

  int64_t columns() const { return static_cast<int64_t>(supports > 0 ? vectors.size() / static_cast<size_t>(supports) : weights.size()); }
  double score(std::span<const double> x) const {
    if (supports == 0) return SvmKernel()(x, weights) + offset;
    double sum = offset;
    for (int64_t k = 0; k < supports; ++k)
      sum += weights[static_cast<size_t>(k)] * kernel(x, {vectors.data() + k * columns(), static_cast<size_t>(columns())});
    return sum;
  }
};

Result<Machine> machine_of(const NodeView& view) {
  Machine m{TRY(svm_kernel(view)), float_list(view, "coefficients"), float_list(view, "support_vectors"), 0, 0};
  const std::vector<double> rho = float_list(view, "rho");
  m.supports = view.attributes->integer("n_supports", 0);
  const auto count = static_cast<int64_t>(m.weights.size()), elements = static_cast<int64_t>(m.vectors.size());
  const bool fits =
      m.supports == 0 ? elements == 0 && count > 0 : m.supports > 0 && count == m.supports && elements > 0 && elements % m.supports == 0;
  if (!fits || rho.size() != 1)
    return refuse(view, Code::bad_attribute, "coefficients, support_vectors, rho and n_supports do not fit each other")
        .expected("a vector and a coefficient for each of n_supports, and one rho")
        .found(std::to_string(m.supports) + " supports, " + std::to_string(count) + " coefficients, " + std::to_string(elements) +
               " numbers of vectors, " + std::to_string(rho.size()) + " rho");
  m.offset = rho[0];
  return m;
}

}  // namespace

OP(svm_regressor) {
    .name = "SVMRegressor",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"coefficients: floats", "kernel_params: floats", "kernel_type: string = LINEAR", "n_supports: int = 0",
                    "one_class: int = 0", "post_transform: string = NONE", "rho: floats", "support_vectors: floats"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_regressor(view, 1));
      const Machine m = TRY(machine_of(view));
      if (view.type(0).has_rank()) TRY(require_equal(view, view.type(0).dim(-1), Dim(m.columns()), "features of samples and supports"));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      const Features f = TRY(features_of(call));
      const Machine m = TRY(machine_of(call.view));
      if (f.columns != m.columns()) return refuse(call.view, Code::shape_mismatch, "a wrong number of features");
      const PostTransform how = TRY(post_transform_of(call.view));
      const bool one_class = call.view.attributes->integer("one_class", 0) != 0;
      Tensor& y = *TRY(call.make(0, {f.rows, 1}));
      for (int64_t n = 0; n < f.rows; ++n) {
        double score = m.score(f.row(n));
        if (one_class) score = score > 0 ? 1 : -1;
        transform(how, {&score, 1});
        y.set_number(n, score);
      }
      return {};
    },
    .first_opset = 1,
    .samples =
        {{"f32[3,3]; coefficients=[0.5,-0.3,0.2,-0.4], rho=[0.1], n_supports=4, "
          "support_vectors=[0.0,1.0,1.0,1.0,0.0,0.5,0.2,-1.0,2.0,1.0,1.0,1.0], kernel_type=RBF, kernel_params=[0.5,0.25,2.0]",
          "f32[3,3]; coefficients=[0.5,-0.3], rho=[0.1], n_supports=2, support_vectors=[0.0,1.0,1.0,1.0,0.0,0.5], kernel_type=POLY, "
          "kernel_params=[0.5,0.25,2.0]",
          "f32[3,3]; coefficients=[0.5,-0.3], rho=[0.1], n_supports=2, support_vectors=[0.0,1.0,1.0,1.0,0.0,0.5], kernel_type=SIGMOID, "
          "kernel_params=[0.5,0.25,2.0]",
          "f32[3,3]; coefficients=[0.5,-0.3], rho=[0.1], n_supports=2, support_vectors=[0.0,1.0,1.0,1.0,0.0,0.5], one_class=1, "
          "kernel_params=[0.0,0.0,0.0]",
          "f32[3,3]; coefficients=[0.5,0.2,0.1], rho=[0.3], kernel_params=[0.0,0.0,0.0]"}},
};

}  // namespace tenon::ops::op_svm_regressor
