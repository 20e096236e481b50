// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/plugins/check_candidates.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "backend/work.h"
#include "base/judge.h"
#include "compiler/measure/engine_runner.h"
#include "compiler/port_values.h"
#include "compiler/save.h"
#include "files/npz.h"
#include "ops/reference/elements.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {

namespace {

constexpr double kMaxReferenceSteps = 2e7;  ///< scalar steps that the reference evaluator runs in about a second

using Results = std::vector<Tensor>;

double steps_of(const ir::Graph& graph) {
  double out = 0;
  for (ir::NodeId n : graph.nodes()) out += backend::work_of(graph, n).steps;
  return out;
}

class CandidateChecker {
 public:
  CandidateChecker(std::span<const Candidate> candidates, const ir::Graph& alone, const CompileOptions& options)
      : candidates_(candidates), alone_(alone), options_(options), rejections_(candidates.size()), results_(candidates.size()) {}

  Result<std::vector<std::string>> run() {
    TRY(build());
    const auto ran = TRY(options_.measuring->runner->run(files_));
    for (size_t k = 0; k < files_.size(); ++k)
      if (rejections_[candidate_of_file_[k]] = ran[k]; ran[k].empty()) read_results(files_[k], candidate_of_file_[k]);
    remove_files();
    compare();
    return std::move(rejections_);
  }

 private:
  Result<void> build() {
    for (size_t k = 0; k < candidates_.size(); ++k) {
      const auto built = candidates_[k].build();
      if (!built) {
        rejections_[k] = built.error()->what;
        continue;
      }
      files_.push_back(options_.measuring->folder / fmt::format("{}-check-{}.tenon", getpid(), k));
      candidate_of_file_.push_back(k);
      TRY(save(*built, options_, files_.back()));
      inputs_ = built->built.programs[0].inputs;
      dtypes_.clear();
      for (const runtime::PortInfo& port : built->built.programs[0].outputs) dtypes_.push_back(port.dtype);
      if (!candidates_[k].variant) reference_steps_ = steps_of(*built->graph);
    }
    return {};
  }

  void read_results(const std::filesystem::path& engine, size_t candidate) {
    const auto found = files::read_npz(results_file(engine));
    if (!found || found->size() != dtypes_.size()) {
      rejections_[candidate] = "its results cannot be read";
      return;
    }
    for (size_t k = 0; k < dtypes_.size(); ++k) {
      auto result = ops::converted((*found)[k].second, dtypes_[k]);  // npz has no bf16
      if (!result) {
        rejections_[candidate] = result.error()->what;
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

  /// The candidate whose results are the expected ones where the reference evaluator is not used.
  size_t expected_candidate() const {
    const auto own = std::ranges::find_if(candidates_, [](const Candidate& c) { return !c.variant; });
    return own == candidates_.end() ? 0 : static_cast<size_t>(own - candidates_.begin());
  }

  std::optional<Results> by_reference() const {
    if (!reference_steps_ || *reference_steps_ > kMaxReferenceSteps) return std::nullopt;
    const auto inputs = drawn_inputs(inputs_);
    if (!inputs) return std::nullopt;
    ops::EvaluateOptions evaluate_options;
    evaluate_options.mode = ops::Mode::wide;
    auto made = ops::evaluate(alone_, *inputs, evaluate_options);
    if (!made) return std::nullopt;
    return *std::move(made);
  }

  void compare() {
    std::optional<Results> expected = by_reference();
    const std::string source = expected ? "its definition" : candidates_[expected_candidate()].name;
    if (!expected && rejections_[expected_candidate()].empty()) expected = results_[expected_candidate()];
    for (size_t k = 0; k < candidates_.size(); ++k) {
      if (!rejections_[k].empty()) continue;
      if (!expected) rejections_[k] = fmt::format("its results cannot be checked: {} does not run", source);
      for (size_t r = 0; expected && r < dtypes_.size(); ++r) {
        const Distance d = distance(results_[k][r], (*expected)[r]);
        if (d.exceeding == 0 && d.bound_ratio <= 1) continue;
        rejections_[k] = fmt::format("result {} is not what {} gives: {}", r, source, d.found);
        break;
      }
    }
  }

  std::span<const Candidate> candidates_;
  const ir::Graph& alone_;
  const CompileOptions& options_;
  std::vector<std::string> rejections_;
  std::vector<Results> results_;
  std::vector<std::filesystem::path> files_;
  std::vector<size_t> candidate_of_file_;
  std::vector<runtime::PortInfo> inputs_;
  std::vector<DType> dtypes_;
  std::optional<double> reference_steps_;
};

}  // namespace

Result<std::vector<std::string>> rejections_of(std::span<const Candidate> candidates, const ir::Graph& alone,
                                               const CompileOptions& options) {
  return CandidateChecker(candidates, alone, options).run();
}

}  // namespace tenon::compiler
