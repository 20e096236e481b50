// SPDX-License-Identifier: Apache-2.0
#include "rewrite/verify/subgraph_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/literal.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "rewrite/verify/evaluation_work.h"

namespace tenon::rewrite {
namespace {

struct PlanStep {
  SizeChoice size_choice;
  Distribution distribution;
};
/// The instances of a trial, the most significant first: large subgraphs are run on the first ones only.
constexpr PlanStep kPlan[] = {
    {SizeChoice::distinct, Distribution::normal},   {SizeChoice::twos, Distribution::special},
    {SizeChoice::ones, Distribution::normal},       {SizeChoice::threes, Distribution::infinite},
    {SizeChoice::distinct, Distribution::huge},     {SizeChoice::zeros, Distribution::normal},
    {SizeChoice::distinct, Distribution::nan},      {SizeChoice::distinct, Distribution::positive},
    {SizeChoice::three_one, Distribution::big},     {SizeChoice::distinct, Distribution::tiny},
    {SizeChoice::one_three, Distribution::special}, {SizeChoice::fours, Distribution::normal},
    {SizeChoice::zero_first, Distribution::normal}, {SizeChoice::twelves, Distribution::positive},
    {SizeChoice::threes, Distribution::huge},       {SizeChoice::distinct, Distribution::large},
    {SizeChoice::twos, Distribution::masked},       {SizeChoice::distinct, Distribution::masked},
};
/// Further steps, where the old side cannot be evaluated in any step of the plan.
constexpr PlanStep kLastResort[] = {
    {SizeChoice::twos, Distribution::tiny},       {SizeChoice::ones, Distribution::tiny},    {SizeChoice::fours, Distribution::tiny},
    {SizeChoice::threes, Distribution::positive}, {SizeChoice::twelves, Distribution::tiny},
};
constexpr int kRounds = 4;                              ///< how often the plan is run for cheap subgraphs
constexpr int kPerturbations = 8;                       ///< perturbed runs that estimate the rounding error before a difference counts
constexpr int64_t kMostTensorBytes = int64_t{1} << 28;  ///< limit of one tensor

ops::EvaluateOptions bounded(ops::Mode mode = ops::Mode::declared) {
  ops::EvaluateOptions options;
  options.mode = mode;
  options.byte_limit = kMostTensorBytes;
  return options;
}

/// Finite ones are of middle size.
bool is_moderate(Distribution distribution) {
  return distribution == Distribution::normal || distribution == Distribution::positive || !is_finite(distribution);
}

std::string element_name(const Sizes& shape, int64_t at) {
  std::string out;
  for (size_t axis = shape.size(); axis-- > 0; at /= shape[axis])
    out = fmt::format("{}{}{}", at % shape[axis], out.empty() ? "" : ",", out);
  return "[" + out + "]";
}

std::string text_of(const Tensor& t) {
  std::string out = type_text(t.dtype(), t.shape()) + " = [";
  const int64_t shown = std::min<int64_t>(t.count(), 12);
  for (int64_t i = 0; i < shown; ++i) out += (i ? ", " : "") + ir::element_text(t, i);
  return out + (shown < t.count() ? ", ...]" : "]");
}

bool is_finite(const Tensor& t) {
  for (int64_t i = 0; is_float(t.dtype()) && i < t.count(); ++i)
    if (!std::isfinite(t.number(i))) return false;
  return true;
}

bool has_subnormal(const Tensor& t) {
  for (int64_t i = 0; is_float(t.dtype()) && i < t.count(); ++i)
    if (const double x = std::abs(t.number(i)); x > 0 && x < smallest_positive_of(t.dtype()) / (2 * unit_of(t.dtype()))) return true;
  return false;
}

/// The largest magnitude among the finite elements of a float tensor.
double largest_in(const Tensor& t) {
  double out = 0;
  for (int64_t i = 0; is_float(t.dtype()) && i < t.count(); ++i)
    if (const double x = std::abs(t.number(i)); std::isfinite(x)) out = std::max(out, x);
  return out;
}

/// Several sizes are 0 at once: what a Reshape with -1 makes of no elements is arbitrary, and models' own arithmetic is off there.
bool are_all_empty(const std::vector<Tensor>& old, const std::vector<Tensor>& fresh) {
  const auto is_empty = [](const Tensor& t) { return t.count() == 0; };
  return std::ranges::all_of(old, is_empty) && std::ranges::all_of(fresh, is_empty);
}

class SubgraphTrial {
 public:
  SubgraphTrial(const ir::Graph& original, const Subgraph& subgraph, Numerics numerics, const SubgraphTrialLimits& limits)
      : original_(original),
        subgraph_(subgraph),
        numerics_(numerics),
        limits_(limits),
        sampler_(original, subgraph, limits.seed),
        cost_(*subgraph.before) {
    for (ValueId v : subgraph.before->values()) coarsest_unit_ = std::max(coarsest_unit_, unit_of(subgraph.before->value(v).type.dtype));
  }

