// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "cli/bench/figures.h"
#include "cli/bench/session.h"

namespace tenon::cli {

/// "ids[2,128], mask[2,128]": the inputs of the runs.
std::string shapes_text(const BenchSession& session);
/// Prints times, rates and memory use of this engine.
void report_own(const BenchSession& session, const BenchFigures& figures, Console& console);
/// The same as JSON. cold: caches were evicted before each run.
nlohmann::ordered_json json_of(const BenchSession& session, const BenchFigures& figures, double weight_bytes, bool cold);
/// Prints the other engine's statistics next to this one's, and returns them as JSON. Errors: device_failed where the results have
/// different types.
Result<nlohmann::ordered_json> report_peer(BenchSession& session, const BenchFigures& figures, Console& console);
/// Prints a table of kernels, and returns it as JSON.
nlohmann::ordered_json report_kernels(const std::vector<KernelTime>& kernels, Console& console);

}  // namespace tenon::cli
