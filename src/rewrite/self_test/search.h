// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <random>

#include "rewrite/self_test/instance.h"

namespace tenon::rewrite {

/// A stochastic hill climb to specs whose graphs match: a step changes the spec at random and is kept where its score does not fall; after
/// some steps without progress it restarts from a random spec.
class InstanceSearch {
 public:
  InstanceSearch(const Equation& equation, const ir::OpTable& ops, uint64_t seed) : equation_(equation), ops_(ops), random_(seed) {}

  struct Step {
    InstanceSpec spec;
    BuiltInstance instance;
    bool matches = false;  ///< the guards of the driver may still refuse it
  };
  Step next();

 private:
  uint32_t pick(size_t below) { return static_cast<uint32_t>(random_() % below); }
  InstanceSpec start();
  InstanceSpec changed();  ///< current_ with one or two random changes
  DType any_type();
  Sizes any_shape();
  /// Higher is nearer to a match: the number of nodes that inference accepts, then the depth of the match, then the conditions that hold.
  int64_t score(const BuiltInstance& instance, bool& matches) const;

  const Equation& equation_;
  const ir::OpTable& ops_;
  std::mt19937_64 random_;
  InstanceSpec current_;
  int64_t best_score_ = -1;
  int starts_ = 0, steps_without_progress_ = 0;
};

}  // namespace tenon::rewrite
