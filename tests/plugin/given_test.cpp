// SPDX-License-Identifier: Apache-2.0
// What a library gives that cannot be: an error each, and nothing that is read or written outside of what is there.
#include <gtest/gtest.h>

#include "base/threads/thread_pool.h"
#include "made_op.h"
#include "plugin/added_graphs.h"
#include "plugin/given_tensor.h"
#include "plugin/registry.h"
#include "plugin/run/runner.h"

namespace tenon::plugin {
namespace {

/// A node of this op, run once on [4] with a result whose size the data tells.
Result<void> run(const MadeOp& made, const RunResources& running = {}) {
  const Op op = made.read();
  const auto runner = TRY(Runner::make(TRY(Object::create(op, TENON_RUN, "node", {}, 1, 1)), 1, {DType::f32}));
  const Tensor x = *Tensor::make(DType::f32, {4});
  TRY(runner->set_shapes({&x, 1}, std::vector<Tensor>(1), {true}));
  return runner->run(running);
}

std::string what_of(const Result<void>& done) { return done ? "no error" : done.error()->what; }

TEST(PluginGives, MoreTasksThanParallelForAccepts) {
  MadeOp made;
  made.table.enqueue = [](void*, const tenon_call* call) -> int32_t {
    return call->parallel_for(call, INT64_MAX, 1, [](void*, int64_t, int64_t, int32_t) {}, nullptr);
  };
  ThreadPool thread_pool(2);
  EXPECT_EQ(what_of(run(made, {.thread_pool = &thread_pool, .threads = 2})), "its `enqueue` says: parallel_for: the count is too large");
}

TEST(PluginGives, SizesSetTwice) {
  MadeOp made;
  made.table.enqueue = [](void*, const tenon_call* call) -> int32_t {
    const int64_t sizes[] = {2};
    void* data = nullptr;
    if (const int32_t status = call->set_sizes(call, 0, 1, sizes, &data); status != TENON_OK) return status;
    return call->set_sizes(call, 0, 1, sizes, &data);
  };
  EXPECT_NE(what_of(run(made)).find("set already"), std::string::npos);
}

TEST(PluginGives, NegativeOrOverflowingSizes) {
  for (const int64_t size : {int64_t{-1}, INT64_MAX, int64_t{1} << 55}) {
    static int64_t sized;
    sized = size;
    MadeOp made;
    made.table.enqueue = [](void*, const tenon_call* call) -> int32_t {
      void* data = nullptr;
      return call->set_sizes(call, 0, 1, &sized, &data);
    };
    EXPECT_NE(what_of(run(made)).find("tensor"), std::string::npos) << size;
  }
  MadeOp made;
  made.table.enqueue = [](void*, const tenon_call* call) -> int32_t { return call->set_sizes(call, 0, 2, nullptr, nullptr); };
  EXPECT_NE(what_of(run(made)).find("null"), std::string::npos);
}

TEST(PluginGives, ACallUsedAfterItsEnd) {
  static const tenon_call* kept;
  MadeOp made;
  made.table.enqueue = [](void*, const tenon_call* call) -> int32_t {
    kept = call;
    return TENON_OK;
  };
  const Op op = made.read();
  const auto runner = *Runner::make(*Object::create(op, TENON_RUN, "node", {}, 1, 1), 1, {DType::f32});
  {
    const auto running = std::make_unique<RunResources>(RunResources{.stopped = [](const void*) { return true; }});
    ASSERT_TRUE(runner->run(*running));
  }
  EXPECT_EQ(kept->stopped(kept), 0) << "the run is gone";
}

TEST(PluginGives, MoreWorkspaceThanMemory) {
  MadeOp made;
  made.table.workspace = [](void*, const tenon_tensor* const*, const tenon_tensor* const*, uint64_t* bytes) -> int32_t {
    *bytes = UINT64_MAX;
    return TENON_OK;
  };
  EXPECT_NE(what_of(run(made)).find("too much workspace"), std::string::npos);
}

TEST(PluginGives, AnAttachedObjectThatWouldBeDestroyedTwice) {
  static int destroyed;
  destroyed = 0;
  MadeOp made;
  made.table.create = [](const tenon_host*, const tenon_node*, void** self) -> int32_t {
    *self = &destroyed;
    return TENON_OK;
  };
  made.table.destroy = [](void*) { ++destroyed; };
  made.table.attach = [](void* self, void** attached) -> int32_t {
    *attached = self;
    return TENON_OK;
  };
  EXPECT_NE(what_of(run(made)).find("its `attach` gives the object"), std::string::npos);
  EXPECT_EQ(destroyed, 1);
}

TEST(PluginGives, ARangeOfAnUnsupportedType) {
  for (const int32_t type : {TENON_FIELD_CHAR, TENON_FIELD_DIMS, TENON_FIELD_BYTES, TENON_FIELD_I4}) {
    MadeOp made;
    auto rule = blank<tenon_field_rule>();
    rule.name = "f";
    rule.type = type;
    rule.length = 1;
    rule.has_range = 1;
    rule.otherwise = "a";
    const tenon_field_rule* const fields[] = {&rule};
    made.table.field_count = 1;
    made.table.fields = fields;
    made.table.expression = "Neg(x)";
    const auto op = read_op(made.table);
    ASSERT_FALSE(op) << type;
    EXPECT_NE(op.error()->what.find("are no numbers"), std::string::npos) << op.error()->what;
  }
}

TEST(PluginGives, InvalidDimensionHandles) {
  const tenon_host* const host = Host::permanent("sizes", nullptr).table();
  Symbols symbols;
  const tenon_dim seq = handle_of(symbols.symbol("seq"));
  EXPECT_EQ(dim_of(seq).text(), "seq");
  for (const tenon_dim handle : {tenon_dim{0}, tenon_dim{4}, tenon_dim{0xfffffffffffffff0}}) {
    EXPECT_TRUE(dim_of(handle).is_overflow()) << handle;
    EXPECT_TRUE(dim_of(host->dim_of(host, TENON_ADD, handle, seq)).is_overflow());
    int64_t number = 0;
    EXPECT_EQ(host->dim_number(host, handle, &number), 0);
  }
  EXPECT_TRUE(dim_of(host->dim(host, INT64_MAX)).is_overflow());
  EXPECT_TRUE(dim_of(host->dim(host, INT64_MIN)).is_overflow());
  EXPECT_EQ(dim_of(host->dim(host, 7)).value(), 7);
  clear_dims();
  EXPECT_TRUE(dim_of(seq).is_overflow()) << "kept after the call that it was given to";
}

TEST(PluginGives, ResourcesThatRequestThemselves) {
  static const tenon_host* host;
  host = Host::permanent("circle", nullptr).table();
  static tenon_resource maker;
  maker = {.struct_size = sizeof(tenon_resource),
           .make = [](void*, void** out) -> int32_t { return host->acquire(host, "key", &maker, out); },
           .destroy = nullptr,
           .argument = nullptr};
  void* out = nullptr;
  EXPECT_EQ(host->acquire(host, "key", &maker, &out), TENON_FAILED);
  EXPECT_NE(take_failure().find("while it is made"), std::string::npos);
  EXPECT_EQ(host->acquire(host, nullptr, nullptr, nullptr), TENON_FAILED);
  EXPECT_EQ(host->release(host, nullptr), TENON_FAILED);
  // One whose end makes another of the same key.
  static int made;
  made = 0;
  maker.make = [](void*, void** made_out) -> int32_t {
    *made_out = &++made;
    return TENON_OK;
  };
  maker.destroy = [](void*) {
    void* again = nullptr;
    if (made == 1) host->acquire(host, "key", &maker, &again);
  };
  EXPECT_EQ(host->acquire(host, "key", &maker, &out), TENON_OK);
  EXPECT_EQ(host->release(host, "key"), TENON_OK);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(host->release(host, "key"), TENON_OK) << "the other one is there";
}

TEST(PluginGives, AnUnknownSeverity) {
  std::vector<int> seen;
  const tenon_host* const host =
      Host::permanent("log", [&](tenon_severity severity, std::string_view, std::string_view) { seen.push_back(severity); }).table();
  for (const int32_t severity : {INT32_MIN, 0, 3, 1000}) host->log(host, severity, "text");
  EXPECT_EQ(seen, (std::vector<int>{TENON_LOG_ERROR, TENON_LOG_ERROR, TENON_LOG_INFO, TENON_LOG_VERBOSE}));
}

TEST(PluginGives, TensorsWithoutSizes) {
  auto tensor = blank<tenon_tensor>();
  tensor.dtype = TENON_F32;
  tensor.rank = 2;
  const auto taken = given_tensor(&tensor, "it");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error()->what, "its sizes are missing");
}

TEST(PluginGives, AddedGraphsWithNullArguments) {
  MadeOp made;
  made.table.add_graphs = [](void*, const tenon_graphs* graphs) -> int32_t {
    if (graphs->add(graphs, nullptr, nullptr) == TENON_OK) return TENON_OK;
    if (graphs->constant(graphs, 0, nullptr) == TENON_OK) return TENON_OK;
    return graphs->add_with(graphs, "graph g() {\n}\n", 3, nullptr, nullptr);
  };
  const Op op = made.read();
  const auto object = *Object::create(op, TENON_BUILD, "node", {}, 1, 1);
  const auto graphs = added_graphs(*object, 1, [](uint32_t) -> Result<Tensor> { return Tensor(); });
  ASSERT_FALSE(graphs);
  EXPECT_NE(graphs.error()->what.find("there is no list of constants"), std::string::npos) << graphs.error()->what;
}

TEST(PluginGives, ANullFieldToSave) {
  MadeOp made;
  made.table.save = [](void*, const tenon_saver* saver) -> int32_t { return saver->put(saver, nullptr); };
  const Op op = made.read();
  EXPECT_EQ((*Object::create(op, TENON_BUILD, "node", {}, 1, 1))->save({}).error().code(), Code::bad_attribute);
}

TEST(PluginGives, IntegersThatADoubleCannotRepresent) {
  const int64_t value = INT64_MAX - 6;
  const Field field{"f", TENON_FIELD_I64, 1, std::string(reinterpret_cast<const char*>(&value), sizeof value)};
  EXPECT_EQ(integer_of(field, 0), value);
}

TEST(PluginRegistry, LoggerMayQueryTheRegistry) {
  MadeOp made;
  const tenon_op* const ops[] = {&made.table};
  auto library = blank<tenon_library>();
  library.name = "logged";
  library.op_count = 1;
  library.ops = ops;
  Registry registry;
  size_t seen = 0;
  ASSERT_TRUE(registry.add(
      *library_of(library, "here", std::string(64, '1')),
      {.name_space = {}, .logger = [&](tenon_severity, std::string_view, std::string_view) { seen = registry.ops().size(); }}));
  EXPECT_EQ(seen, 1U);
}

}  // namespace
}  // namespace tenon::plugin
