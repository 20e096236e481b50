// SPDX-License-Identifier: Apache-2.0
// Random graphs of views, gathers, contractions, epilogues and rows: planned, lowered and run, they give what the reference says.
// TENON_SEED=N runs that one plan; TENON_PLANS=N runs as many, from TENON_FIRST on, up to TENON_FAULTS=N faults.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include "codegen/passes/pipeline.h"
#include "codegen/plan/plan_options.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"
#include "random_plan_graph.h"

namespace tenon::codegen {
namespace {

std::vector<Tensor> inputs_of(const ir::Graph& graph, int64_t n, int64_t m, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Tensor> inputs;
  for (ValueId v : graph.inputs()) {
    const ir::Type& type = graph.value(v).type;
    Sizes sizes;
    for (Dim d : *type.shape) sizes.push_back(substitute(d, [&](const DimNode& s) { return Dim(s.name == "n" ? n : m); }).value());
    Tensor t = *Tensor::make(type.dtype, sizes);
    for (int64_t i = 0; i < t.count(); ++i) {
      if (type.dtype == DType::i64) t.set_integer(i, static_cast<int64_t>(random() % 10) - 5);
      else t.set_number(i, static_cast<double>(random() % 7) - 3);
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

/// Empty where both agree, else the first difference. Only ops that leave the integers round.
std::string difference(const Tensor& want, const Tensor& got) {
  if (want.shape() != got.shape()) return type_text(got.dtype(), got.shape()) + " instead of " + type_text(want.dtype(), want.shape());
  for (int64_t i = 0; i < want.count(); ++i) {
    const double x = want.number(i), y = got.number(i);
    if (x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= 2e-3 * std::max(1.0, std::fabs(x))) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(y) + " instead of " + std::to_string(x);
  }
  return "";
}

uint64_t current_seed = 0;

/// Kernels that run part by part with the one before.
size_t joined_in(const PlannedGraph& planned) {
  size_t joined = 0;
  const auto has_units = [](const Kernel& k) { return !(k.units == Dim(0)); };
  for (size_t g = 1; g < planned.plan.groups.size(); ++g) {
    const auto &before = planned.kernels_by_group[g - 1], &here = planned.kernels_by_group[g];
    const auto& region = planned.plan.groups[g].region;
    joined += region && region->joined && !before.empty() && has_units(before.back()) && !here.empty() && has_units(here[0]);
  }
  return joined;
}
size_t joined_kernels = 0;

/// What a crash leaves behind.
void name_the_seed(int signal) {
  std::fprintf(stderr, "TENON_SEED=%llu: signal %d\n", static_cast<unsigned long long>(current_seed), signal);
  std::_Exit(1);
}

/// Can some kernel of the group not have these lanes?
bool refuses_lanes(const Group& group, const Tactic& tactic, const Plan& plan, const Target& target) {
  const auto kernels = prepared_kernels(group, tactic, plan, target);
  return !kernels && kernels.error().code() == Code::bad_usage;
}

/// One of the tactics that the group may have, the default in every other plan.
Tactic drawn_tactic(const Group& group, const Plan& plan, const Target& target, std::mt19937_64& random) {
  const auto pick = [&](auto... each) {
    const int64_t list[] = {each...};
    return list[random() % std::size(list)];
  };
  Tactic out = default_tactic(group, target);
  if (random() % 2) return out;
  const bool loops = group.kind() == GroupKind::nests;
  std::string text = loops ? fmt::format("lanes={} block={} unroll={} least={} split={} grain={}", pick(-1, -1, 0, 1, 2),
                                         pick(64, 512, 2048), pick(0, 3, 7), pick(0, 100, 4096), pick(1, 4, 64), pick(1, 1000))
                           : fmt::format("tile={}x{} grain={}", pick(1, 3, 4, 6), pick(1, 2), pick(1, 1 << 20));
  if (group.kind() == GroupKind::contract)
    text += fmt::format(" split={} panels={} by_rows={} depth={} prefetch={}", pick(1, 2, 16), pick(1, 2, 3), pick(0, 1, 8),
                        pick(0, 0, 1, 5, 32), pick(0, 1024));
  if (group.kind() == GroupKind::attention)
    text += fmt::format(" block={} split={} least={}", pick(64, 128, 512), pick(1, 8, 32), pick(0, 1, 3));
  if (group.kind() != GroupKind::nests && group.kind() != GroupKind::contract && group.kind() != GroupKind::attention) return out;
  auto made = override_fields(out, text, target);
  EXPECT_TRUE(made) << made.error().text();
  if (!made) return out;
  if (auto* of = std::get_if<LoopTactic>(&*made); of && of->lanes >= 0 && refuses_lanes(group, *made, plan, target)) of->lanes = -1;
  return *made;
}

void check(uint64_t seed) {
  SCOPED_TRACE("TENON_SEED=" + std::to_string(seed));
  current_seed = seed;
  const auto graph = RandomPlanGraph(seed).make();
  const std::string text = ir::print(*graph);
  PlanOptions options;
  options.fuse = seed % 8 != 0;
  options.channels_last = seed % 3 != 0;
  options.verify = true;
  if (seed % 2) {
    options.limits = (**target_named("x86_avx512")).plan_limits;
    options.limits->max_region_bytes = 64, options.limits->max_region_traffic = 0;
    options.limits->min_region_rows = options.limits->min_task_work = options.limits->min_odd_units = 1;
  }
  std::mt19937_64 random(seed);
  for (const PlanPass& pass : plan_passes())
    if (random() % 12 == 0) options.off.emplace(pass.name);
  const Target& target = *all_targets()[seed % all_targets().size()];
  const auto choose = [&](const Group& g, const Plan& p, const Target& t) { return drawn_tactic(g, p, t, random); };
  const auto planned = planned_graph(*graph, options, target, choose);
  ASSERT_TRUE(planned) << planned.error().text() << "\n" << text;
  joined_kernels += joined_in(*planned);
  const bool native = seed % 15 == 5 && cpu_features().has_all(target.needs());
  const int64_t sizes[][2] = {{3, 4}, {1, static_cast<int64_t>(seed % 21) + 1}};
  for (const auto& [n, m] : sizes) {
    const auto inputs = inputs_of(*graph, n, m, seed);
    const auto want = ops::evaluate(*graph, inputs);
    ASSERT_TRUE(want) << want.error().text() << "\n" << text;
    const auto got = run(*planned, inputs, native);
    ASSERT_TRUE(got) << got.error().text() << "\n" << text;
    for (size_t k = 0; k < want->size(); ++k)
      ASSERT_EQ(difference((*want)[k], (*got)[k]), "") << "n=" << n << " m=" << m << " result " << k << "\n"
                                                       << text << text_of(planned->plan);
  }
}

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

TEST(RandomPlans, RunAsTheReferenceSays) {
  for (int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, name_the_seed);
  if (const uint64_t seed = number_from("TENON_SEED", 0)) return check(seed);
  const uint64_t first = number_from("TENON_FIRST", 1), plans = number_from("TENON_PLANS", 400);
  const uint64_t faults = number_from("TENON_FAULTS", 1);
  uint64_t found = 0;
  for (uint64_t seed = first; seed < first + plans && found < faults; ++seed) {
    const auto parts = [] { return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); };
    const int before = parts();
    check(seed);
    found += parts() > before;
  }
  if (plans >= 400) EXPECT_GT(joined_kernels, plans / 20) << "regions are hardly looked at";
}

}  // namespace
}  // namespace tenon::codegen
