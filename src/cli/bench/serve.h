// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"

namespace tenon::cli {

/// The engine behind the commands of a process that measures several engines.
struct MeasuredEngine {
  std::string ready;         ///< what it says first: load and first run in ms, version
  std::vector<double> work;  ///< of a run: operations by products (ByProducts), bytes of weights
  std::function<Result<std::vector<double>>(int count, bool cold)> run;  ///< milliseconds of each
  std::function<Result<std::span<const Tensor>>()> outputs;
  std::function<std::vector<double>()> limits;  ///< of the machine at this moment: GFLOP/s by products, GB/s
};

/// Answers a line for each line of `in` until that ends: the protocol of tools/bench/peer_bench.py, and `work` and `limits`.
/// Errors: bad_usage (no such command), those of the command.
Result<void> serve(const MeasuredEngine& engine, std::istream& in, std::ostream& out);

}  // namespace tenon::cli
