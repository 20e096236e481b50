// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/infer/require.h"
#include "ops/ml/kernel.h"

namespace tenon::ops::op_svm_classifier {

namespace {

/// Support vectors, sorted by class, with coefficients for the decision against each other class; without support vectors, a row of
/// coefficients for each class.
struct Machine {
  SvmKernel kernel;
  std::vector<double> weights, vectors, rho, prob_a, prob_b;
  Ints sizes, begins;  ///< support vectors of each class
  size_t classes = 0, supports = 0;

  size_t pairs() const { return classes * (classes - 1) / 2; }
  size_t columns() const { return supports > 0 ? vectors.size() / supports : weights.size() / classes; }
};

std::string lengths(const Machine& m) {
  return std::to_string(m.classes) + " classes, " + std::to_string(m.supports) + " supports, " + std::to_string(m.weights.size()) +
         " coefficients, " + std::to_string(m.vectors.size()) + " numbers of vectors, " + std::to_string(m.rho.size()) + " rho, " +
         std::to_string(m.prob_a.size()) + " and " + std::to_string(m.prob_b.size()) + " of prob_a and prob_b";
}

Result<Machine> machine_of(const NodeView& view) {
  Machine m{.kernel = TRY(svm_kernel(view)),
            .weights = float_list(view, "coefficients"),
            .vectors = float_list(view, "support_vectors"),
            .rho = float_list(view, "rho"),
            .prob_a = float_list(view, "prob_a"),
            .prob_b = float_list(view, "prob_b"),
            .sizes = view.attributes->ints("vectors_per_class"),
            .begins = {}};
  m.classes = static_cast<size_t>(TRY(labels_of(view, "classlabels_ints")).count());
  constexpr int64_t kMost = int64_t{1} << 31;
  bool fits = m.sizes.empty() || m.sizes.size() == m.classes;
  for (int64_t size : m.sizes) {
    fits = fits && size >= 0 && size < kMost;
    m.begins.push_back(static_cast<int64_t>(m.supports));
    m.supports += fits ? static_cast<size_t>(size) : 0;
  }
  if (m.supports == 0) {
    fits = fits && !m.rho.empty() && !m.weights.empty() && m.weights.size() % m.classes == 0;
  } else {
    fits = fits && !m.vectors.empty() && m.vectors.size() % m.supports == 0 && m.weights.size() == (m.classes - 1) * m.supports &&
           m.rho.size() == m.pairs() && m.prob_a.size() == m.prob_b.size() && (m.prob_a.empty() || m.prob_a.size() == m.pairs());
  }
  if (!fits) return refuse(view, Code::bad_attribute, "the lists of the machine do not fit each other").found(lengths(m));
  return m;
}

/// One decision for each pair of classes: a positive score votes for the first class of the pair.
struct Duel {
  std::vector<double> scores, votes;
};

Duel duel(const Machine& m, std::span<const double> x) {
  std::vector<double> likeness(m.supports);
  for (size_t k = 0; k < m.supports; ++k) likeness[k] = m.kernel(x, {m.vectors.data() + k * m.columns(), m.columns()});
  const auto part = [&](size_t row, size_t of) {
    double sum = 0;
    for (int64_t k = m.begins[of]; k < m.begins[of] + m.sizes[of]; ++k)
      sum += m.weights[row * m.supports + static_cast<size_t>(k)] * likeness[static_cast<size_t>(k)];
    return sum;
  };
  Duel out{{}, std::vector<double>(m.classes)};
  for (size_t i = 0; i < m.classes; ++i) {
    for (size_t j = i + 1; j < m.classes; ++j) {
      out.scores.push_back(m.rho[out.scores.size()] + part(j - 1, i) + part(i, j));
      out.votes[out.scores.back() > 0 ? i : j] += 1;
    }
  }
  return out;
}

/// The probabilities p of k classes that fit those of all pairs best: the least sum over i < j of (r_ji p_i - r_ij p_j)^2 with
/// sum p = 1, by the fixed-point iteration of Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise
/// coupling" (2004), algorithm 2, ended at an error of 0.005 / k (Chang and Lin, "LIBSVM", section 8).
std::vector<double> coupled(const std::vector<double>& r, size_t k) {
  std::vector<double> q(k * k), p(k, 1.0 / static_cast<double>(k)), qp(k);
  for (size_t t = 0; t < k; ++t) {
    for (size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += r[j * k + t] * r[j * k + t];
      q[t * k + j] = -r[j * k + t] * r[t * k + j];
    }
  }
  const size_t most = std::max<size_t>(100, k);
  for (size_t round = 0; round < most; ++round) {
    double whole = 0, error = 0;
    for (size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      whole += p[t] * qp[t];
    }
    for (double v : qp) error = std::max(error, std::fabs(v - whole));
    if (error < 0.005 / static_cast<double>(k)) break;
    for (size_t t = 0; t < k; ++t) {
      const double step = (whole - qp[t]) / q[t * k + t], grown = 1 + step;
      whole = (whole + step * (step * q[t * k + t] + 2 * qp[t])) / (grown * grown);
      p[t] += step;
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t * k + j]) / grown;
        p[j] /= grown;
      }
    }
  }
  return p;
}

std::vector<double> probabilities(const Machine& m, const std::vector<double>& scores) {
  constexpr double kLeast = 1e-7;
  std::vector<double> r(m.classes * m.classes);
  size_t pair = 0;
  for (size_t i = 0; i < m.classes; ++i) {
    for (size_t j = i + 1; j < m.classes; ++j, ++pair) {
      const double first = 1 / (1 + std::exp(scores[pair] * m.prob_a[pair] + m.prob_b[pair]));
      r[i * m.classes + j] = std::clamp(first, kLeast, 1 - kLeast);
      r[j * m.classes + i] = 1 - r[i * m.classes + j];
    }
  }
  return coupled(r, m.classes);
}

