// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/bisect.h"

#include <fmt/format.h>

#include <limits>

#include "cli/console/console.h"
#include "passes/pipeline.h"

namespace tenon::cli {

Result<std::unique_ptr<ir::Graph>> Bisection::rewritten(int64_t rewrites, RewriteWatch& watch) {
  auto graph = original_.clone();
  passes::Options options = options_;
  options.rewriting.stop_after = rewrites;
  watch.hook_into(options);
  TRY(passes::optimise(*graph, options));
  return graph;
}

Result<int64_t> Bisection::count() {
  RewriteWatch watch(console_, nullptr);
  TRY(rewritten(std::numeric_limits<int64_t>::max(), watch));
  return watch.rewrites();
}

Result<OracleAnswer> Bisection::probe(int64_t rewrites) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  RewriteWatch watch(console_, nullptr);
  const auto graph = TRY(rewritten(rewrites, watch));
  console_.progress(fmt::format("{} rewrites: checking", rewrites));
  auto answer = TRY(judge_(*graph, rewrites));
  probes_.push_back({rewrites, answer, std::chrono::duration<double, std::milli>(Clock::now() - start).count()});
  console_.line(
      fmt::format("{:4}  {:>6} rewrites  {:8.2f} s  {}", name_of(answer.verdict), rewrites, probes_.back().ms / 1e3, answer.reason));
  return answer;
}

Result<BisectResult> Bisection::search(int64_t good, int64_t bad) {
  return bisect_steps(good, bad, [&](int64_t at) -> Result<Verdict> { return TRY(probe(at)).verdict; });
}

Result<RewriteRecord> Bisection::record(int64_t number, RewriteDump* dump) {
  if (dump) {
    dump->set_opsets(original_.opsets);
    dump->only(number);
  }
  RewriteWatch watch(console_, dump);
  TRY(rewritten(number, watch));
  if (!watch.last() || watch.last()->number != number)
    return fail(Code::internal, "bisect", fmt::format("rewrite {} was not done again", number));
  return *watch.last();
}

}  // namespace tenon::cli
