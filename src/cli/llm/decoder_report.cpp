// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/decoder_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/bench/peer.h"
#include "cli/console/console.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

double tokens_of(const DecoderWork& work) { return static_cast<double>(work.tokens * work.batch); }
double rate(const DecoderWork& work, double ms) { return tokens_of(work) * 1e3 / ms; }

/// Tokens a second between which nine tenths of the samples are.
Interval rates(const DecoderWork& work, std::span<const double> ms) {
  return {rate(work, quantile(ms, 0.95)), rate(work, quantile(ms, 0.05))};
}

/// A prompt is bound by products, an answer by what it reads.
std::string share_text(const DecoderRow& row) {
  const BenchFigures& f = row.figures;
  if (row.work.decodes) return fmt::format("{:.0f} % of {:.1f} GB/s read", 100 * f.weight_gbps / f.memory, f.memory);
  return fmt::format("{:.0f} % of {:.0f} GFLOP/s", 100 * f.peak_share, f.peaks[0]);
}

std::vector<std::string> cells_of(const DecoderRow& row, bool has_peer) {
  const BenchFigures& f = row.figures;
  const Interval spread = rates(row.work, f.times);
  std::vector<std::string> out{text_of(row.work),
                               fmt::format("{:.1f}", rate(row.work, f.median_ms)),
                               fmt::format("{:.1f} to {:.1f}", spread.low, spread.high),
                               fmt::format("{:.3f}", f.median_ms / tokens_of(row.work)),
                               share_text(row),
                               fmt::format("{} of {}{}", row.kept, f.quiet.tried, f.quiet.count < row.kept ? ", not quiet" : "")};
  if (!has_peer) return out;
  const Interval ratio = median_interval(f.ratios);
  out.push_back(fmt::format("{:.1f}", rate(row.work, median(f.other_times))));
  out.push_back(fmt::format("{:.2f} ({:.2f} to {:.2f})", median(f.ratios), ratio.low, ratio.high));
  return out;
}

Json data_of_peer(const DecoderRow& row, const Peer& peer) {
  const BenchFigures& f = row.figures;
  const Interval ratio = median_interval(f.ratios), spread = rates(row.work, f.other_times);
  return {{"name", peer.name},
          {"version", peer.version},
          {"median_ms", median(f.other_times)},
          {"tokens_per_second", rate(row.work, median(f.other_times))},
          {"tokens_per_second_p5", spread.low},
          {"tokens_per_second_p95", spread.high},
          {"ratio", median(f.ratios)},
          {"ratio_low", ratio.low},
          {"ratio_high", ratio.high}};
}

}  // namespace

std::string text_of(const DecoderWork& work) {
  return fmt::format("{} {}{}{}", work.decodes ? "decode" : "prefill", work.tokens,
                     work.past > 0 ? fmt::format(" behind {}", work.past) : "",
                     work.batch > 1 ? fmt::format(", batch {}", work.batch) : "");
}

void report_decoder(const std::vector<DecoderRow>& rows, const Peer* peer, Console& console) {
  std::vector<std::vector<std::string>> table{{"work", "tokens/s", "5 to 95 %", "ms a token", "share", "samples"}};
  if (peer) table[0].insert(table[0].end(), {peer->name, "times as fast"});
  for (const DecoderRow& row : rows) table.push_back(cells_of(row, peer != nullptr));
  console.table(table);
}

Json data_of(const DecoderRow& row, const Peer* peer) {
  const BenchFigures& f = row.figures;
  const Interval spread = rates(row.work, f.times);
  return {{"work", row.work.decodes ? "decode" : "prefill"},
          {"tokens", row.work.tokens},
          {"past", row.work.past},
          {"batch", row.work.batch},
          {"median_ms", f.median_ms},
          {"ms_per_token", f.median_ms / tokens_of(row.work)},
          {"tokens_per_second", rate(row.work, f.median_ms)},
          {"tokens_per_second_p5", spread.low},
          {"tokens_per_second_p95", spread.high},
          {"gflops", f.gflops},
          {"peak_gflops", f.peaks[0]},
          {"peak_share", f.peak_share},
          {"read_gbps", f.weight_gbps},
          {"memory_gbps", f.memory},
          {"memory_share", f.weight_gbps / f.memory},
          {"samples_kept", row.kept},
          {"samples_quiet", f.quiet.count},
          {"samples_tried", f.quiet.tried},
          {"vs", peer ? data_of_peer(row, *peer) : Json(nullptr)}};
}

}  // namespace tenon::cli
