// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/predict.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cost/contract_cost.h"

namespace tenon::codegen {

namespace {

/// Additions in the time of a transcendental function, of an exponential, and of what a lane loads by itself.
constexpr double kFunction = 20, kExponential = 9, kOwnLoad = 2.5;
/// Nanoseconds to call a kernel at all, and one of tiles, whose code is longer; to find a task's place, to enter a loop, and to put
/// together the lanes of a sum.
constexpr double kCallNs = 200, kTilesNs = 200, kTaskNs = 3, kLoopNs = 0.5, kJoinNs = 1.5;
/// Of what is waited for added_ns the limit, the share that is not hidden after it, where a loop has no more places than are prefetched
/// ahead. Tiles prefetch their weights while they compute.
constexpr double kNotHidden = 0.4, kNotHiddenOfTiles = 0.1, kAskedAhead = 16;

/// A part of a kernel on one core, without what lies beyond its second-level cache.
struct CoreTime {
  double ns = 0;            ///< computing
  double least_ns = 0;      ///< the same at the peak
  double second_bytes = 0;  ///< read again and again of what the second-level cache holds
};

double number(Dim size) { return static_cast<double>(size.value()); }

int64_t parts_of(int64_t all, int64_t each) { return (all + each - 1) / each; }

CoreTime busy_with(const ProductWork& p, const Target& target, const Machine& machine) {
  const int64_t rows = p.rows.value(), lanes = p.lanes.value(), panel = int64_t{p.tile.vectors} * target.lanes();
  const double depth = number(p.depth), times = number(p.times);
  if (rows <= 0 || lanes <= 0 || depth <= 0 || times <= 0) return {};
  const MultiplyAdd& form = *p.form;
  const double ideal = form.cycles / (form.lanes * form.products);
  CoreTime out;
  const double products = times * number(p.rows) * depth - number(p.left_out);
  out.least_ns = 2 * products * number(p.lanes) / machine.peak(form, target);
  out.ns = out.least_ns * cycles_per_product(p.tile, rows, lanes, target, form) / ideal;
  const double width = bits_of(form.operand) / 8.0, nearest = static_cast<double>(target.caches[0]) / 2;
  const auto panels = static_cast<double>(parts_of(lanes, panel)), tiles = static_cast<double>(parts_of(rows, p.tile.rows));
  const double panel_bytes = static_cast<double>(panel) * depth * width,
               rows_bytes = std::min<double>(p.tile.rows, number(p.rows)) * depth * width;
  if (panel_bytes > nearest) out.second_bytes += times * panels * tiles * panel_bytes;
  if (rows_bytes > nearest) out.second_bytes += times * panels * tiles * rows_bytes;
  return out;
}

CoreTime busy_with(const LoopWork& l, const Target& target, const Machine& machine) {
  const double lanes = target.lanes(), points = number(l.points);
  if (points <= 0) return {};
  const double each = std::max(l.operations + l.loads + kFunction * l.functions + kExponential * l.exponentials, l.waits);
  const double a_register = 2 * lanes / machine.f32;  // nanoseconds of an operation on a register
  const double registers =
      l.along == Dim(0) ? points : points / number(l.along) * static_cast<double>(parts_of(l.along.value(), target.lanes()));
  CoreTime out;
  out.ns = a_register * registers * (each + l.single * (l.along == Dim(0) ? 1 : lanes * kOwnLoad));
  const double registers_of_run = l.along == Dim(0) ? 0 : static_cast<double>(parts_of(l.along.value(), target.lanes()));
  out.ns += kLoopNs * number(l.runs) * (1 + registers_of_run * number(l.inner)) + kJoinNs * number(l.joins);
  out.least_ns = out.ns;
  return out;
}

/// Threads that take part, and how much longer than its even share the one with most tasks has.
struct Split {
  int threads = 1;
  double uneven = 1;
};

Split split_of(const Call& call, const Machine& machine) {
  const int64_t tasks = std::max<int64_t>(1, call.tasks), chunks = parts_of(tasks, std::clamp<int64_t>(call.grain, 1, tasks));
  Split out;
  out.threads = static_cast<int>(std::clamp<int64_t>(machine.threads, 1, chunks));
  out.uneven = static_cast<double>(parts_of(tasks, out.threads) * out.threads) / static_cast<double>(tasks);
  return out;
}

}  // namespace

int threads_of(const Call& call, const Machine& machine) { return split_of(call, machine).threads; }

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::peak: return "peak";
    case Limit::latency: return "latency";
    case Limit::second: return "second-level cache";
    case Limit::third: return "third-level cache";
    case Limit::memory: return "memory";
    case Limit::exchange: return "exchange between cores";
    case Limit::start: return "start";
  }
  return "unknown";
}

Prediction predict(const Work& work, const Call& call, const Target& target, const Machine& machine) {
  CoreTime all;
  const auto add = [&](const CoreTime& part) { all.ns += part.ns, all.least_ns += part.least_ns, all.second_bytes += part.second_bytes; };
  for (const ProductWork& p : work.products) add(busy_with(p, target, machine));
  for (const LoopWork& l : work.loops) add(busy_with(l, target, machine));
  const Split split = split_of(call, machine);
  const double share = split.uneven / split.threads;
  const auto read = [&](double bytes, const Bandwidth& from) { return bytes * split.uneven / from.of(split.threads, machine.threads); };
  const auto foreign = [&](double bytes, double rate) { return rate > 0 ? read(bytes, {rate / machine.threads, rate}) : 0; };
  const double start = kCallNs + (work.products.empty() ? 0 : kTilesNs) + (split.threads > 1 ? machine.start_ns : 0) +
                       kTaskNs * static_cast<double>(call.tasks) * share;
  const std::pair<Limit, double> costs[] = {
      {Limit::peak, all.ns * share},
      {Limit::second, read(all.second_bytes + call.second, machine.second)},
      {Limit::third, read(call.third, machine.third)},
      {Limit::memory, read(call.memory, machine.memory)},
      {Limit::exchange, foreign(call.exchanged, machine.exchange) + foreign(call.taken, machine.take)}};
  const auto most = *std::ranges::max_element(costs, {}, &std::pair<Limit, double>::second);
  // Tiles find their panels in the second-level cache in time: that is part of what they reach of the peak.
  const auto not_hidden = [&](Limit other, Limit most) {
    const bool weights = !work.products.empty() && (other == Limit::memory || most == Limit::memory);
    return weights ? kNotHiddenOfTiles : kNotHidden;
  };
  const bool ahead = std::ranges::all_of(work.loops, [](const LoopWork& l) { return l.loads <= kAskedAhead; });
  double added_ns = 0;
  for (const auto& [limit, ns] : costs)
    if (limit != most.first && (limit != Limit::second || !ahead)) added_ns += ahead ? not_hidden(limit, most.first) * ns : ns;
  Prediction out{.ns = start + most.second + added_ns, .limit = most.first, .limit_ns = most.second};
  if (start > most.second) out.limit = Limit::start, out.limit_ns = start;
  else if (most.first == Limit::peak) {
    out.limit_ns = all.least_ns / split.threads;
    if (out.limit_ns < most.second / 2) out.limit = Limit::latency;
  }
  return out;
}

}  // namespace tenon::codegen