  Verdict run() {
    run_plan(kPlan);
    for (int round = 1; round < kRounds && work_ < limits_.work / 64; ++round) {
      tried_.clear();
      run_plan(kPlan);
    }
    if (verdict_.instances == 0 && !verdict_.counter_example) run_plan(kLastResort);
    return std::move(verdict_);
  }

 private:
  void run_plan(std::span<const PlanStep> plan) {
    for (PlanStep step : plan) {
      if (verdict_.counter_example || (verdict_.instances > 0 && work_ > limits_.work)) return;
      if (!suits(step.distribution)) continue;
      if (refused_size_choices_.contains(step.size_choice) && valid_size_choice_) step.size_choice = *valid_size_choice_;
      if (!tried_.insert({sampler_.has_symbols() ? step.size_choice : SizeChoice::distinct, step.distribution}).second) continue;
      attempt(step);
    }
  }

  bool suits(Distribution distribution) const {
    if (limits_.finite && !is_finite(distribution)) return false;
    if (numerics_ == Numerics::exact) return true;
    if (numerics_ == Numerics::approximate) return is_moderate(distribution);
    // Products of two large inputs overflow where a factor changes sides, which it may.
    return distribution != Distribution::large || subgraph_.inputs.size() == 1;
  }

  void skip(std::string why) {
    ++verdict_.skipped;
    verdict_.why_skipped = std::move(why);
  }

  void attempt(PlanStep step) {
    auto instance = sampler_.draw(step.size_choice, step.distribution, limits_.most_elements,
                                  numerics_ != Numerics::exact && !is_finite(step.distribution));
    if (!instance) return skip("no sizes were found that all inputs can have");
    Observation observation{
        *instance, numerics_ != Numerics::exact && step.distribution >= Distribution::big && step.distribution <= Distribution::huge};
    auto old = ops::evaluate(*subgraph_.before, instance->inputs, observing(observation));
    if (!old) {
      refused_size_choices_.insert(step.size_choice);
      return skip(old.error().text());
    }
    if (observation.broke_promise) return skip("the old side has not the shapes that were inferred");
    valid_size_choice_ = step.size_choice;
    if (observation.overflowed) return skip("the old side overflows inside");
    bool overflows = false;
    auto fresh = ops::evaluate(*subgraph_.after, instance->inputs, observing_overflow(overflows));
    if (!fresh && fresh.error().code() == Code::limit_exceeded) return skip(fresh.error().text());
    if (!fresh)
      return report_difference({0, -1, type_text((*old)[0].dtype(), (*old)[0].shape()), fresh.error().text()}, *instance, step.distribution,
                               *old);
    if (step.size_choice == SizeChoice::zeros && are_all_empty(*old, *fresh)) return skip("there are no elements to compare");
    has_reference_ = true;
    auto difference = compare(*instance, *old, *fresh);
    if (difference && numerics_ != Numerics::exact && step.distribution == Distribution::huge && overflows)
      return skip("the new side overflows inside");
    if (difference && leaves_range(instance->inputs, step.distribution))
      return skip("the old side, written out, leaves the range of its numbers");
    if (difference) return report_difference(std::move(*difference), *instance, step.distribution, *old);
    if (!has_reference_) return skip("the old side has no answer in fp64");
    ++verdict_.instances;
  }

