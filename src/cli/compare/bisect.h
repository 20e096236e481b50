// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/compare/bisect_search.h"
#include "cli/rewrite/watch.h"
#include "passes/pass.h"

namespace tenon::cli {

class Console;

/// One tested number of rewrites.
struct Probe {
  int64_t rewrites = 0;
  OracleAnswer answer;
  double ms = 0;
};

/// Finds the first rewrite that makes a model bad. Rewriting is deterministic: the first K rewrites are the same in every run.
class Bisection {
 public:
  /// The verdict on the original graph after so many rewrites. skip: it cannot be determined.
  using Judge = std::function<Result<OracleAnswer>(const ir::Graph& graph, int64_t rewrites)>;

  /// `original` and `options` outlive the bisection.
  Bisection(const ir::Graph& original, const passes::Options& options, Judge judge, Console& console)
      : original_(original), options_(options), judge_(std::move(judge)), console_(console) {}

  /// Counts all rewrites. Errors: those of passes::optimise.
  Result<int64_t> count();
  /// Checks one number of rewrites, and prints the verdict.
  Result<OracleAnswer> probe(int64_t rewrites);
  /// Searches between a good and a bad number of rewrites.
  Result<BisectResult> search(int64_t good, int64_t bad);
  /// Repeats the rewrite and returns its record. dump: may be null.
  Result<RewriteRecord> record(int64_t number, RewriteDump* dump);

  const std::vector<Probe>& probes() const { return probes_; }

 private:
  Result<std::unique_ptr<ir::Graph>> rewritten(int64_t rewrites, RewriteWatch& watch);

  const ir::Graph& original_;
  const passes::Options& options_;
  Judge judge_;
  Console& console_;
  std::vector<Probe> probes_;
};

}  // namespace tenon::cli
