// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "codegen/cost/predict.h"

namespace tenon::codegen {

namespace {

std::string reason_of(const ProductWork& p, const Target& target) {
  const int64_t rows = p.rows.value(), lanes = p.lanes.value(), panel = int64_t{p.tile.vectors} * target.lanes();
  const int64_t line = std::max<int64_t>(1, p.rows_per_line.value()), lines = rows / line, most = std::max<int64_t>(1, p.tile.rows / line);
  const int64_t tiles = std::max<int64_t>(1, (lines + most - 1) / most), low = lines / tiles, higher = lines % tiles;
  std::string out = fmt::format("tile {}x{}: {} rows are {} of {}", p.tile.rows, p.tile.vectors, rows, tiles, (low + (higher > 0)) * line);
  if (higher) out += fmt::format(" or {}", low * line);
  const int64_t panels = (lanes + panel - 1) / panel, padding_lanes = panels * panel - lanes;
  out += fmt::format(", {} lanes {} of {}", lanes, panels, panel);
  if (padding_lanes > 0) out += fmt::format(" ({} in vain)", padding_lanes);
  return out + fmt::format(", depth {}{}", p.depth.value(), p.times == Dim(1) ? "" : fmt::format(", {} times", p.times.value()));
}

std::string reason_of(const LoopWork& l) {
  const std::string points = fmt::format("{} points of {:g} operations, {:g} places", l.points.value(), l.operations, l.loads + l.gathers);
  const double all = l.transcendentals + l.exponentials;
  const std::string functions = all > 0 ? fmt::format(", {:g} functions", all) : "";
  if (l.lane_extent == Dim(0)) return points + functions + ", one by one";
  return points + functions +
         fmt::format(", lanes along {}{}", l.lane_extent.value(), l.gathers > 0 ? fmt::format(", {:g} gathered", l.gathers) : "");
}

}  // namespace

std::string tiling_text(const Work& work, const Target& target) {
  std::string out;
  for (const ProductWork& p : work.products) out += (out.empty() ? "" : "; ") + reason_of(p, target);
  if (!out.empty()) return out;
  const LoopWork* largest = nullptr;
  for (const LoopWork& l : work.loops)
    if (!largest || l.points.value() * (l.operations + l.loads) > largest->points.value() * (largest->operations + largest->loads))
      largest = &l;
  return largest ? reason_of(*largest) : "";
}

}  // namespace tenon::codegen