  struct Observation {
    const Instance& instance;
    bool for_overflow;
    bool overflowed = false, broke_promise = false;
  };
  /// Counts work, and looks at what goes on inside.
  ops::EvaluateOptions observing(Observation& observation) {
    ops::EvaluateOptions options = bounded();
    options.on_value = [this, &observation](ValueId id, const Tensor& t) {
      const ir::Value& value = subgraph_.before->value(id);
      work_ += cost_.of(id, t.count(), observation.instance.sizes);
      // Containers of tensors have no shape to compare.
      observation.broke_promise |= value.type.is_tensor() && !is_as_promised(value.type, t.shape(), observation.instance);
      observation.overflowed |= observation.for_overflow && !observation.overflowed && !is_finite(t);
    };
    return options;
  }

  static ops::EvaluateOptions observing_overflow(bool& overflows) {
    ops::EvaluateOptions options = bounded();
    options.on_value = [&overflows](ValueId, const Tensor& t) { overflows = overflows || !is_finite(t); };
    return options;
  }

  /// Whether the old side overflows inside. This excuses a difference only for reassociating rules, and only on extreme numbers.
  bool leaves_range(std::span<const Tensor> inputs, Distribution distribution) {
    if (numerics_ == Numerics::exact ||
        (distribution != Distribution::large && distribution != Distribution::huge && distribution != Distribution::tiny))
      return false;
    bool leaves = distribution == Distribution::tiny && std::ranges::any_of(inputs, has_subnormal);
    ops::EvaluateOptions options = bounded();
    options.on_value = [&](ValueId, const Tensor& t) {
      leaves = leaves || !is_finite(t) || (distribution == Distribution::tiny && has_subnormal(t));
    };
    return leaves || (ops::evaluate(expanded(), inputs, options) && leaves);
  }

  /// The old side with a definition in the place of every op that has one.
  const ir::Graph& expanded() {
    if (expanded_) return *expanded_;
    expanded_ = subgraph_.before->clone();
    for (bool any = true; any;) {
      any = false;
      std::vector<NodeId> nodes;
      for (NodeId node : expanded_->nodes()) nodes.push_back(node);
      for (NodeId node : nodes) any = (ops::def_of(*expanded_->node(node).op).definition && ops::expand(*expanded_, node)) || any;
    }
    return *expanded_;
  }

  std::optional<Difference> compare(const Instance& instance, const std::vector<Tensor>& old, const std::vector<Tensor>& fresh) {
    bool any_rounded = false;
    for (size_t k = 0; k < old.size(); ++k) {
      if (numerics_ != Numerics::exact && is_float(old[k].dtype())) {
        any_rounded = true;
        continue;
      }
      if (auto d = differ_in_bits(old[k], fresh[k])) return at_output(std::move(d), k);
    }
    return any_rounded ? compare_with_tolerance(instance, old, fresh) : std::nullopt;
  }

  std::optional<Difference> compare_with_tolerance(const Instance& instance, const std::vector<Tensor>& old,
                                                   const std::vector<Tensor>& fresh) {
    double largest_intermediate = 0;
    ops::EvaluateOptions options = bounded(ops::Mode::wide);
    options.on_value = [&largest_intermediate](ValueId, const Tensor& t) {
      largest_intermediate = std::max(largest_intermediate, largest_in(t));
    };
    auto wide = ops::evaluate(*subgraph_.before, instance.inputs, options);
    has_reference_ = wide.has_value();
    if (!wide) return std::nullopt;
    std::vector<ReferenceResult> references;
    for (size_t k = 0; k < old.size(); ++k) {
      references.push_back({old[k], (*wide)[k], {}, largest_intermediate});
      if (is_float(old[k].dtype())) widen_error(references[k], old[k]);
    }
    if (auto difference = differ_in_nonfinite(instance, old, fresh)) return difference;
    if (numerics_ != Numerics::approximate) widen_errors_by_perturbation(instance, references, 1);
    auto difference = differ(references, fresh);
    if (!difference || difference->at < 0 || numerics_ == Numerics::approximate) return difference;
    widen_errors_by_perturbation(instance, references, kPerturbations);
    return differ(references, fresh);
  }

