// SPDX-License-Identifier: Apache-2.0
#include "rewrite/self_test/self_test.h"

#include <fmt/format.h>

#include <set>

#include "ir/text.h"
#include "ir/verify.h"
#include "rewrite/driver/driver.h"
#include "rewrite/self_test/search.h"
#include "rewrite/verify/verification.h"

namespace tenon::rewrite {
namespace {

constexpr int64_t kWork = 200'000;  ///< elements that one comparison computes, about

class Tester {
 public:
  Tester(const CompiledRule& rule, const ir::OpTable& ops, const SelfTestOptions& options)
      : rule_(rule), ops_(ops), options_(options), set_({std::make_shared<const CompiledRule>(rule)}, ops) {
    out_.rule = rule.name;
  }

  SelfTestResult run() {
    if (const auto spec = find_instances())
      for (const Mutation& mutation : mutations_of(*spec)) mutant(*spec, mutation);
    return std::move(out_);
  }

 private:
  /// The result of applying the rule to a graph.
  enum class Outcome : uint8_t { refused, right, unverified, wrong };

  /// The first one that is rewritten rightly.
  std::optional<InstanceSpec> find_instances() {
    InstanceSearch search(*rule_.equation, ops_, options_.seed);
    std::optional<InstanceSpec> first;
    std::set<std::string> texts;
    for (int i = 0; i < options_.attempts && out_.instances < options_.instances; ++i) {
      ++out_.attempts;
      auto step = search.next();
      if (!step.matches || !texts.insert(ir::print(*step.instance.graph)).second) continue;
      std::string why;
      const Outcome outcome = judge(*step.instance.graph, why);
      if (outcome == Outcome::wrong) out_.faults.push_back(fmt::format("{}\n{}", why, ir::print(*step.instance.graph)));
      if (outcome != Outcome::right && outcome != Outcome::wrong) continue;
      if (out_.instances++ == 0) out_.example = ir::print(*step.instance.graph);
      if (!first && outcome == Outcome::right) first = std::move(step.spec);
    }
    return first;
  }

  void mutant(InstanceSpec spec, const Mutation& mutation) {
    spec.mutation = mutation;
    const BuiltInstance instance = graph_of(spec, ops_);
    if (!instance.is_valid) return;  // the ops refuse the fault
    std::string why;
    // An unknown op cannot be evaluated.
    const Outcome outcome = mutation.kind == Mutation::Kind::domain ? rewritten(*instance.graph, {}, why) : judge(*instance.graph, why);
    if (outcome == Outcome::refused) {
      ++out_.mutants;
      ++out_.refused[std::string(name_of(mutation.kind))];
      return;
    }
    if (outcome == Outcome::unverified && mutation.kind != Mutation::Kind::domain) return;
    if (outcome == Outcome::wrong || must_refuse(mutation)) {
      if (why.empty()) why = "the rule must leave it alone";
      out_.faults.push_back(fmt::format("it still matches with a fault ({}): {}\n{}", mutation.text, why, ir::print(*instance.graph)));
      return;
    }
    ++out_.equivalent_mutants;
  }

  bool must_refuse(const Mutation& mutation) const {
    if (mutation.kind == Mutation::Kind::domain) return true;
    return !rule_.allow_outside_uses && (mutation.kind == Mutation::Kind::user || mutation.kind == Mutation::Kind::output);
  }

  /// Rewrites once, and runs the graph before and after.
  Outcome judge(const Graph& graph, std::string& why) {
    SubgraphTrialLimits limits;
    limits.work = kWork;
    limits.seed = options_.seed;
    Verifier verifier(Verify::all, limits);
    const Outcome outcome = rewritten(graph, std::ref(verifier), why);
    return outcome == Outcome::right && verifier.result().verified == 0 ? Outcome::unverified : outcome;
  }

  Outcome rewritten(const Graph& graph, const Check& check, std::string& why) {
    const auto copy = graph.clone();
    Options options;
    options.allowed = Numerics::approximate;
    options.stop_after = 1;
    options.check = check;
    const auto stats = rewrite(*copy, set_, options);
    if (!stats) why = stats.error().text();
    else if (!stats->reports.empty()) why = stats->reports[0];
    else if (stats->rules[0].applied == 0) return Outcome::refused;
    else if (!check) return Outcome::unverified;
    else if (auto ok = ir::verify(*copy); !ok) why = ok.error().text();
    else return Outcome::right;
    return Outcome::wrong;
  }

  const CompiledRule& rule_;
  const ir::OpTable& ops_;
  const SelfTestOptions& options_;
  RuleSet set_;
  SelfTestResult out_;
};

}  // namespace

SelfTestResult self_test(const CompiledRule& rule, const ir::OpTable& ops, const SelfTestOptions& options) {
  if (rule.equation) return Tester(rule, ops, options).run();
  SelfTestResult none;
  none.rule = rule.name;
  return none;
}

}  // namespace tenon::rewrite
