// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <random>

#include "rewrite/self_test/instance.h"

namespace tenon::rewrite {

/// Looks for specs whose graphs match, by small steps: what leads further (more nodes that the ops take, then a deeper match, then more
/// conditions) is kept, and after a while without progress another start is drawn.
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
  InstanceSpec changed();
  DType any_type();
  Sizes any_shape();
  /// How far a graph is from a match; 0: no node.
  int64_t height(const BuiltInstance& instance, bool& matches) const;

  const Equation& equation_;
  const ir::OpTable& ops_;
  std::mt19937_64 random_;
  InstanceSpec current_;
  int64_t reached_ = -1;
  int starts_ = 0, idle_ = 0;
};

}  // namespace tenon::rewrite
