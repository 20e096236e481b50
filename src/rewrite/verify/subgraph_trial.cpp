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

struct Step {
  Spread spread;
  Draw draw;
};
/// The most significant first: a large subgraph affords only these.
constexpr Step kPlan[] = {
    {Spread::apart, Draw::normal},      {Spread::twos, Draw::special},      {Spread::ones, Draw::normal},
    {Spread::threes, Draw::infinite},   {Spread::apart, Draw::huge},        {Spread::zeros, Draw::normal},
    {Spread::apart, Draw::nan},         {Spread::apart, Draw::positive},    {Spread::three_one, Draw::big},
    {Spread::apart, Draw::tiny},        {Spread::one_three, Draw::special}, {Spread::fours, Draw::normal},
    {Spread::zero_first, Draw::normal}, {Spread::twelves, Draw::positive},  {Spread::threes, Draw::huge},
    {Spread::apart, Draw::large},       {Spread::twos, Draw::masked},       {Spread::apart, Draw::masked},
};
/// Where none of those has an answer.
constexpr Step kLastResort[] = {
    {Spread::twos, Draw::tiny},       {Spread::ones, Draw::tiny},    {Spread::fours, Draw::tiny},
    {Spread::threes, Draw::positive}, {Spread::twelves, Draw::tiny},
};
constexpr int kRounds = 4;                              ///< through the plan, where that costs next to nothing
constexpr int kMoreNudges = 8;                          ///< before a difference in size is believed
constexpr int64_t kMostTensorBytes = int64_t{1} << 28;  ///< of one tensor

ops::EvaluateOptions bounded(ops::Mode mode = ops::Mode::declared) {
  ops::EvaluateOptions options;
  options.mode = mode;
  options.byte_limit = kMostTensorBytes;
  return options;
}

/// Finite ones are of middle size.
bool is_tame(Draw draw) { return draw == Draw::normal || draw == Draw::positive || !is_finite(draw); }

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
    if (const double x = std::abs(t.number(i)); x > 0 && x < smallest_of(t.dtype()) / (2 * unit_of(t.dtype()))) return true;
  return false;
}

