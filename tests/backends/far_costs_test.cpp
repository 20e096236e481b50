// SPDX-License-Identifier: Apache-2.0
// Costs of launches and segment boundaries, with an engine runner of the test that computes times; results of `tenon calibrate` decide.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "backend/work.h"
#include "compiler/compile.h"
#include "compiler/measure/calibrate.h"
#include "compiler/measure/calibration.h"
#include "compiler/measure/engine_runner.h"
#include "compiler/measure/measure_node_costs.h"
#include "far/behaviour.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "runtime/load.h"

namespace tenon::tests {
namespace {

namespace fs = std::filesystem;
using compiler::Calibration;

constexpr double kRun = 3000, kNode = 500;

/// An engine takes kRun; a segment of far takes its start, kNode a node and its copies beside.
class ComputedTimes final : public compiler::EngineRunner {
 public:
  explicit ComputedTimes(FarBehaviour behaviour) : does_(std::move(behaviour)) {}
  Result<std::vector<std::optional<double>>> time(std::span<const fs::path> engines) override {
    runtime::Devices devices = compiler::all_devices(ops::table());
    devices.push_back(far_device(does_));
    std::vector<std::optional<double>> out;
    for (const fs::path& file : engines) out.push_back(ns_of(TRY(runtime::load_engine(file, {.devices = devices}))->program()));
    return out;
  }

 private:
  double ns_of(const runtime::Program& program) const {
    if (program.blobs.empty()) return kRun;
    double ns = kRun + does_.overheads.launch_ns + kNode * static_cast<double>(1 + std::ranges::count(program.steps[0].label, '+'));
    for (const auto& ports : {program.inputs, program.outputs})
      for (const auto& port : ports) ns += does_.overheads.copy_ns + does_.overheads.copy_ns_per_byte * bytes_of(port);
    return ns;
  }
  static double bytes_of(const auto& port) {
    double count = 1;
    for (const auto& d : port.dimensions) count *= std::stod(d);
    return count * 4;
  }

  FarBehaviour does_;
};

class FarCosts : public testing::Test {
 protected:
  FarCosts() : folder_(fs::temp_directory_path() / ("tenon-far-" + std::to_string(getpid()))) { fs::create_directories(folder_); }
  ~FarCosts() override { fs::remove_all(folder_); }

  compiler::CompileOptions options(const FarBehaviour& behaviour) {
    compiler::CompileOptions out;
    out.opt = 0;
    far_ = far_backend(behaviour);
    out.backends = {far_.get(), usual_[0], usual_[1]};
    out.constraints.listed = 2;
    out.constraints.assign = partition::Assign::cost;
    return out;
  }
  compiler::CompileOptions measuring(const FarBehaviour& behaviour) {
    compiler::CompileOptions out = options(behaviour);
    auto with = std::make_shared<compiler::MeasureOptions>();
    *with = {std::make_shared<ComputedTimes>(behaviour), folder_, {}};
    out.measuring = with;
    return out;
  }

