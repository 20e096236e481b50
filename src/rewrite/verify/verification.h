// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "rewrite/driver/apply.h"
#include "rewrite/verify/subgraph_trial.h"

namespace tenon::rewrite {

/// Which rewrites are run and compared with what they replace. first: one of each rule and signature (see `signature`); all: every one.
enum class Verify : uint8_t { off, first, all };
std::string_view name_of(Verify verify);
std::optional<Verify> verify_named(std::string_view name);

/// Counts of a verification, for reports.
struct Verification {
  int64_t rewrites = 0;  ///< all proposals
  int64_t verified = 0;  ///< were run, and equal on every instance
  int64_t known = 0;     ///< of a rule and signature that was verified before
  int64_t wrong = 0;
  int64_t instances = 0;  ///< compared
  int64_t skipped = 0;    ///< on which the old side could not be evaluated
  /// By rule: reason and count of the rewrites that could not be verified. They are carried out all the same.
  std::map<std::string, std::map<std::string, int64_t>, std::less<>> unverified;
  double ms = 0;
};
/// "312 rewrites: 61 verified on 540 instances, 250 known, 1 could not be verified, 0 wrong; 2.1 s", then a line for each reason.
std::string text_of(const Verification& verification);

/// Rewrites of one rule with equal signatures need only one verification. It has: ops, attributes, dtypes, ranks, which sizes are 0,
/// 1, other numbers or symbols, and small constants, of the old and of the new side.
std::string signature(const Proposal& proposal);

/// Runs proposals and what they would replace on drawn inputs, through the reference evaluator: `options.check = std::ref(verifier)`.
/// A difference counts only where it remains with the producers of the inputs in the subgraph, level by level: rules may depend on
/// properties of their operands without adding the producers to the match. Not thread-safe; its results are kept over several runs.
class Verifier {
 public:
  explicit Verifier(Verify mode, SubgraphTrialLimits limits = {}) : mode_(mode), limits_(limits) {}
  /// Errors: bad_rule with the counterexample. Cost: see try_subgraph.
  Result<void> operator()(const Proposal& proposal);
  const Verification& result() const { return result_; }

 private:
  Result<void> verify(const Proposal& proposal, const std::string& signature);
  Result<void> give_up(const Proposal& proposal, const std::string& signature, const std::string& reason);

  Verify mode_;
  SubgraphTrialLimits limits_;
  Verification result_;
  std::unordered_map<std::string, std::string> verdicts_;  ///< by signature: why it could not be verified; empty: it was
};

}  // namespace tenon::rewrite
