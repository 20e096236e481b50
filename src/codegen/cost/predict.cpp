// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/predict.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cost/contract_cost.h"

namespace tenon::codegen {

namespace {

/// Time of a transcendental function, of an exponential, and of one lane of a gather, in additions.
constexpr double kFunctionCost = 20, kExponentialCost = 9, kGatherCost = 2.5;
/// Nanoseconds: to call a kernel; in addition, to call one of tiles, whose code is longer; to compute the offsets of a task; to enter a
/// loop; to reduce the lanes of a register.
constexpr double kCallNs = 200, kTilesNs = 200, kTaskNs = 3, kLoopNs = 0.5, kLaneReductionNs = 1.5;
/// The share of a smaller cost that is added to the largest one, since it does not overlap with it: for loops with at most
/// kMostPrefetchedLoads loads, whose next lines the CPU prefetches, and for tiles, which prefetch their weights.
constexpr double kExposedShare = 0.4, kExposedShareOfTiles = 0.1, kMostPrefetchedLoads = 16;

/// Time of a part of a kernel on one core, without reads from beyond its second-level cache.
struct CoreTime {
  double ns = 0;        ///< of its arithmetic
  double peak_ns = 0;   ///< the same at the peak
  double l2_bytes = 0;  ///< that are read from the second-level cache
};

double number(Dim size) { return static_cast<double>(size.value()); }

int64_t ceil_of(int64_t all, int64_t each) { return (all + each - 1) / each; }

CoreTime core_time_of(const ProductWork& p, const Target& target, const Machine& machine) {
  const int64_t rows = p.rows.value(), lanes = p.lanes.value(), panel = int64_t{p.tile.vectors} * target.lanes();
  const double depth = number(p.depth), times = number(p.times);
  if (rows <= 0 || lanes <= 0 || depth <= 0 || times <= 0) return {};
  const MultiplyAdd& instruction = *p.instruction;
  const double ideal = instruction.cycles / (instruction.lanes * instruction.products);
  CoreTime out;
  const double products = times * number(p.rows) * depth - number(p.skipped_products);
  out.peak_ns = 2 * products * number(p.lanes) / machine.peak(instruction, target);
  out.ns = out.peak_ns * cycles_per_product(p.tile, rows, lanes, target, instruction) / ideal;
  const double width = bits_of(instruction.operand) / 8.0, l1_room = static_cast<double>(target.caches[0]) / 2;
  const auto panels = static_cast<double>(ceil_of(lanes, panel)), tiles = static_cast<double>(ceil_of(rows, p.tile.rows));
  const double panel_bytes = static_cast<double>(panel) * depth * width,
               rows_bytes = std::min<double>(p.tile.rows, number(p.rows)) * depth * width;
  if (panel_bytes > l1_room) out.l2_bytes += times * panels * tiles * panel_bytes;
  if (rows_bytes > l1_room) out.l2_bytes += times * panels * tiles * rows_bytes;
  return out;
}

CoreTime core_time_of(const LoopWork& l, const Target& target, const Machine& machine) {
  const double lanes = target.lanes(), points = number(l.points);
  if (points <= 0) return {};
  const double point_cost =
      std::max(l.operations + l.loads + kFunctionCost * l.transcendentals + kExponentialCost * l.exponentials, l.sum_latency);
  const double ns_of_register = 2 * lanes / machine.f32_gflops;  // nanoseconds of an operation on a register
  const double registers = l.lane_extent == Dim(0)
                               ? points
                               : points / number(l.lane_extent) * static_cast<double>(ceil_of(l.lane_extent.value(), target.lanes()));
  CoreTime out;
  out.ns = ns_of_register * registers * (point_cost + l.gathers * (l.lane_extent == Dim(0) ? 1 : lanes * kGatherCost));
  const double registers_of_run = l.lane_extent == Dim(0) ? 0 : static_cast<double>(ceil_of(l.lane_extent.value(), target.lanes()));
  out.ns +=
      kLoopNs * number(l.vector_loops) * (1 + registers_of_run * number(l.inner_loops)) + kLaneReductionNs * number(l.lane_reductions);
  out.peak_ns = out.ns;
  return out;
}

/// How tasks are divided among threads. imbalance: tasks of the thread with most of them, divided by the mean.
struct Split {
  int threads = 1;
  double imbalance = 1;
};

Split split_of(const KernelCall& call, const Machine& machine) {
  const int64_t tasks = std::max<int64_t>(1, call.tasks), chunks = ceil_of(tasks, std::clamp<int64_t>(call.grain, 1, tasks));
  Split out;
  out.threads = static_cast<int>(std::clamp<int64_t>(machine.threads, 1, chunks));
  out.imbalance = static_cast<double>(ceil_of(tasks, out.threads) * out.threads) / static_cast<double>(tasks);
  return out;
}

}  // namespace

int threads_of(const KernelCall& call, const Machine& machine) { return split_of(call, machine).threads; }

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::peak: return "peak";
    case Limit::latency: return "latency";
    case Limit::l2: return "second-level cache";
    case Limit::l3: return "third-level cache";
    case Limit::memory: return "memory";
    case Limit::sharing: return "exchange between cores";
    case Limit::start: return "start";
  }
  return "unknown";
}