  fs::path folder_;
  const backend::Backends usual_ = *compiler::backends_named();
  std::unique_ptr<const backend::Backend> far_;
};

TEST_F(FarCosts, AreFoundFromTimes) {
  for (const auto& [launch, copy, byte] : {std::tuple{2000.0, 1000.0, 0.25}, {50.0, 20'000.0, 0.0}, {0.0, 0.0, 2.0}}) {
    FarBehaviour behaviour;
    behaviour.overheads = {.launch_ns = launch, .own_memory = true, .copy_ns = copy, .copy_ns_per_byte = byte};
    const auto with = measuring(behaviour);
    const auto found = compiler::calibrate(with.backends, 0, ops::table(), with);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_NEAR(found->launch_ns, launch + kNode, 1e-3);
    EXPECT_NEAR(found->copy_ns, copy, 1e-3);
    EXPECT_NEAR(found->copy_ns_per_byte, byte, 1e-6);
    EXPECT_TRUE(found->own_memory);
    EXPECT_EQ(found->source, backend::Overheads::Source::calibrated);
  }
}

TEST_F(FarCosts, AreNotFoundWhereFarRefusesWhatIsTimed) {
  for (const char* op : {"Relu", "Sum", "Gather"}) {
    const auto with = measuring({.refuses = {op}});
    const auto found = compiler::calibrate(with.backends, 0, ops::table(), with);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), Code::not_supported);
    EXPECT_NE(found.error()->what.find(std::string("far does not run ") + op), std::string::npos) << found.error().text();
  }
  const auto with = measuring({.at = {{"compile", FarBehaviour::Deed::fails}}});
  const auto found = compiler::calibrate(with.backends, 0, ops::table(), with);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Code::not_supported);
}

/// What a node takes alone, on a device with a memory of its own, is for the most part its copies, which borders are charged with.
TEST_F(FarCosts, OfANodeThatIsMeasuredLeaveItsCopiesOut) {
  const FarBehaviour behaviour;
  auto with = measuring(behaviour);
  const auto measuring = std::exchange(with.measuring, nullptr);
  const auto partitioned = compiler::partition_graph(
      *ir::parse("graph main(x: f32[500,4]) { a = Exp(x) b = Neg(a) y = Add(a, b) return y }", ops::table()), with);
  ASSERT_TRUE(partitioned) << partitioned.error().text();
  with.measuring = measuring;
  compiler::EngineTimer timer(with, with.backends);
  const auto known = compiler::measure_node_costs(*partitioned, with, timer);
  ASSERT_TRUE(known) << known.error().text();
  ASSERT_EQ((*known)[0].node_ns.size(), 3u);
  // They take as long as the tiny one that tells the start: the least part of that counts as work.
  for (const auto& [node, ns] : (*known)[0].node_ns) EXPECT_NEAR(ns, 0.05 * (kRun + behaviour.overheads.launch_ns + kNode), 1);
  EXPECT_NEAR((*known)[0].overheads->launch_ns, behaviour.overheads.launch_ns + kNode, 1);
  EXPECT_EQ((*known)[0].overheads->source, backend::Overheads::Source::measured);
}

constexpr std::string_view kText = "graph main(x: f32[100000,4]) { a = Exp(x) b = Neg(a) c = Abs(b) y = Add(a, c) return y }";

TEST_F(FarCosts, ThatWereCalibratedDecide) {
  const fs::path file = folder_ / "overheads";
  const auto plan = [&](bool calibrated) -> std::pair<std::string, backend::Overheads> {
    auto with = options({});
    if (calibrated) with.calibration = std::make_shared<const Calibration>(file);
    const auto partitioned = compiler::partition_graph(*ir::parse(kText, ops::table()), with);
    EXPECT_TRUE(partitioned) << partitioned.error().text();
    EXPECT_EQ(partitioned->partition.segments.size(), 1u);
    return {partitioned->partition.segments[0].backend, partitioned->backends.all[0]->overheads()};
  };
  const auto add = [&](const backend::Overheads& found) {
    options({});
    ASSERT_TRUE(Calibration(file).add(*far_, found));
  };
  EXPECT_EQ(plan(true).first, "far") << "nothing is known: what it states counts";
  EXPECT_EQ(plan(true).second.source, backend::Overheads::Source::guessed);
  add({.launch_ns = 1e9, .copy_ns = 10, .copy_ns_per_byte = 0.01});
  EXPECT_EQ(plan(true).first, "cpu") << "a start is too dear";
  EXPECT_EQ(plan(true).second.launch_ns, 1e9);
  EXPECT_EQ(plan(true).second.source, backend::Overheads::Source::calibrated);
  EXPECT_EQ(plan(false).first, "far");
  add({.launch_ns = 10, .copy_ns = 10, .copy_ns_per_byte = 0.01});
  EXPECT_EQ(plan(true).first, "far") << "the last one counts";
  add({.launch_ns = 10, .copy_ns = 10, .copy_ns_per_byte = 100});
  EXPECT_EQ(plan(true).first, "cpu") << "a byte is too dear";
}

TEST_F(FarCosts, CalibrationOfAnotherBackendIsIgnored) {
  const fs::path file = folder_ / "overheads";
  options({});
  ASSERT_TRUE(Calibration(file).add(*usual_[1], {.launch_ns = 7}));
  EXPECT_FALSE(Calibration(file).find(*far_));
  ASSERT_TRUE(Calibration(file).find(*usual_[1]));
  EXPECT_EQ(Calibration(file).find(*usual_[1])->launch_ns, 7);
  std::string line;
  std::getline(std::ifstream(file), line);
  const std::string hash = line.substr(0, line.find(' '));
  std::ofstream(file, std::ios::app) << hash << " -1 0 0 reference\n"
                                     << hash << " nan 0 0 reference\n"
                                     << hash << " 1 2 reference\n\nshort\n"
                                     << hash;
  EXPECT_EQ(Calibration(file).find(*usual_[1])->launch_ns, 7) << "malformed lines";
}

}  // namespace
}  // namespace tenon::tests
