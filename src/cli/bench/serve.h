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

/// An engine that another process measures by commands (`bench --serve`).
struct MeasuredEngine {
  std::string ready;         ///< the first line of output: times of load and first run in ms, version
  std::vector<double> work;  ///< of a run: numbers of operations (ByProductKind), then bytes of weights read
  std::function<Result<std::vector<double>>(int count, bool cold)> run;  ///< returns the milliseconds of each run
  std::function<Result<std::span<const Tensor>>()> outputs;
  std::function<std::vector<double>()> limits;  ///< current limits of the machine: GFLOP/s by kind of product, then GB/s
};

/// Reads commands from `in`, one a line, and writes a line of response for each, until `in` ends: the protocol of
/// tools/bench/peer_bench.py, and `work` and `limits`. Errors: bad_usage (no such command), those of the command.
Result<void> serve(const MeasuredEngine& engine, std::istream& in, std::ostream& out);

}  // namespace tenon::cli
