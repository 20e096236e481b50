// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace tenon::bench {

/// One run of a set of rules over a model in which none of them matches.
struct Scaling {
  int64_t rules = 0, nodes = 0;
  int64_t tried = 0;  ///< searches that the decision tree let through
  std::vector<double> ms;
};

/// Sets of so many rules over model M. A rule is the neighbourhood of one node of the model, three ops deep, with one op or number at depth
/// two or three changed to another: its root is there, and what fails is deep inside. One row a size; the sizes take turns.
std::vector<Scaling> measure_rule_scaling(const std::vector<int64_t>& sizes, int runs);

}  // namespace tenon::bench
