// SPDX-License-Identifier: Apache-2.0
#include "rewrite/self_test.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <random>
#include <set>

#include "ir/text.h"
#include "ir/verify.h"
#include "ops/evaluate.h"
#include "ops/sample.h"
#include "rewrite/driver.h"
#include "rewrite/self_test_instance.h"

namespace tenon::rewrite {
namespace {

constexpr std::array kTypes = {DType::f32, DType::boolean, DType::i64, DType::f16, DType::f64};

/// Attempts that draw the likeliest of everything.
constexpr int kLikely = 12;

/// A cube as well: a wrong order of axes shows in its elements alone.
std::array<Sizes, 6> shapes() { return {Sizes{2, 3, 4}, Sizes{2, 4}, Sizes{4}, Sizes{1, 2, 4, 4}, Sizes{4, 4}, Sizes{3, 3, 3}}; }

/// Relative, and absolute near 0. Constants of f64 graphs compare with the tolerance of f32 literals, so results are no nearer.
double tolerance_of(DType dtype, Numerics numerics) {
  if (numerics == Numerics::exact) return 0;
  const double unit = dtype == DType::f64 ? 1e-6 : dtype == DType::f32 ? 2e-5 : dtype == DType::bf16 ? 5e-2 : 1e-2;
  return numerics == Numerics::approximate ? std::max(unit, 2e-2) : unit;
}

bool same_number(double a, double b, double tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(a));
}

/// What differs; empty: nothing.
std::string difference(const Tensor& before, const Tensor& after, Numerics numerics) {
  if (before.dtype() != after.dtype() || before.shape() != after.shape())
    return fmt::format("{} became {}", type_text(before.dtype(), before.shape()), type_text(after.dtype(), after.shape()));
  if (before.dtype() == DType::string) return before.strings() == after.strings() ? "" : "the strings differ";
  const double tolerance = tolerance_of(before.dtype(), numerics);
  for (int64_t i = 0; i < before.count(); ++i)
    if (!same_number(before.number(i), after.number(i), tolerance))
      return fmt::format("element {}: {} became {}", i, before.number(i), after.number(i));
  return {};
}

class Tester {
 public:
  Tester(const CompiledRule& rule, const ir::OpTable& ops, const SelfTestOptions& options)
      : rule_(rule), ops_(ops), options_(options), set_({std::make_shared<const CompiledRule>(rule)}, ops), random_(options.seed) {
    out_.rule = rule.name;
  }

  SelfTest run() {
    const auto recipes = find_instances();
    if (!recipes.empty())
      for (const Fault& fault : faults_of(recipes[0])) mutant(recipes[0], fault);
    return std::move(out_);
  }

 private:
  Recipe draw(int attempt) {
    Recipe r;
    r.equation = &*rule_.equation;
    const auto all = shapes();
    const auto pick = [&](size_t count) { return static_cast<uint32_t>(random_() % count); };
    r.dtype = kTypes[attempt < kLikely ? static_cast<size_t>(attempt) / all.size() % kTypes.size()
                     : pick(2) == 0    ? 0
                                       : pick(kTypes.size())];
    r.shape = all[attempt < kLikely ? static_cast<size_t>(attempt) % all.size() : pick(all.size())];
    r.draws.resize(r.equation->variables.size() + r.equation->terms.size());
    for (uint32_t& d : r.draws) d = attempt < kLikely ? 0 : pick(64);
    return r;
  }

  std::vector<Recipe> find_instances() {
    std::vector<Recipe> found;
    std::set<std::string> texts;
    for (int i = 0; i < options_.attempts && std::ssize(found) < options_.instances; ++i) {
      if (i < kLikely && !found.empty()) continue;  // those are much alike
      Recipe recipe = draw(i);
      auto graph = graph_of(recipe, ops_);
      if (!graph) continue;
      const std::string text = ir::print(*graph);
      auto after = rewritten(*graph);
      if (!after || !texts.insert(text).second) continue;
      if (out_.example.empty()) out_.example = text;
      if (const std::string wrong = compare(*graph, *after); !wrong.empty()) out_.faults.push_back(fmt::format("{}\n{}", wrong, text));
      ++out_.instances;
      found.push_back(std::move(recipe));
    }
    return found;
  }

  void mutant(Recipe recipe, const Fault& fault) {
    recipe.fault = fault;
    const auto graph = graph_of(recipe, ops_);
    if (!graph) return;  // the ops refuse the fault
    const auto after = rewritten(*graph);
    if (!after) {
      ++out_.mutants;
      return;
    }
    const std::string wrong = compare(*graph, *after);
    if (wrong.empty()) ++out_.harmless;
    else out_.faults.push_back(fmt::format("it still matches with a fault ({}), and then {}\n{}", fault.text, wrong, ir::print(*graph)));
  }

  /// The graph after one rewrite; nullptr where the rule does not apply.
  std::unique_ptr<Graph> rewritten(const Graph& graph) {
    auto copy = graph.clone();
    Options options;
    options.allowed = Numerics::approximate;
    options.stop_after = 1;
    const auto stats = rewrite(*copy, set_, options);
    if (!stats) {
      out_.faults.push_back(stats.error().text());
      return nullptr;
    }
    for (const std::string& report : stats->reports) out_.faults.push_back(fmt::format("{}\n{}", report, ir::print(graph)));
    if (stats->rules[0].applied == 0) return nullptr;
    if (auto ok = ir::verify(*copy); !ok) out_.faults.push_back(ok.error().text());
    return copy;
  }

  /// What differs, by reference on random inputs; empty: nothing, or the reference refuses the inputs.
  std::string compare(const Graph& before, const Graph& after) {
    std::vector<Tensor> inputs;
    for (ValueId v : before.inputs()) {
      const ir::Type& type = before.value(v).type;
      Sizes sizes;
      for (Dim d : *type.shape) sizes.push_back(d.value());
      auto tensor = ops::random_tensor(type.dtype, std::move(sizes), random_());
      if (!tensor) return {};
      inputs.push_back(std::move(*tensor));
    }
    const auto a = ops::evaluate(before, inputs);
    if (!a) return {};
    const auto b = ops::evaluate(after, inputs);
    if (!b) return fmt::format("the rewritten graph fails: {}", b.error().text());
    for (size_t i = 0; i < a->size(); ++i)
      if (std::string wrong = difference((*a)[i], (*b)[i], rule_.numerics); !wrong.empty()) return fmt::format("output {}: {}", i, wrong);
    return {};
  }

  const CompiledRule& rule_;
  const ir::OpTable& ops_;
  const SelfTestOptions& options_;
  RuleSet set_;
  std::mt19937_64 random_;
  SelfTest out_;
};

}  // namespace

SelfTest self_test(const CompiledRule& rule, const ir::OpTable& ops, const SelfTestOptions& options) {
  if (!rule.equation) return {.rule = rule.name, .instances = 0, .mutants = 0, .harmless = 0, .example = {}, .faults = {}};
  return Tester(rule, ops, options).run();
}

}  // namespace tenon::rewrite
