// SPDX-License-Identifier: Apache-2.0
// How good plans are on random graphs, and how long it takes to make one: JSON on stdout.
//
// Each kind of graph is drawn 60 times, seeds 0 to 59 (tests/partition/random_problems.h). The graphs that are timed are the made-up models
// of layers.h; nodes are supported by two of three backends at random. Sizes take turns; figures are medians of the wall time.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "../tests/partition/random_problems.h"
#include "layers.h"
#include "partition/cut/fewest.h"
#include "partition/cut/min_block_size.h"
#include "partition/cut/walk.h"
#include "partition/partition.h"
#include "partition/what_if.h"

namespace {

using namespace tenon;
using namespace tenon::partition;
using Json = nlohmann::ordered_json;

constexpr uint64_t kSeeds = 60;
constexpr uint32_t kNodes = 200;

/// Segments of two targets, 80 % of the nodes accelerated, compared with the walk's.
Json segments_of_both() {
  double ours = 0, walked = 0;
  int above = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Draw draw(seed);
    Problem problem = supported(draw, Kind::sparse, kNodes, 0.8);
    const auto count = [](const Cut& cut) { return static_cast<double>(std::ranges::count(cut.targets, 0)); };
    const Cut best = fewest_segments(problem), other = walk(problem, 1).cut;
    above += best.size() > other.size();
    ours += count(best);
    walked += count(other);
  }
  return {{"ratio", ours / walked}, {"above", above}};
}

/// The part of the nodes that is accelerated where segments have at least five, 65 % supported.
Json share_of_five() {
  double ours = 0, walked = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto share = [&](auto cut) {
      Draw draw(seed);
      Problem problem = supported(draw, Kind::window, kNodes, 0.65);
      const auto could = static_cast<double>(std::ranges::count_if(problem.nodes, [](const auto& n) { return n.target == 0; }));
      const SizedCut sized = cut(problem);
      return (could - static_cast<double>(sized.dropped.size())) / could;
    };
    ours += share([](Problem& p) { return cut_of_size(p, 5); });
    walked += share([](Problem& p) { return walk(p, 5); });
  }
  return {{"ours", ours / kSeeds}, {"walk", walked / kSeeds}};
}

/// The cost of assignment by priority compared with the cheapest one: 150 nodes, two targets, a transfer takes two median nodes.
Json cost_of_priority() {
  double ours = 0, priority = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Draw draw(seed);
    const Costs costs = random_costs(draw, 2, 150, 2);
    std::vector<uint16_t> first(costs.nodes());
    for (uint32_t n = 0; n < costs.nodes(); ++n) first[n] = costs.run(n, 0) < Costs::kUnsupported ? 0 : 1;
    ours += cheapest(costs).cost_ns;
    priority += cost_of(costs, first);
  }
  return {{"ratio", priority / ours}};
}

/// Takes two nodes of three, by their names; the last takes all.
class Some final : public backend::Backend {
 public:
  Some(std::string name, size_t not_this) : name_(std::move(name)), not_this_(not_this) {}
  std::string_view name() const override { return name_; }
  std::string_view docs() const override { return "of a measurement"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    if (not_this_ == 3 || std::hash<std::string>()(graph.node(node).name) % 3 != not_this_) return {};
    return fail(Code::not_supported, "", "one node in three");
  }
  double cost(const ir::Graph&, ir::NodeId) const override { return static_cast<double>(not_this_); }
  bool is_host() const override { return not_this_ == 3; }
  Result<backend::Artifact> compile(const backend::CompileRequest&, const backend::Options&) const override { return backend::Blob(); }

 private:
  std::string name_;
  size_t not_this_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <class Run>
double ms_of(Run run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// A plan for a graph of so many nodes: constraints bound, nodes shared out, cut, borders found.
Json plan_times(uint16_t backends) {
  const Some all[] = {{"a", 0}, {"b", 1}, {"c", 3}};
  std::vector<std::pair<int64_t, std::vector<double>>> sizes = {{10'000, {}}, {100'000, {}}};
  Json out = Json::array();
  std::vector<size_t> segments(sizes.size());
  std::vector<double> what_ifs(sizes.size());
  for (int repeat = 0; repeat < 7; ++repeat)
    for (size_t k = 0; k < sizes.size(); ++k) {
      const auto graph = bench::make_model('N', sizes[k].first);
      backend::Backends listed;
      for (size_t b = 3 - backends; b < 3; ++b) listed.push_back(&all[b]);
      Constraints constraints;
      constraints.listed = listed.size();
      const Roles roles(listed, constraints);
      Partition partition;
      sizes[k].second.push_back(ms_of([&] {
        if (!bind(*graph, constraints, roles)) std::abort();
        partition = std::move(*partition::partition(*graph, roles, constraints));
      }));
      segments[k] = partition.segments.size();
      if (repeat == 0) what_ifs[k] = ms_of([&] { (void)what_if(*graph, partition, roles, constraints); });
    }
  for (size_t k = 0; k < sizes.size(); ++k) {
    const double ms = median(sizes[k].second);
    out.push_back({{"backends", backends},
                   {"nodes", sizes[k].first},
                   {"segments", segments[k]},
                   {"ms", ms},
                   {"us_per_node", 1e3 * ms / static_cast<double>(sizes[k].first)},
                   {"what_if_ms", what_ifs[k]}});
  }
  return out;
}

}  // namespace

int main() {
  const Json out = {{"segments_beside_walk", segments_of_both()},
                    {"share_of_five", share_of_five()},
                    {"cost_of_priority", cost_of_priority()},
                    {"plans", {plan_times(2), plan_times(3)}}};
  fmt::print("{}\n", out.dump(1));
}
