// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "cli/bench/figures.h"
#include "cli/bench/session.h"

namespace tenon::cli {

/// "ids[2,128], mask[2,128]": the inputs of the runs.
std::string shapes_text(const BenchSession& session);
/// Times, rates and memory of this engine, as lines.
void report_own(const BenchSession& session, const BenchFigures& figures, Console& console);
/// The same as data. cold: caches were evicted before each run.
nlohmann::ordered_json json_of(const BenchSession& session, const BenchFigures& figures, double weight_bytes, bool cold);
/// The other engine's figures next to this one's, as lines and as data. Errors: device_failed where the results have different types.
Result<nlohmann::ordered_json> report_peer(BenchSession& session, const BenchFigures& figures, Console& console);
/// A table of kernels, and the same as data.
nlohmann::ordered_json report_kernels(const std::vector<KernelTime>& kernels, Console& console);

}  // namespace tenon::cli
