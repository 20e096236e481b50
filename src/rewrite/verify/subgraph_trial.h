// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "rewrite/verify/result_difference.h"
#include "rewrite/verify/sampling.h"
#include "rewrite/verify/subgraph.h"

namespace tenon::rewrite {

/// Limits of a trial. At least one instance is run.
struct SubgraphTrialLimits {
  int64_t work = 4'000'000;                  ///< computed elements, about, after which no further instance is run
  int64_t most_elements = int64_t{1} << 24;  ///< of all inputs of one instance
  uint64_t seed = 1;
  bool finite = false;  ///< inputs have neither NaN nor infinities, see Rule
};

/// The result of running both sides of a subgraph on random inputs.
struct Verdict {
  int instances = 0;        ///< on which both sides were compared
  int skipped = 0;          ///< on which the old side has no answer, or a side overflows inside
  std::string why_skipped;  ///< the last reason
  struct CounterExample {
    Difference difference;
    std::string example;  ///< sizes, inputs and the element
  };
  std::optional<CounterExample> counter_example;  ///< the first difference
};

/// Instances go through sizes (0, 1, equal, odd, all apart) and elements (see Distribution); approximate ones get moderate numbers, and NaN
/// and infinities.
///
/// Where the old side gives NaN or an infinity, the new one gives the same, whatever the rule's numerics. For exact rules that is part of
/// the comparison bit by bit. For the others one difference is none: that only the range of a dtype makes, because an intermediate
/// overflows on one way of computing and not on the other. So both sides are computed once more in fp64 from end to end, where numbers of
/// middle size overflow nowhere; the rule is wrong where the places differ there too. In such an instance one float input has NaN,
/// infinities, or -inf in whole rows and in places (as masks have); the other inputs are normal. Rules that say of themselves that they are
/// for finite operands see none of these.
///
/// Where reassociating rules are judged on big numbers, instances on which the old side overflows
/// inside count as skipped; so do those on which the sides differ and the old side leaves the range when its ops are written out as they
/// are defined, and on the largest numbers those on which they differ and the new side overflows: a factor that changes sides does. Cost:
/// two evaluations by reference an instance for exact rules, four for others.
Verdict try_subgraph(const ir::Graph& original, const Subgraph& subgraph, Numerics numerics, const SubgraphTrialLimits& limits = {});

}  // namespace tenon::rewrite
