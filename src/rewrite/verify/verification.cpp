// SPDX-License-Identifier: Apache-2.0
#include "rewrite/verify/verification.h"

#include <fmt/format.h>

#include <chrono>

namespace tenon::rewrite {
namespace {

constexpr int kExtraSteps[] = {0, 1, 2, 4, 8};  ///< of extract_subgraph, one trial each

Error counter_example_error(const Proposal& p, const Verdict::CounterExample& w) {
  const Node& root = p.graph.node(p.match.root());
  std::string place = "node '" + root.name + "' (" + root.op->name + ")";
  return fail(Code::bad_rule, std::move(place), "it changes the result: " + w.example)
      .expected(w.difference.expected)
      .found(w.difference.found);
}

}  // namespace

std::string_view name_of(Verify verify) {
  switch (verify) {
    case Verify::off: return "off";
    case Verify::first: return "first";
    case Verify::all: return "all";
  }
  return "";
}

std::optional<Verify> verify_named(std::string_view name) {
  for (Verify v : {Verify::off, Verify::first, Verify::all})
    if (name == name_of(v)) return v;
  return std::nullopt;
}

Result<void> Verifier::operator()(const Proposal& proposal) {
  if (mode_ == Verify::off) return {};
  const auto start = std::chrono::steady_clock::now();
  ++result_.rewrites;
  const std::string key = mode_ == Verify::first ? signature(proposal) : std::string();
  const auto known = verdicts_.find(key);
  Result<void> answer;
  if (known == verdicts_.end()) answer = verify(proposal, key);
  else if (known->second.empty()) ++result_.known;
  else answer = give_up(proposal, key, known->second);
  result_.ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

Result<void> Verifier::give_up(const Proposal& proposal, const std::string& signature, const std::string& reason) {
  ++result_.unverified[proposal.rule.name][reason];
  if (mode_ == Verify::first) verdicts_.emplace(signature, reason);
  return {};
}

Result<void> Verifier::verify(const Proposal& p, const std::string& signature) {
  std::optional<Verdict::CounterExample> counter_example;
  std::string reason = "no instance was found";
  for (int extra_steps : kExtraSteps) {
    const auto subgraph = extract_subgraph(p, extra_steps);
    if (!subgraph && extra_steps == 0) return give_up(p, signature, subgraph.error()->what);
    if (!subgraph) break;
    SubgraphTrialLimits limits = limits_;
    limits.finite = limits.finite || p.rule.finite;
    Verdict verdict = try_subgraph(p.graph, *subgraph, p.rule.numerics, limits);
    result_.instances += verdict.instances;
    result_.skipped += verdict.skipped;
    if (verdict.counter_example) {
      counter_example = std::move(verdict.counter_example);
    } else if (verdict.instances > 0) {
      ++result_.verified;
      // A result that depends on the producers around this match does not hold for other matches of the signature.
      if (mode_ == Verify::first && !counter_example) verdicts_.emplace(signature, "");
      return {};
    } else if (!verdict.why_skipped.empty()) {
      reason = std::move(verdict.why_skipped);
    }
    if (subgraph->is_whole) break;
  }
  if (!counter_example) return give_up(p, signature, reason);
  ++result_.wrong;
  return counter_example_error(p, *counter_example);
}

std::string text_of(const Verification& v) {
  int64_t unverified = 0;
  std::string reasons;
  for (const auto& [rule, counts] : v.unverified) {
    for (const auto& [reason, count] : counts) {
      unverified += count;
      reasons += fmt::format("\n  {} x {}: {}", count, rule, reason);
    }
  }
  return fmt::format("{} rewrites: {} verified on {} instances, {} known, {} could not be verified, {} wrong; {:.1f} s{}", v.rewrites,
                     v.verified, v.instances, v.known, unverified, v.wrong, v.ms / 1000, reasons);
}

}  // namespace tenon::rewrite
