// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ir/constant.h"
#include "ir/ids.h"

namespace tenon::ir {

/// An axis whose size depends on data and grows from run to run up to the capacity. The memory layout has the strides of the capacity.
struct GrowingAxis {
  uint32_t axis = 0;
  int64_t capacity = 0;
  friend bool operator==(const GrowingAxis&, const GrowingAxis&) = default;
};

/// A value that is kept between the runs of a context: a run reads it from an input and replaces it by an output.
struct State {
  std::string name;     ///< unique in its graph
  ValueId input;        ///< the old value
  uint32_t output = 0;  ///< slot of the graph output that has the new value
  std::optional<GrowingAxis> growing = {};
  ConstantRef initial = {};  ///< before the first run, of the input's type; null: zeros, of a growing state no rows at all
};

}  // namespace tenon::ir
