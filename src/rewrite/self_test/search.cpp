// SPDX-License-Identifier: Apache-2.0
#include "rewrite/self_test/search.h"

#include <algorithm>
#include <array>

#include "rewrite/equation/search.h"

namespace tenon::rewrite {
namespace {

constexpr int kLikelyShapes = 6;
constexpr std::array kTypes = {DType::f32, DType::boolean, DType::i64, DType::f16, DType::f64, DType::bf16};
/// The first kLikelyShapes are the likeliest. A cube as well: a wrong order of axes shows in its elements alone.
std::array<Sizes, 10> shapes() {
  return {Sizes{2, 3, 4}, Sizes{2, 4}, Sizes{4},    Sizes{1, 2, 4, 4}, Sizes{4, 4},
          Sizes{3, 3, 3}, Sizes{1},    Sizes{2, 1}, Sizes{2, 3, 2},    Sizes{}};
}
/// The first starts take the likeliest of everything: each likely shape with f32, then each with bool. Later ones are drawn.
constexpr int kLikelyStarts = 2 * kLikelyShapes;
constexpr int kMaxStepsWithoutProgress = 400;  ///< after more, the search restarts

constexpr int64_t kValidScore = 1'000'000;  ///< of a graph that inference accepts; above any count of nodes
constexpr int64_t kTermScore = 1'000;       ///< of a term that matches; above any count of conditions

/// Remembers the deepest mismatch.
struct ScoreTrace {
  static constexpr bool kOn = true;
  static ValueId resolve(const Match&, ValueId value) { return value; }
  bool is_waived(const Mismatch& mismatch, const Match&, const Bindings&) {
    deepest = std::max(deepest, depth * kTermScore + (mismatch.kind == Mismatch::Kind::condition ? mismatch.index + 1 : 0));
    return false;
  }
  void add_depth(int terms) { depth += terms; }

  int64_t depth = 0;    ///< terms that match now
  int64_t deepest = 0;  ///< at a mismatch: kTermScore for each term that matched, plus the number, from 1, of a condition that failed
};

}  // namespace

DType InstanceSearch::any_type() { return pick(2) == 0 ? DType::f32 : kTypes[pick(kTypes.size())]; }
Sizes InstanceSearch::any_shape() {
  auto all = shapes();
  return std::move(all[pick(all.size())]);
}

InstanceSpec InstanceSearch::start() {
  InstanceSpec r;
  r.equation = &equation_;
  const bool likely = starts_ < kLikelyStarts;
  const auto start = static_cast<size_t>(starts_++);
  r.dtype = likely ? kTypes[start / kLikelyShapes] : any_type();
  r.shape = likely ? shapes()[start % kLikelyShapes] : any_shape();
  r.choices.resize(equation_.variables.size() + equation_.terms.size());
  for (uint32_t& d : r.choices) d = likely ? 0 : static_cast<uint32_t>(random_() >> 32);
  return r;
}

/// One or two things drawn anew: names mostly, then alternatives, the element type, the shape.
InstanceSpec InstanceSearch::changed() {
  InstanceSpec r = current_;
  for (uint32_t times = 1 + pick(2); times > 0; --times) {
    const uint32_t what = pick(8);
    if (what == 0) r.dtype = any_type();
    else if (what == 1) r.shape = any_shape();
    else if (what < 6 && !equation_.variables.empty()) r.choices[pick(equation_.variables.size())] = static_cast<uint32_t>(random_() >> 32);
    else r.choices[pick(r.choices.size())] = static_cast<uint32_t>(random_() >> 32);
  }
  return r;
}

int64_t InstanceSearch::score(const BuiltInstance& instance, bool& matches) const {
  if (!instance.is_valid) return static_cast<int64_t>(instance.graph->node_count());
  const NodeId root = instance.graph->value(instance.graph->outputs()[0]).producer;
  if (!root) return kValidScore;
  Match match(*instance.graph, root);
  ScoreTrace trace;
  Search<ScoreTrace> search(equation_, match, trace);
  matches = search.run();
  return kValidScore + (matches ? kValidScore * kTermScore : trace.deepest);
}

InstanceSearch::Step InstanceSearch::next() {
  const bool fresh = best_score_ < 0 || steps_without_progress_ > kMaxStepsWithoutProgress;
  Step step;
  step.spec = fresh ? start() : changed();
  step.instance = graph_of(step.spec, ops_);
  const int64_t score = this->score(step.instance, step.matches);
  steps_without_progress_ = fresh || score > best_score_ ? 0 : steps_without_progress_ + 1;
  if (fresh || score >= best_score_) {
    best_score_ = score;
    current_ = step.spec;
  }
  return step;
}

}  // namespace tenon::rewrite
