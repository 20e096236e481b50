// SPDX-License-Identifier: Apache-2.0
#include "plugin/run/host_call.h"

#include <gtest/gtest.h>

#include "made_op.h"

namespace tenon::plugin {
namespace {

/// Counts the calls that pass the checks.
struct CountedServices final : CallServices {
  int calls = 0;
  int32_t parallel_for(int64_t count, int64_t, Body body, void* argument) override {
    ++calls;
    body(argument, 0, count, 0);
    return TENON_OK;
  }
  bool stopped() const override { return true; }
  int32_t set_sizes(uint32_t, std::span<const int64_t> sizes, void** data) override {
    ++calls;
    *data = const_cast<int64_t*>(sizes.data());
    return TENON_OK;
  }
  int32_t run_graph(uint32_t graph, const tenon_tensor* const*, const tenon_tensor* const*) override { return static_cast<int32_t>(graph); }
  int32_t graph_ports(uint32_t graph, uint32_t*, uint32_t*) override { return static_cast<int32_t>(graph) + 1; }
};

class PluginHostCall : public testing::Test {
 protected:
  MadeOp made_;
  const Op op_ = made_.read();
  const std::unique_ptr<Object> object_ = *Object::create(op_, TENON_BUILD, "node", {}, 1, 2);
  TensorViews operands_{1}, results_{2};
  CountedServices services_;
  HostCall host_call_{services_, *object_, operands_, results_};
  const tenon_call* const call_ = &host_call_.get();
};

void add_length(void* sum, int64_t begin, int64_t end, int32_t) { *static_cast<int64_t*>(sum) += end - begin; }

TEST_F(PluginHostCall, ForwardsValidArguments) {
  int64_t sum = 0;
  EXPECT_EQ(call_->parallel_for(call_, 7, 1, add_length, &sum), TENON_OK);
  EXPECT_EQ(sum, 7);
  const int64_t sizes[] = {2, 3};
  void* data = nullptr;
  EXPECT_EQ(call_->set_sizes(call_, 0, 2, sizes, &data), TENON_OK);
  EXPECT_EQ(data, sizes);
  EXPECT_EQ(call_->set_sizes(call_, 0, 0, nullptr, &data), TENON_OK) << "a scalar has no sizes";
  EXPECT_EQ(services_.calls, 3);
  EXPECT_EQ(call_->stopped(call_), 1);
  EXPECT_EQ(call_->run_graph(call_, 5, nullptr, nullptr), 5);
  EXPECT_EQ(call_->graph_ports(call_, 5, nullptr, nullptr), 6);
  EXPECT_EQ(call_->operand_count, 1u);
  EXPECT_EQ(call_->result_count, 2u);
}

TEST_F(PluginHostCall, RefusesInvalidArgumentsBeforeTheServices) {
  const int64_t sizes[] = {1};
  void* data = nullptr;
  const auto refused = [&](int32_t status) { return status == TENON_FAILED && services_.calls == 0; };
  EXPECT_TRUE(refused(call_->set_sizes(call_, 0, 1, nullptr, &data)));
  EXPECT_TRUE(refused(call_->set_sizes(call_, 0, 1, sizes, nullptr)));
  EXPECT_TRUE(refused(call_->set_sizes(call_, 0, 0, nullptr, nullptr)));
  EXPECT_TRUE(refused(call_->set_sizes(call_, 0, -1, sizes, &data)));
  EXPECT_TRUE(refused(call_->set_sizes(call_, 0, TENON_MAX_RANK + 1, sizes, &data)));
  EXPECT_TRUE(refused(call_->parallel_for(call_, 1, 1, nullptr, nullptr)));
  EXPECT_TRUE(refused(call_->parallel_for(call_, INT64_MAX, 1, add_length, nullptr)));
}

TEST_F(PluginHostCall, RunsNoBodyForACountOfZero) {
  EXPECT_EQ(call_->parallel_for(call_, 0, 1, add_length, nullptr), TENON_OK);
  EXPECT_EQ(call_->parallel_for(call_, -3, 1, nullptr, nullptr), TENON_OK);
  EXPECT_EQ(services_.calls, 0);
}

}  // namespace
}  // namespace tenon::plugin
