// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>

#include "base/threads/thread_pool.h"
#include "made_op.h"
#include "plugin/host.h"
#include "plugin/run/runner.h"
#include "plugin/saved.h"
#include "plugin/struct_versions.h"

namespace tenon::plugin {
namespace {

TEST(PluginFields, NumbersKeepTheirTypes) {
  for (const auto& [type, value] : std::initializer_list<std::pair<int32_t, double>>{{TENON_FIELD_F16, 1.5},
                                                                                     {TENON_FIELD_BF16, -2},
                                                                                     {TENON_FIELD_F32, 0.1f},
                                                                                     {TENON_FIELD_F64, 0.1},
                                                                                     {TENON_FIELD_I8, -128},
                                                                                     {TENON_FIELD_I64, 1e15}})
    EXPECT_EQ(number_of(*scalar_field("f", type, value), 0), value) << type;
  EXPECT_FALSE(scalar_field("f", TENON_FIELD_I8, 128));
  EXPECT_FALSE(scalar_field("f", TENON_FIELD_I32, 0.5));
  EXPECT_FALSE(scalar_field("f", TENON_FIELD_CHAR, 1));
}

TEST(PluginSaved, ReadsBackAndRefusesDamage) {
  const Saved saved{.name_space = "a",
                    .name = "B",
                    .version = "2",
                    .library = "lib",
                    .sha256 = "00",
                    .interface = 1,
                    .node = "node 'n'",
                    .fields = {*scalar_field("beta", TENON_FIELD_F32, 1.5), {"mode", TENON_FIELD_CHAR, 4, "fast"}},
                    .results = {DType::f32, DType::i64},
                    .operands = {0, Saved::kMissing, Saved::kWeights},
                    .places = {0, Saved::kMissing},
                    .tactic = 3,
                    .tactic_name = "blocked",
                    .layouts = {0, 1, 2, 1, 0}};
  const std::string bytes = encode(saved);
  const auto again = decode_saved(bytes);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(encode(*again), bytes);
  EXPECT_EQ(again->fields, saved.fields);
  EXPECT_EQ(again->operands, saved.operands);
  EXPECT_EQ(again->layouts, saved.layouts);
  EXPECT_EQ(again->tactic_name, saved.tactic_name);
  Saved wrong = saved;
  wrong.layouts[1] = 3;
  EXPECT_FALSE(decode_saved(encode(wrong)));
  wrong.layouts = {0, 1};
  EXPECT_FALSE(decode_saved(encode(wrong)));
  for (size_t size = 0; size < bytes.size(); ++size) (void)decode_saved(std::string_view(bytes).substr(0, size));  // no crash
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      if (const auto read = decode_saved(damaged))
        for (const Field& f : read->fields) EXPECT_EQ(bytes_of_field(f.type, f.length), static_cast<int64_t>(f.bytes.size()));
    }
}

TEST(PluginSaved, RefusesNumbersThatFieldsCannotHold) {
  const std::string bytes = encode(Saved());
  ASSERT_EQ(decode_saved(bytes + std::string("\x58\x02", 2))->operands, (std::vector<int32_t>{1}));
  const auto wide = decode_saved(bytes + "\x58\x80\x80\x80\x80\x20");  // operand 2^32
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error()->place, "plugins section");
  EXPECT_FALSE(decode_saved(bytes + "\x48\x81\x02"));  // a result of dtype 257
}

TEST(PluginOp, ReportsAllErrorsAtOnce) {
  MadeOp made;
  made.table.version = "";
  made.table.create = nullptr;
  made.table.infer = nullptr;
  made.table.result_count = 0;
  const auto op = read_op(made.table);
  ASSERT_FALSE(op);
  for (std::string_view part : {"no version", "no result", "`enqueue` and no `create`", "neither a definition nor `infer`"})
    EXPECT_NE(op.error()->what.find(part), std::string::npos) << op.error()->what;
}

TEST(PluginOp, OfAnOlderHeaderHasZerosForMissingFields) {
  MadeOp made;
  EXPECT_TRUE(read_op(made.table)->runs());
  made.table.struct_size = offsetof(tenon_op, enqueue);  // of a header that had no such function
  made.table.expression = "Neg(x)";
  EXPECT_FALSE(read_op(made.table)->runs());
}

TEST(PluginHost, SharesResourcesByKeyAndDestroysThemOnce) {
  static int made, destroyed;
  made = destroyed = 0;
  const Host& host = Host::permanent("shares", nullptr);
  const tenon_resource maker{.struct_size = sizeof(tenon_resource),
                             .make = [](void*, void** out) -> int32_t {
                               *out = &made;
                               ++made;
                               return TENON_OK;
                             },
                             .destroy = [](void*) { ++destroyed; },
                             .argument = nullptr};
  const tenon_host* const table = host.table();
  void *one = nullptr, *other = nullptr;
  EXPECT_EQ(table->acquire(table, "key", &maker, &one), TENON_OK);
  EXPECT_EQ(table->acquire(table, "key", &maker, &other), TENON_OK);
  EXPECT_EQ(one, other);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(table->release(table, "key"), TENON_OK);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(table->release(table, "key"), TENON_OK);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(table->release(table, "key"), TENON_FAILED);
  EXPECT_NE(take_failure().find("nobody holds"), std::string::npos);
}

TEST(PluginRunner, RunsOnTheThreadPoolAndReportsDataDependentSizes) {
  MadeOp made;
  made.table.enqueue = [](void*, const tenon_call* call) -> int32_t {
    std::atomic<int64_t> seen{0};
    call->parallel_for(
        call, 1000, 10,
        [](void* argument, int64_t begin, int64_t end, int32_t) { *static_cast<std::atomic<int64_t>*>(argument) += end - begin; }, &seen);
    const int64_t size = seen;
    void* data = nullptr;
    if (const int32_t status = call->set_sizes(call, 0, 1, &size, &data); status != TENON_OK) return status;
    for (int64_t k = 0; k < size; ++k) static_cast<float*>(data)[k] = static_cast<float>(k);
    return TENON_OK;
  };
  const Op op = made.read();
  ThreadPool thread_pool(3);
  const auto runner = *Runner::make(*Object::create(op, TENON_RUN, "node", {}, 1, 1), 1, {DType::f32});
  const Tensor x = *Tensor::make(DType::f32, {4});
  ASSERT_TRUE(runner->set_shapes({{x}}, {{Tensor()}}, {true}));
  ASSERT_TRUE(runner->run({.thread_pool = &thread_pool, .threads = 3}));
  ASSERT_EQ(runner->late(0).shape(), Sizes{1000});
  EXPECT_EQ(runner->late(0).as<float>()[999], 999);
  // A place that is there: its sizes are not the plugin's to tell.
  ASSERT_TRUE(runner->set_shapes({{x}}, {{x}}, {true}));
  const auto refused = runner->run({});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error()->what.find("known before the run"), std::string::npos);
}

}  // namespace
}  // namespace tenon::plugin
