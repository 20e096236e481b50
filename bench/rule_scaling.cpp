// SPDX-License-Identifier: Apache-2.0
#include "rule_scaling.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <random>
#include <set>
#include <string>

#include "layers.h"
#include "ops/core/op.h"
#include "rewrite/driver/driver.h"
#include "rewrite/match.h"

namespace tenon::bench {
namespace {

using namespace rewrite;

/// Ops of one operand that model M does not have.
constexpr std::string_view kElsewhere[] = {"Sin",      "Cos",   "Tan",   "Asin", "Acos",        "Atan",  "Sinh", "Cosh",
                                           "Asinh",    "Acosh", "Atanh", "Ceil", "Floor",       "Round", "Sign", "Softplus",
                                           "Softsign", "Elu",   "Selu",  "Celu", "HardSigmoid", "Mish"};

/// Writes the surroundings of a node as the left side of an equation.
class NearMiss {
 public:
  NearMiss(const Graph& graph, std::mt19937& random) : query_(graph), random_(random) {}

  /// Empty where there is nothing to change at depth two.
  std::string of(NodeId root) {
    variables_ = 0;
    changed_ = false;
    std::string text = term(root, 1);
    return changed_ ? text : std::string();
  }

 private:
  std::string term(NodeId id, int depth) {
    const Node& node = query_.node(id);
    std::string text = node.op->name + "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) text += (i == 0 ? "" : ", ") + operand(node.inputs[i], depth);
    return text + ")";
  }

  std::string operand(ValueId value, int depth) {
    const bool may_change = !changed_ && depth >= 2 && random_() % 2 == 0;
    if (const auto number = query_.shape(value) && query_.rank(value) == 0 ? query_.number(value) : std::nullopt) {
      if (!may_change) return fmt::format("{}", *number);
      changed_ = true;
      return fmt::format("{}", *number + 1 + static_cast<double>(random_() % 1000) / 64);
    }
    const NodeId producer = query_.producer(value);
    if (may_change) {
      changed_ = true;
      return fmt::format("{}({}(?v{}))", kElsewhere[random_() % std::size(kElsewhere)], kElsewhere[random_() % std::size(kElsewhere)],
                         variables_++);
    }
    if (!producer || depth == 3) return fmt::format("?v{}", variables_++);
    return term(producer, depth + 1);
  }

  GraphQuery query_;
  std::mt19937& random_;
  int variables_ = 0;
  bool changed_ = false;
};

std::vector<RulePtr> near_misses(const Graph& graph, int64_t count) {
  std::mt19937 random(11);
  std::vector<NodeId> nodes;
  for (NodeId node : graph.nodes()) nodes.push_back(node);
  std::set<std::string> seen;
  std::vector<RulePtr> rules;
  while (static_cast<int64_t>(rules.size()) < count) {
    const std::string left = NearMiss(graph, random).of(nodes[random() % nodes.size()]);
    if (left.empty() || !seen.insert(left).second) continue;
    auto rule = std::make_shared<CompiledRule>();
    rule->name = fmt::format("near_miss_{}", rules.size());
    auto equation = Equation::parse(left + " => ?v0", graph.ops());
    if (!equation) continue;  // nothing left to bind
    rule->equation = std::move(*equation);
    rules.push_back(std::move(rule));
  }
  return rules;
}

double cpu_ms() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

}  // namespace

std::vector<Scaling> measure_rule_scaling(const std::vector<int64_t>& sizes, int runs) {
  const auto graph = make_model('M', 16'001);
  std::vector<Scaling> out;
  std::vector<RuleSet> sets;
  for (int64_t size : sizes) {
    sets.emplace_back(near_misses(*graph, size), graph->ops());
    out.push_back({size, static_cast<int64_t>(graph->node_count()), 0, {}});
  }
  for (int k = 0; k < runs; ++k) {
    for (size_t i = 0; i < sets.size(); ++i) {
      const double start = cpu_ms();
      const auto statistics = rewrite::rewrite(*graph, sets[i]);
      out[i].ms.push_back(cpu_ms() - start);
      if (!statistics || statistics->changed) std::abort();  // a near miss that matches measures nothing
      out[i].tried = 0;
      for (const RuleStatistics& rule : statistics->rules) out[i].tried += rule.tried;
    }
  }
  return out;
}

}  // namespace tenon::bench
