// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/activations.h"

#include <algorithm>
#include <cmath>

#include "base/scalar.h"
#include "ops/core/refuse.h"
#include "ops/definition/plain_ops.h"

namespace tenon::ops {

using ir::ValueId;

struct ActivationKind {
  std::string_view name;
  double alpha, beta;  ///< defaults; NaN where the activation takes none
  double (*value)(double x, double alpha, double beta);
  ValueId (*define)(ir::Builder& build, ValueId x, double alpha, double beta);
};

namespace {

constexpr double kNone = NAN;

ValueId times(ir::Builder& build, ValueId x, double factor) { return build("Mul", {x, scalar_like(build, x, factor)}); }

constexpr ActivationKind kKinds[] = {
    {"relu", kNone, kNone, [](double x, double, double) { return maximum(x, 0); },
     [](ir::Builder& b, ValueId x, double, double) { return b("Relu", {x}); }},
    {"tanh", kNone, kNone, [](double x, double, double) { return std::tanh(x); },
     [](ir::Builder& b, ValueId x, double, double) { return b("Tanh", {x}); }},
    {"sigmoid", kNone, kNone, [](double x, double, double) { return 1 / (1 + std::exp(-x)); },
     [](ir::Builder& b, ValueId x, double, double) { return b("Sigmoid", {x}); }},
    {"affine", 1, 0, [](double x, double alpha, double beta) { return alpha * x + beta; },
     [](ir::Builder& b, ValueId x, double alpha, double beta) { return b("Add", {times(b, x, alpha), scalar_like(b, x, beta)}); }},
    {"leakyrelu", 0.01, kNone, [](double x, double alpha, double) { return x < 0 ? alpha * x : x; },
     [](ir::Builder& b, ValueId x, double alpha, double) { return b("LeakyRelu", {x}, {{"alpha", static_cast<float>(alpha)}}); }},
    {"thresholdedrelu", 1, kNone, [](double x, double alpha, double) { return x > alpha ? x : 0; },
     [](ir::Builder& b, ValueId x, double alpha, double) { return b("ThresholdedRelu", {x}, {{"alpha", static_cast<float>(alpha)}}); }},
    {"scaledtanh", 1, 1, [](double x, double alpha, double beta) { return alpha * std::tanh(beta * x); },
     [](ir::Builder& b, ValueId x, double alpha, double beta) { return times(b, b("Tanh", {times(b, x, beta)}), alpha); }},
    {"hardsigmoid", 0.2, 0.5, [](double x, double alpha, double beta) { return minimum(maximum(alpha * x + beta, 0), 1); },
     [](ir::Builder& b, ValueId x, double alpha, double beta) {
       return b("HardSigmoid", {x}, {{"alpha", static_cast<float>(alpha)}, {"beta", static_cast<float>(beta)}});
     }},
    {"elu", 1, kNone, [](double x, double alpha, double) { return x < 0 ? alpha * std::expm1(x) : x; },
     [](ir::Builder& b, ValueId x, double alpha, double) { return b("Elu", {x}, {{"alpha", static_cast<float>(alpha)}}); }},
    {"softsign", kNone, kNone, [](double x, double, double) { return x / (1 + std::abs(x)); },
     [](ir::Builder& b, ValueId x, double, double) { return b("Softsign", {x}); }},
    {"softplus", kNone, kNone, [](double x, double, double) { return maximum(x, 0) + std::log1p(std::exp(-std::abs(x))); },
     [](ir::Builder& b, ValueId x, double, double) { return b("Softplus", {x}); }},
};

const ActivationKind* kind_named(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto* at = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const ActivationKind& k) { return k.name == name; });
  return at == std::end(kKinds) ? nullptr : at;
}

}  // namespace

double Activation::operator()(double x) const { return kind->value(x, alpha, beta); }
ValueId Activation::operator()(ir::Builder& build, ValueId x) const { return kind->define(build, x, alpha, beta); }

Result<std::vector<Activation>> activations_of(const NodeView& view, size_t direction, std::span<const std::string_view> otherwise) {
  ir::Strings names;
  if (const ir::Attribute* a = view.attributes->find("activations"); a && std::holds_alternative<ir::Strings>(*a))
    names = std::get<ir::Strings>(*a);
  const size_t each = otherwise.size();
  if (names.size() < each) names.assign(otherwise.begin(), otherwise.end());
  while (names.size() < (direction + 1) * each) names.push_back(names[names.size() - each]);
  const ir::Floats alphas = view.attributes->floats("activation_alpha"), betas = view.attributes->floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> out;
  for (size_t k = 0; k < (direction + 1) * each; ++k) {
    const ActivationKind* kind = kind_named(names[k]);
    if (!kind) return refuse(view, Code::bad_attribute, "an unknown activation").found(names[k]);
    Activation a{kind, kind->alpha, kind->beta};
    if (a.alpha == a.alpha && next_alpha < alphas.size()) a.alpha = alphas[next_alpha++];
    if (a.beta == a.beta && next_beta < betas.size()) a.beta = betas[next_beta++];
    if (k >= direction * each) out.push_back(a);
  }
  return out;
}

}  // namespace tenon::ops
