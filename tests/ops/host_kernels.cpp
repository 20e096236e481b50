// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/core/op.h"
#include "ops/core/sample.h"

namespace tenon::ops {
namespace {

constexpr std::string_view kTree =
    "f32[5,2]; nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_modes=[BRANCH_LEQ,BRANCH_LEQ,LEAF], nodes_values=[0.5,0.5,0.0], "
    "nodes_featureids=[0,1,0], nodes_truenodeids=[1,2,0], nodes_falsenodeids=[2,2,0], target_treeids=[0], target_nodeids=[2], "
    "target_ids=[0], target_weights=[0.25], n_targets=1";

Result<HostKernels> kernels_with(std::string_view what, std::string_view instead) {
  std::string text(kTree);
  if (!what.empty()) text.replace(text.find(what), what.size(), instead);
  const OpDef& def = def_of(*table().find("ai.onnx.ml", "TreeEnsembleRegressor"));
  const SampleCase made = TRY(build_sample(def, TRY(parse_sample(def, text)), 1));
  return host_kernels_of(*made.graph);
}

TEST(HostKernels, SharedSubtreesAreTaken) {
  auto kernels = kernels_with("", "");
  ASSERT_TRUE(kernels) << kernels.error().text();
  EXPECT_EQ(kernels->size(), 1U);
}

TEST(HostKernels, CircularTreesAreRefused) {
  auto kernels = kernels_with("nodes_truenodeids=[1,2,0]", "nodes_truenodeids=[1,0,0]");
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().code(), Code::bad_attribute);
}

TEST(HostKernels, WeightsOfMissingTargetsAreRefused) {
  auto kernels = kernels_with("target_ids=[0]", "target_ids=[1]");
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().code(), Code::index_out_of_range);
}

TEST(HostKernels, TooFewFeaturesAreAnErrorOfTheRun) {
  auto kernels = kernels_with("nodes_featureids=[0,1,0]", "nodes_featureids=[0,2,0]");
  ASSERT_TRUE(kernels) << kernels.error().text();
  const Tensor x = Tensor::of_f32({1, 2}, std::vector<float>{1, 2});
  std::vector<Tensor> out(1);
  const Tensor* in[] = {&x};
  auto done = kernels->begin()->second->run(in, out);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Code::index_out_of_range);
}

}  // namespace
}  // namespace tenon::ops