  /// The first difference in NaN and infinities. One that only the range of a dtype causes (an intermediate result overflows on one side)
  /// does not count: where both sides agree when computed in fp64 throughout.
  std::optional<Difference> differ_in_nonfinite(const Instance& instance, const std::vector<Tensor>& old,
                                                const std::vector<Tensor>& fresh) {
    for (size_t k = 0; k < old.size(); ++k) {
      if (!is_float(old[k].dtype())) continue;
      auto difference = rewrite::differ_in_nonfinite(old[k], fresh[k]);
      if (!difference) continue;
      ops::EvaluateOptions options = bounded(ops::Mode::wide);
      options.keeps_declared_range = false;
      const auto before = ops::evaluate(*subgraph_.before, instance.inputs, options);
      const auto after = ops::evaluate(*subgraph_.after, instance.inputs, options);
      if (!before || !after) return std::nullopt;
      if (rewrite::differ_in_nonfinite((*before)[k], (*after)[k])) return at_output(std::move(difference), k);
    }
    return std::nullopt;
  }

  void widen_errors_by_perturbation(const Instance& instance, std::vector<ReferenceResult>& references, int times) {
    for (int i = 0; i < times; ++i) {
      const auto other = ops::evaluate(*subgraph_.before, sampler_.perturbed(instance.inputs), bounded());
      for (size_t k = 0; other && k < references.size(); ++k)
        if (is_float(references[k].declared.dtype())) widen_error(references[k], (*other)[k]);
    }
  }

  std::optional<Difference> differ(const std::vector<ReferenceResult>& references, const std::vector<Tensor>& fresh) const {
    for (size_t k = 0; k < references.size(); ++k) {
      if (!is_float(references[k].declared.dtype())) continue;
      if (auto d = differ_beyond_tolerance(references[k], fresh[k], numerics_, coarsest_unit_)) return at_output(std::move(d), k);
    }
    return std::nullopt;
  }

  static std::optional<Difference> at_output(std::optional<Difference> difference, size_t output) {
    difference->output = output;
    return difference;
  }

  void report_difference(Difference difference, const Instance& instance, Distribution distribution, const std::vector<Tensor>& old) {
    std::string text = fmt::format("output {}", difference.output);
    if (difference.at >= 0) text += ", element " + element_name(old[difference.output].shape(), difference.at);
    text += fmt::format(", {} inputs", name_of(distribution));
    std::map<uint32_t, std::pair<std::string, int64_t>> sizes;
    for (const auto& [symbol, size] : instance.sizes) sizes[symbol->id] = {symbol->name, size};
    for (const auto& [id, size] : sizes) text += fmt::format(", {} = {}", size.first, size.second);
    for (size_t i = 0; i < instance.inputs.size(); ++i) {
      const std::string& name = original_.value(subgraph_.inputs[i]).name;
      text += "; " + (name.empty() ? fmt::format("input {}", i) : name) + ": " + text_of(instance.inputs[i]);
    }
    verdict_.counter_example = {std::move(difference), std::move(text)};
  }

  const ir::Graph& original_;
  const Subgraph& subgraph_;
  Numerics numerics_;
  const SubgraphTrialLimits& limits_;
  Sampler sampler_;
  double coarsest_unit_ = 0;   ///< half a step of the coarsest float dtype of the old side
  bool has_reference_ = true;  ///< whether the last instance could be compared
  Verdict verdict_;
  int64_t work_ = 0;
  EvaluationWork cost_;
  std::unique_ptr<ir::Graph> expanded_;
  std::set<SizeChoice> refused_size_choices_;
  std::optional<SizeChoice> valid_size_choice_;
  std::set<std::pair<SizeChoice, Distribution>> tried_;
};

}  // namespace

Verdict try_subgraph(const ir::Graph& original, const Subgraph& subgraph, Numerics numerics, const SubgraphTrialLimits& limits) {
  return SubgraphTrial(original, subgraph, numerics, limits).run();
}

}  // namespace tenon::rewrite