/// Of the finite elements of floats.
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
    for (ValueId v : subgraph.before->values()) coarsest_ = std::max(coarsest_, unit_of(subgraph.before->value(v).type.dtype));
  }

  Verdict run() {
    go_through(kPlan);
    for (int round = 1; round < kRounds && work_ < limits_.work / 64; ++round) {
      tried_.clear();
      go_through(kPlan);
    }
    if (verdict_.instances == 0 && !verdict_.counter_example) go_through(kLastResort);
    return std::move(verdict_);
  }

 private:
  void go_through(std::span<const Step> plan) {
    for (Step step : plan) {
      if (verdict_.counter_example || (verdict_.instances > 0 && work_ > limits_.work)) return;
      if (!suits(step.draw)) continue;
      if (refused_.contains(step.spread) && good_) step.spread = *good_;
      if (!tried_.insert({sampler_.has_symbols() ? step.spread : Spread::apart, step.draw}).second) continue;
      attempt(step);
    }
  }

  bool suits(Draw draw) const {
    if (limits_.finite && !is_finite(draw)) return false;
    if (numerics_ == Numerics::exact) return true;
    if (numerics_ == Numerics::approximate) return is_tame(draw);
    // Products of two large inputs overflow where a factor changes sides, which it may.
    return draw != Draw::large || subgraph_.inputs.size() == 1;
  }

  void skip(std::string why) {
    ++verdict_.skipped;
    verdict_.why_skipped = std::move(why);
  }

  void attempt(Step step) {
    auto instance = sampler_.draw(step.spread, step.draw, limits_.most_elements, numerics_ != Numerics::exact && !is_finite(step.draw));
    if (!instance) return skip("no sizes were found that all inputs can have");
    Observation observation{*instance, numerics_ != Numerics::exact && step.draw >= Draw::big && step.draw <= Draw::huge};
    auto old = ops::evaluate(*subgraph_.before, instance->inputs, observing(observation));
    if (!old) {
      refused_.insert(step.spread);
      return skip(old.error().text());
    }
    if (observation.broke_promise) return skip("the old side has not the shapes that were inferred");
    good_ = step.spread;
    if (observation.overflowed) return skip("the old side overflows inside");
    bool overflows = false;
    auto fresh = ops::evaluate(*subgraph_.after, instance->inputs, noting(overflows));
    if (!fresh && fresh.error().code() == Code::limit_exceeded) return skip(fresh.error().text());
    if (!fresh) return wrong({0, -1, type_text((*old)[0].dtype(), (*old)[0].shape()), fresh.error().text()}, *instance, step.draw, *old);
    if (step.spread == Spread::zeros && are_all_empty(*old, *fresh)) return skip("there are no elements to compare");
    has_judge_ = true;
    auto difference = compare(*instance, *old, *fresh);
    if (difference && numerics_ != Numerics::exact && step.draw == Draw::huge && overflows) return skip("the new side overflows inside");
    if (difference && leaves_range(instance->inputs, step.draw)) return skip("the old side, written out, leaves the range of its numbers");
    if (difference) return wrong(std::move(*difference), *instance, step.draw, *old);
    if (!has_judge_) return skip("the old side has no answer in fp64");
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
      // What holds tensors has no shape of its own.
      observation.broke_promise |= value.type.is_tensor() && !is_as_promised(value.type, t.shape(), observation.instance);
      observation.overflowed |= observation.for_overflow && !observation.overflowed && !is_finite(t);
    };
    return options;
  }

  static ops::EvaluateOptions noting(bool& overflows) {
    ops::EvaluateOptions options = bounded();
    options.on_value = [&overflows](ValueId, const Tensor& t) { overflows = overflows || !is_finite(t); };
    return options;
  }

  /// Only reassociating rules are forgiven that, and only where numbers are extreme.
  bool leaves_range(std::span<const Tensor> inputs, Draw draw) {
    if (numerics_ == Numerics::exact || (draw != Draw::large && draw != Draw::huge && draw != Draw::tiny)) return false;
    bool leaves = draw == Draw::tiny && std::ranges::any_of(inputs, has_subnormal);
    ops::EvaluateOptions options = bounded();
    options.on_value = [&](ValueId, const Tensor& t) { leaves = leaves || !is_finite(t) || (draw == Draw::tiny && has_subnormal(t)); };
    return leaves || (ops::evaluate(written_out(), inputs, options) && leaves);
  }

  /// The old side with a definition in the place of every op that has one.
  const ir::Graph& written_out() {
    if (written_out_) return *written_out_;
    written_out_ = subgraph_.before->clone();
    for (bool any = true; any;) {
      any = false;
      std::vector<NodeId> nodes;
      for (NodeId node : written_out_->nodes()) nodes.push_back(node);
      for (NodeId node : nodes) any = (ops::def_of(*written_out_->node(node).op).definition && ops::expand(*written_out_, node)) || any;
    }
    return *written_out_;
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
    return any_rounded ? compare_sizes(instance, old, fresh) : std::nullopt;
  }

  std::optional<Difference> compare_sizes(const Instance& instance, const std::vector<Tensor>& old, const std::vector<Tensor>& fresh) {
    double largest = 0;
    ops::EvaluateOptions options = bounded(ops::Mode::wide);
    options.on_value = [&largest](ValueId, const Tensor& t) { largest = std::max(largest, largest_in(t)); };
    auto wide = ops::evaluate(*subgraph_.before, instance.inputs, options);
    has_judge_ = wide.has_value();
    if (!wide) return std::nullopt;
    std::vector<ReferenceResult> references;
    for (size_t k = 0; k < old.size(); ++k) {
      references.push_back({old[k], (*wide)[k], {}, largest});
      if (is_float(old[k].dtype())) blame(references[k], old[k]);
    }
    if (auto difference = differ_in_places(instance, old, fresh)) return difference;
    if (numerics_ != Numerics::approximate) nudge(instance, references, 1);
    auto difference = differ(references, fresh);
    if (!difference || difference->at < 0 || numerics_ == Numerics::approximate) return difference;
    nudge(instance, references, kMoreNudges);
    return differ(references, fresh);
  }

  /// Of NaN and infinities. What only the range of a dtype makes (an intermediate overflows on one way of computing and not on the other)
  /// is no difference: in fp64 from end to end the sides agree there.
  std::optional<Difference> differ_in_places(const Instance& instance, const std::vector<Tensor>& old, const std::vector<Tensor>& fresh) {
    for (size_t k = 0; k < old.size(); ++k) {
      if (!is_float(old[k].dtype())) continue;
      auto difference = rewrite::differ_in_places(old[k], fresh[k]);
      if (!difference) continue;
      ops::EvaluateOptions options = bounded(ops::Mode::wide);
      options.keeps_declared_range = false;
      const auto before = ops::evaluate(*subgraph_.before, instance.inputs, options);
      const auto after = ops::evaluate(*subgraph_.after, instance.inputs, options);
      if (!before || !after) return std::nullopt;
      if (rewrite::differ_in_places((*before)[k], (*after)[k])) return at_output(std::move(difference), k);
    }
    return std::nullopt;
  }

  void nudge(const Instance& instance, std::vector<ReferenceResult>& references, int times) {
    for (int i = 0; i < times; ++i) {
      const auto other = ops::evaluate(*subgraph_.before, sampler_.nudged(instance.inputs), bounded());
      for (size_t k = 0; other && k < references.size(); ++k)
        if (is_float(references[k].own.dtype())) blame(references[k], (*other)[k]);
    }
  }

  std::optional<Difference> differ(const std::vector<ReferenceResult>& references, const std::vector<Tensor>& fresh) const {
    for (size_t k = 0; k < references.size(); ++k) {
      if (!is_float(references[k].own.dtype())) continue;
      if (auto d = differ_in_size(references[k], fresh[k], numerics_, coarsest_)) return at_output(std::move(d), k);
    }
    return std::nullopt;
  }

  static std::optional<Difference> at_output(std::optional<Difference> difference, size_t output) {
    difference->output = output;
    return difference;
  }

  void wrong(Difference difference, const Instance& instance, Draw draw, const std::vector<Tensor>& old) {
    std::string text = fmt::format("output {}", difference.output);
    if (difference.at >= 0) text += ", element " + element_name(old[difference.output].shape(), difference.at);
    text += fmt::format(", {} inputs", name_of(draw));
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
  double coarsest_ = 0;    ///< half a step of the coarsest float dtype of the old side
  bool has_judge_ = true;  ///< whether the last instance could be compared
  Verdict verdict_;
  int64_t work_ = 0;
  EvaluationWork cost_;
  std::unique_ptr<ir::Graph> written_out_;
  std::set<Spread> refused_;
  std::optional<Spread> good_;
  std::set<std::pair<Spread, Draw>> tried_;
};

}  // namespace

Verdict try_subgraph(const ir::Graph& original, const Subgraph& subgraph, Numerics numerics, const SubgraphTrialLimits& limits) {
  return SubgraphTrial(original, subgraph, numerics, limits).run();
}

}  // namespace tenon::rewrite