Prediction predict(const Work& work, const KernelCall& call, const Target& target, const Machine& machine) {
  CoreTime core_time;
  const auto add = [&](const CoreTime& part) {
    core_time.ns += part.ns, core_time.peak_ns += part.peak_ns, core_time.l2_bytes += part.l2_bytes;
  };
  for (const ProductWork& p : work.products) add(core_time_of(p, target, machine));
  for (const LoopWork& l : work.loops) add(core_time_of(l, target, machine));
  const Split split = split_of(call, machine);
  const double share = split.imbalance / split.threads;
  const auto read = [&](double bytes, const Bandwidth& from) { return bytes * split.imbalance / from.of(split.threads, machine.threads); };
  const auto shared = [&](double bytes, double rate) { return rate > 0 ? read(bytes, {rate / machine.threads, rate}) : 0; };
  const double start = kCallNs + (work.products.empty() ? 0 : kTilesNs) + (split.threads > 1 ? machine.fork_join_ns : 0) +
                       kTaskNs * static_cast<double>(call.tasks) * share;
  const std::pair<Limit, double> costs[] = {{Limit::peak, core_time.ns * share},
                                            {Limit::l2, read(core_time.l2_bytes + call.l2_bytes, machine.l2_bandwidth)},
                                            {Limit::l3, read(call.l3_bytes, machine.l3_bandwidth)},
                                            {Limit::memory, read(call.memory_bytes, machine.memory_bandwidth)},
                                            {Limit::sharing, shared(call.shared_read_bytes, machine.shared_read_gbps) +
                                                                 shared(call.shared_written_bytes, machine.shared_write_gbps)}};
  const auto most = *std::ranges::max_element(costs, {}, &std::pair<Limit, double>::second);
  // Reads of panels by tiles are part of tile_share().
  const auto exposed_share = [&](Limit other, Limit most) {
    const bool weights = !work.products.empty() && (other == Limit::memory || most == Limit::memory);
    return weights ? kExposedShareOfTiles : kExposedShare;
  };
  const bool prefetched = std::ranges::all_of(work.loops, [](const LoopWork& l) { return l.loads <= kMostPrefetchedLoads; });
  double added_ns = 0;
  for (const auto& [limit, ns] : costs)
    if (limit != most.first && (limit != Limit::l2 || !prefetched)) added_ns += prefetched ? exposed_share(limit, most.first) * ns : ns;
  Prediction out{.ns = start + most.second + added_ns, .limit = most.first, .limit_ns = most.second};
  if (start > most.second) out.limit = Limit::start, out.limit_ns = start;
  else if (most.first == Limit::peak) {
    out.limit_ns = core_time.peak_ns / split.threads;
    if (out.limit_ns < most.second / 2) out.limit = Limit::latency;
  }
  return out;
}

}  // namespace tenon::codegen
