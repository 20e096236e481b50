// SPDX-License-Identifier: Apache-2.0
// Every rewrite that the pipeline makes in the models is run beside what it replaces.
#include "rewrite/verify/verification.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "import/onnx_import.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "weights.h"

namespace tenon::tests {
namespace {

std::vector<std::filesystem::path> models() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(TENON_TEST_DATA))
    if (entry.path().extension() == ".onnx") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

class VerifiedModels : public testing::TestWithParam<std::filesystem::path> {
 protected:
  VerifiedModels() { std::filesystem::create_directories(folder_); }
  ~VerifiedModels() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("tenon_verified_" + GetParam().stem().string() + std::to_string(getpid()));
};

TEST_P(VerifiedModels, EveryRewriteIsRight) {
  const auto written = write_weights(GetParam(), folder_);
  ASSERT_TRUE(written) << written.error().text();
  import::ImportOptions import_options;
  import_options.external_data_dir = folder_;
  const auto imported = import::import_onnx(GetParam(), import_options);
  ASSERT_TRUE(imported) << imported.error().text();
  rewrite::Verifier verifier(rewrite::Verify::first);
  passes::Options options;
  options.level = 3;
  options.rewriting.check = std::ref(verifier);
  const auto report = passes::optimise(*imported->graph, options);
  ASSERT_TRUE(report) << report.error().text();
  const rewrite::Verification& result = verifier.result();
  EXPECT_TRUE(report->rules.reports.empty()) << report->rules.reports[0];
  EXPECT_EQ(result.wrong, 0);
  EXPECT_TRUE(result.unverified.empty()) << text_of(result);
  EXPECT_EQ(result.verified + result.known, result.rewrites) << text_of(result);
  const auto ok = ir::verify(*imported->graph);
  EXPECT_TRUE(ok) << ok.error().text();
}

INSTANTIATE_TEST_SUITE_P(All, VerifiedModels, testing::ValuesIn(models()), [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace tenon::tests