/// Scores of one sample and its class.
Result<std::pair<std::vector<double>, int64_t>> classified(const NodeView& view, const Machine& m, std::span<const double> x,
                                                           PostTransform how) {
  std::vector<double> scores;
  int64_t best = 0;
  if (m.supports == 0) {
    for (size_t k = 0; k < m.classes; ++k) scores.push_back(m.rho[0] + SvmKernel()(x, {m.weights.data() + k * m.columns(), m.columns()}));
    best = argmax(scores);
  } else {
    Duel d = duel(m, x);
    best = argmax(d.votes);
    scores = m.prob_a.empty() ? std::move(d.scores) : probabilities(m, d.scores);
  }
  if (scores.size() == 1) {
    TRY(refuse_probit_of_one_score(view, how));
    return std::pair(two_scores(scores[0], how != PostTransform::none, how), best);
  }
  transform(how, scores);
  return std::pair(std::move(scores), best);
}

Result<void> infer(NodeView& view) {
  TRY(infer_classifier(view, "classlabels_ints"));
  const Machine m = TRY(machine_of(view));
  if (m.supports > 0 && m.prob_a.empty() && m.classes > 2 && view.outputs.size() > 1 && view.outputs[1].has_rank())
    view.outputs[1].shape->back() = Dim(static_cast<int64_t>(m.pairs()));
  if (view.type(0).has_rank())
    TRY(require_equal(view, view.type(0).dim(-1), Dim(static_cast<int64_t>(m.columns())), "features of samples and supports"));
  return {};
}

Result<void> evaluate(Call& call) {
  const Features f = TRY(features_of(call));
  const Machine m = TRY(machine_of(call.view));
  if (f.columns != static_cast<int64_t>(m.columns())) return refuse(call.view, Code::shape_mismatch, "a wrong number of features");
  const PostTransform how = TRY(post_transform_of(call.view));
  const Labels labels = TRY(labels_of(call.view, "classlabels_ints"));
  const bool pairwise = m.supports > 0 && m.prob_a.empty() && m.classes > 2;
  const auto count = static_cast<int64_t>(pairwise ? m.pairs() : m.classes);
  Tensor& y = *TRY(call.make(0, {f.rows}));
  Tensor* z = call.out.size() > 1 ? TRY(call.make(1, {f.rows, count})) : nullptr;
  for (int64_t n = 0; n < f.rows; ++n) {
    const auto [scores, best] = TRY(classified(call.view, m, f.row(n), how));
    labels.store(y, n, best);
    for (int64_t k = 0; z && k < count; ++k) z->set_number(n * count + k, scores[static_cast<size_t>(k)]);
  }
  return {};
}

}  // namespace

OP(svm_classifier) {
    .name = "SVMClassifier",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y", "Z"}},
    .attributes = {{"classlabels_ints: ints", "classlabels_strings: strings", "coefficients: floats!", "kernel_params: floats",
                    "kernel_type: string = LINEAR", "post_transform: string = NONE", "prob_a: floats", "prob_b: floats", "rho: floats!",
                    "support_vectors: floats", "vectors_per_class: ints"}},
    .infer = infer,
    .reference = evaluate,
    .first_opset = 1,
    .samples =
        {{"f32[3,3]; coefficients=[0.5,-0.3,0.2,-0.4], rho=[0.1], vectors_per_class=[2,2], classlabels_ints=[7,9], "
          "support_vectors=[0.0,1.0,1.0,1.0,0.0,0.5,0.2,-1.0,2.0,1.0,1.0,1.0], kernel_type=RBF, kernel_params=[0.5,0.25,2.0], outputs=2",
          "f32[3,3]; coefficients=[0.5,-0.3,0.2,-0.4], rho=[0.1], vectors_per_class=[2,2], classlabels_ints=[7,9], prob_a=[-1.2], "
          "prob_b=[0.1], support_vectors=[0.0,1.0,1.0,1.0,0.0,0.5,0.2,-1.0,2.0,1.0,1.0,1.0], kernel_type=SIGMOID, "
          "kernel_params=[0.5,0.25,2.0], outputs=2",
          "f32[3,3]; coefficients=[0.5,-0.3,0.2,-0.4,0.1,0.2,-0.3,0.4], rho=[0.1,-0.2,0.05], vectors_per_class=[1,1,2], "
          "classlabels_ints=[7,9,11], support_vectors=[0.0,1.0,1.0,1.0,0.0,0.5,0.2,-1.0,2.0,1.0,1.0,1.0], kernel_type=POLY, "
          "kernel_params=[0.5,0.25,2.0], post_transform=LOGISTIC, outputs=2",
          "f32[3,3]; coefficients=[0.5,-0.3,0.2,-0.4,0.1,0.2,-0.3,0.4], rho=[0.1,-0.2,0.05], vectors_per_class=[1,1,2], "
          "classlabels_ints=[7,9,11], prob_a=[-1.2,-0.7,-2.0], prob_b=[0.1,0.2,-0.3], "
          "support_vectors=[0.0,1.0,1.0,1.0,0.0,0.5,0.2,-1.0,2.0,1.0,1.0,1.0], kernel_params=[0.5,0.25,2.0], kernel_type=RBF, outputs=2",
          "f32[3,3]; coefficients=[0.5,-0.3,0.2,-0.4,0.1,0.2,-0.3,0.4,0.7], rho=[0.1], classlabels_ints=[7,9,11], "
          "kernel_params=[0.0,0.0,0.0], post_transform=SOFTMAX, outputs=2"}},
};

}  // namespace tenon::ops::op_svm_classifier
