// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "codegen/cost/machine.h"

namespace tenon::cli {

/// Measures what this machine can do on so many threads of the default thread pool: peaks, reads of half of each cache and of memory by one
/// core and by all, and what a region takes beyond its work; of what another core wrote, the median of some rounds. Cost: below a second.
codegen::Machine measure_machine(const codegen::Target& target, int threads);

/// By name and unit.
nlohmann::ordered_json machine_data(const codegen::Machine& machine);

}  // namespace tenon::cli
