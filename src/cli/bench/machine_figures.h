// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "codegen/cost/machine.h"

namespace tenon::cli {

/// Measures what this machine can do on so many threads of the default thread pool: peak FLOP/s, read bandwidth of each cache
/// and of memory for one core and for all, the overhead of a parallel region, and the bandwidth of data that another core wrote (the median
/// of some rounds). Cost: below a second.
codegen::Machine measure_machine(const codegen::Target& target, int threads);

/// The description as JSON, with units in the keys.
nlohmann::ordered_json machine_data(const codegen::Machine& machine);

}  // namespace tenon::cli
