// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/plugins/checked.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "backend/work.h"
#include "base/judge.h"
#include "compiler/measure/stopwatch.h"
#include "compiler/port_values.h"
#include "compiler/save.h"
#include "files/npz.h"
#include "ops/reference/elements.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {

namespace {

constexpr double kMostSteps = 2e7;  ///< that the reference runs: a second

using Results = std::vector<Tensor>;

double steps_of(const ir::Graph& graph) {
  double out = 0;
  for (ir::NodeId n : graph.nodes()) out += backend::work_of(graph, n).steps;
  return out;
}

class Checking {
 public:
  Checking(std::span<const Candidate> candidates, const ir::Graph& alone, const CompileOptions& options)
      : candidates_(candidates), alone_(alone), options_(options), faults_(candidates.size()), results_(candidates.size()) {}

  Result<std::vector<std::string>> run() {
    TRY(build());
    const auto ran = TRY(options_.measuring->stopwatch->run(files_));
    for (size_t k = 0; k < files_.size(); ++k)
      if (faults_[of_file_[k]] = ran[k]; ran[k].empty()) read(files_[k], of_file_[k]);
    remove_files();
    judge();
    return std::move(faults_);
  }

 private:
  Result<void> build() {
    for (size_t k = 0; k < candidates_.size(); ++k) {
      const auto built = candidates_[k].build();
      if (!built) {
        faults_[k] = built.error()->what;
        continue;
      }
      files_.push_back(options_.measuring->folder / fmt::format("{}-check-{}.tenon", getpid(), k));
      of_file_.push_back(k);
      TRY(save(*built, options_, files_.back()));
      inputs_ = built->built.programs[0].inputs;
      dtypes_.clear();
      for (const runtime::PortInfo& port : built->built.programs[0].outputs) dtypes_.push_back(port.dtype);
      if (!candidates_[k].way) own_steps_ = steps_of(*built->graph);
    }
    return {};
  }

  void read(const std::filesystem::path& engine, size_t candidate) {
    const auto found = files::read_npz(results_file(engine));
    if (!found || found->size() != dtypes_.size()) {
      faults_[candidate] = "its results cannot be read";
      return;
    }
    for (size_t k = 0; k < dtypes_.size(); ++k) {
      auto result = ops::converted((*found)[k].second, dtypes_[k]);  // a file has no bf16
      if (!result) {
        faults_[candidate] = result.error()->what;
        return;
      }
      results_[candidate].push_back(*std::move(result));
    }
  }

  void remove_files() const {
    for (const std::filesystem::path& file : files_) {
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
      std::filesystem::remove(results_file(file), ignored);
    }
  }

  /// Which candidate is the judge where the reference is none.
  size_t first_judge() const {
    const auto own = std::ranges::find_if(candidates_, [](const Candidate& c) { return !c.way; });
    return own == candidates_.end() ? 0 : static_cast<size_t>(own - candidates_.begin());
  }

  std::optional<Results> by_reference() const {
    if (!own_steps_ || *own_steps_ > kMostSteps) return std::nullopt;
    const auto inputs = drawn_inputs(inputs_);
    if (!inputs) return std::nullopt;
    ops::EvaluateOptions wide;
    wide.mode = ops::Mode::wide;
    auto made = ops::evaluate(alone_, *inputs, wide);
    if (!made) return std::nullopt;
    return *std::move(made);
  }

  void judge() {
    std::optional<Results> wanted = by_reference();
    const std::string judge = wanted ? "its definition" : candidates_[first_judge()].name;
    if (!wanted && faults_[first_judge()].empty()) wanted = results_[first_judge()];
    for (size_t k = 0; k < candidates_.size(); ++k) {
      if (!faults_[k].empty()) continue;
      if (!wanted) faults_[k] = fmt::format("nobody can judge it: {} does not run", judge);
      for (size_t r = 0; wanted && r < dtypes_.size(); ++r) {
        const Distance d = distance(results_[k][r], (*wanted)[r]);
        if (d.beyond == 0 && d.of_bound <= 1) continue;
        faults_[k] = fmt::format("result {} is not what {} gives: {}", r, judge, d.found);
        break;
      }
    }
  }

  std::span<const Candidate> candidates_;
  const ir::Graph& alone_;
  const CompileOptions& options_;
  std::vector<std::string> faults_;
  std::vector<Results> results_;
  std::vector<std::filesystem::path> files_;
  std::vector<size_t> of_file_;
  std::vector<runtime::PortInfo> inputs_;
  std::vector<DType> dtypes_;
  std::optional<double> own_steps_;
};

}  // namespace

Result<std::vector<std::string>> faults_of(std::span<const Candidate> candidates, const ir::Graph& alone, const CompileOptions& options) {
  return Checking(candidates, alone, options).run();
}

}  // namespace tenon::compiler
