// SPDX-License-Identifier: Apache-2.0
// Kinds of steps and rows of the program table: each test fails where one check of them, or one line of what they do, is left out.
#include <gtest/gtest.h>

#include "programs.h"
#include "runtime/run/size_plans.h"

namespace tenon::tests {
namespace {

using namespace runtime;
using Line = SizeLine::Kind;
using Place = BufferInfo::Kind;

bool is_read(const ProgramTable& table) { return decode(encode(table)).has_value(); }

// --- checks of indices ---

/// x: f32[a], y: f32[b] -> n: i64[1] = a. Checks that indices from a - 10 to b - 10 lie in a table of 5.
Program checking_program(bool from_end) {
  Program p;
  p.sizes = {{Line::input_dimension, 0, 0, 0, 0},
             {Line::input_dimension, 0, 1, 0, 0},
             {Line::constant, -10, 0, 0, 0},
             {Line::add, 0, 0, 2, 0},
             {Line::add, 0, 1, 2, 0},
             {Line::constant, 5, 0, 0, 0},
             {Line::constant, 1, 0, 0, 0}};
  p.input_lines = 7;
  p.buffers = {buffer(Place::input, DType::f32, {0}, 0, "x"), buffer(Place::input, DType::f32, {1}, 1, "y"),
               buffer(Place::arena, DType::i64, {}, 0, "lowest"), buffer(Place::arena, DType::i64, {}, 0, "highest"),
               buffer(Place::output, DType::i64, {6}, 0, "n")};
  p.inputs = {port("x", DType::f32, {0}, {"a"}, 0), port("y", DType::f32, {1}, {"b"}, 1)};
  p.outputs = {port("n", DType::i64, {6}, {"1"}, 4)};
  p.steps.resize(4);
  const std::pair<uint32_t, Slot> stored[] = {{2, 3}, {3, 4}, {4, 0}};
  for (size_t k = 0; k < 3; ++k) {
    Step& step = p.steps[k < 2 ? k : 3];
    step.kind = SizesStep();
    step.buffers = {stored[k].first};
    step.sizes = {stored[k].second};
  }
  p.steps[2].kind = CheckStep{.from_end = from_end};
  p.steps[2].buffers = {2, 3};
  p.steps[2].sizes = {5};
  p.steps[2].label = "Gather";
  for (Step& s : p.steps) s.lines = 7;
  return p;
}

TEST(CheckStep, RefusesIndicesOutsideOfTheTable) {
  struct Case {
    bool from_end;
    int64_t lowest, highest;
    bool fits;
  };
  for (const Case& c : {Case{false, 0, 4, true}, Case{false, 0, 5, false}, Case{false, -1, 4, false}, Case{true, -5, 4, true},
                        Case{true, -6, 4, false}, Case{true, 0, 5, false}, Case{false, -1, -5, true}}) {  // the last: no index at all
    const auto table = decode(encode(checking_program(c.from_end)));
    ASSERT_TRUE(table) << table.error().text();
    const auto context = *Context::create(small_engine(*table));
    const std::vector<Tensor> inputs = {*Tensor::make(DType::f32, {c.lowest + 10}), *Tensor::make(DType::f32, {c.highest + 10})};
    const auto got = context->run(inputs);
    EXPECT_EQ(got.has_value(), c.fits) << c.from_end << ": " << c.lowest << " to " << c.highest;
    if (!got) EXPECT_EQ(got.error().code(), Code::index_out_of_range) << got.error().text();
  }
}

TEST(CheckStep, RefusesBuffersThatAreNoTwoIndices) {
  const auto with = [](void (*edit)(Program&)) {
    ProgramTable table = checking_program(false);
    edit(table[0]);
    return is_read(table);
  };
  EXPECT_TRUE(with([](Program&) {}));
  EXPECT_FALSE(with([](Program& p) { p.steps[2].buffers.push_back(3); }));
  EXPECT_FALSE(with([](Program& p) { p.steps[2].buffers.pop_back(); }));
  EXPECT_FALSE(with([](Program& p) { p.steps[2].sizes.clear(); }));
  EXPECT_FALSE(with([](Program& p) { p.buffers[2].dtype = DType::i32; }));
  EXPECT_FALSE(with([](Program& p) { p.buffers[3].shape = {6}; }));
  EXPECT_FALSE(with([](Program& p) {  // without the step that writes it
    p.steps.erase(p.steps.begin());
    p.buffers[2].kind = Place::dynamic;
  }));
}

// --- other kinds ---

TEST(SizesStep, RefusesASecondBuffer) {
  ProgramTable table = small_program();
  table[0].steps[2].buffers.push_back(4);
  EXPECT_FALSE(is_read(table));
}

TEST(SizesStep, RefusesABufferThatIsReadOnlyOrOfNoNumbers) {
  const auto with = [](void (*edit)(BufferInfo&)) {
    ProgramTable table = small_program();
    table[0].outputs.pop_back();
    table[0].buffers[4].kind = Place::arena;
    edit(table[0].buffers[4]);
    return is_read(table);
  };
  EXPECT_TRUE(with([](BufferInfo&) {}));
  EXPECT_FALSE(with([](BufferInfo& b) { b.kind = Place::input, b.index = 0; }));
  EXPECT_FALSE(with([](BufferInfo& b) { b.kind = Place::alias, b.index = 0; }));
  EXPECT_FALSE(with([](BufferInfo& b) { b.kind = Place::dynamic; }));
  EXPECT_FALSE(with([](BufferInfo& b) { b.dtype = DType::string; }));
}

TEST(SizesStep, WritesNoMoreSizesThanThereIsRoomFor) {
  ProgramTable table = small_program();
  table[0].steps[2].sizes.push_back(0);  // a third one into i64[2]
  const auto context = *Context::create(small_engine(table));
  const int64_t id = 0;
  const auto got = context->run(std::vector{Tensor::of_f32({1}, std::vector<float>{1}), Tensor::of_i64({1}, {&id, 1})});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::internal);
}

TEST(BranchStep, RefusesResultsThatItsBodiesDoNotReturn) {
  for (const size_t body : {1, 2}) {
    ProgramTable table = branch_program();
    PortInfo& given = table[body].outputs[0];
    given.dtype = table[body].buffers[given.buffer].dtype = DType::f64;
    EXPECT_FALSE(is_read(table)) << body;
  }
  ProgramTable table = branch_program();
  table[0].steps[0].results = {1};  // an input
  EXPECT_FALSE(is_read(table));
}

TEST(BranchStep, RefusesOperandsThatDoNotFitItsBodies) {
  const auto with = [](void (*edit)(ProgramTable&)) {
    ProgramTable table = branch_program();
    edit(table);
    return is_read(table);
  };
  EXPECT_TRUE(with([](ProgramTable&) {}));
  EXPECT_FALSE(with([](ProgramTable& t) { t[0].steps[0].buffers.pop_back(); }));
  EXPECT_FALSE(with([](ProgramTable& t) { t[0].steps[0].buffers.push_back(1); }));
  EXPECT_FALSE(with([](ProgramTable& t) { t[0].steps[0].buffers[0] = kMissing; }));
  for (const size_t body : {1, 2}) {
    ProgramTable table = branch_program();
    table[body].sizes[0] = {Line::outer, 0, 0, 0, 0};  // the step gives no size
    EXPECT_FALSE(is_read(table)) << body;
  }
}

TEST(LoopStep, EndsWhereItsConditionIsFalse) {
  ProgramTable table = loop_program();
  table[1].sizes[1].constant = 0;  // the body's condition
  const auto context = *Context::create(small_engine(table));
  const int64_t trips = 5;
  const std::vector<Tensor> inputs = {Tensor::of_i64({}, {&trips, 1}), Tensor::of_f32({2}, std::vector<float>{1, 5})};
  const auto got = context->run(inputs);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ((*got)[0].number(0), 2);
  EXPECT_EQ((*got)[1].shape(), (Sizes{1, 2}));
}

TEST(LoopStep, RefusesOperandsThatDoNotFitItsBody) {
  const auto with = [](void (*edit)(ProgramTable&)) {
    ProgramTable table = loop_program();
    edit(table);
    return is_read(table);
  };
  EXPECT_TRUE(with([](ProgramTable&) {}));
  EXPECT_FALSE(with([](ProgramTable& t) { t[0].steps[0].buffers.push_back(1); }));
  EXPECT_FALSE(with([](ProgramTable& t) { as<LoopStep>(t[0].steps[0])->carried = 0, t[0].steps[0].buffers.pop_back(); }));
  EXPECT_FALSE(with([](ProgramTable& t) {  // neither a condition nor what it carries
    as<LoopStep>(t[0].steps[0])->carried = 0;
    t[0].steps[0].buffers.resize(1);
    t[1].inputs.resize(1);
    t[1].buffers[1].kind = t[1].buffers[2].kind = Place::arena;
  }));
}

TEST(LoopStep, RefusesRowsInABufferWithoutDimensions) {
  ProgramTable table = loop_program();
  table[0].buffers[3].kind = Place::arena;
  table[0].steps[0].bindings.clear();
  EXPECT_TRUE(is_read(table));
  table[0].buffers[3].shape.clear();
  EXPECT_FALSE(is_read(table));
}

TEST(KernelStep, RefusesPartsWithoutUnitsAndScratchMemoryWithoutBound) {
  const auto is_sound_kernel = [](KernelStep kernel) {
    ProgramTable table = small_program();
    table[0].steps.push_back({.kind = kernel, .buffers = {0}, .results = {}, .sizes = {}, .lines = 5, .bindings = {}, .label = ""});
    return is_read(table);
  };
  EXPECT_TRUE(is_sound_kernel({}));
  EXPECT_TRUE(is_sound_kernel({.units = 0, .parts = 1}));
  EXPECT_FALSE(is_sound_kernel({.units = 0}));
  EXPECT_FALSE(is_sound_kernel({.parts = 1}));
  EXPECT_TRUE(is_sound_kernel({.scratch_bytes = uint64_t{1} << 32}));
  EXPECT_FALSE(is_sound_kernel({.scratch_bytes = (uint64_t{1} << 32) + 1}));
}

// --- segments ---

/// "same": its operand itself; "two": two results; "short": the elements but the last.
class OddDevice : public Device {
 public:
  std::string_view name() const override { return "test"; }
  Result<std::unique_ptr<Segment>> make(const BlobView& blob) const override { return std::make_unique<Odd>(std::string(blob.bytes)); }

 private:
  struct Odd : Segment {
    explicit Odd(std::string kind) : kind(std::move(kind)) {}
    Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor>, const RunOptions&) override {
      const Tensor& x = operands[0];
      if (kind == "two") return std::vector<Tensor>{x, x};
      if (kind == "same") return std::vector<Tensor>{x};
      const auto values = x.as<float>();
      return std::vector<Tensor>{Tensor::of_f32({x.count() - 1}, std::vector<float>(values.begin(), values.end() - 1))};
    }
    std::string kind;
  };
};

/// x: f32[n] -> y: f32[n] by a segment, into memory of that kind.
Program segment_program(std::string blob, Place place) {
  Program p;
  p.sizes = {{Line::input_dimension, 0, 0, 0, 0}};
  p.input_lines = 1;
  p.buffers = {buffer(Place::input, DType::f32, {0}, 0, "x"), buffer(place, DType::f32, {0}, 0, "y")};
  p.inputs = {port("x", DType::f32, {0}, {"n"}, 0)};
  p.outputs = {port("y", DType::f32, {0}, {"n"}, 1)};
  p.blobs = {{"test", std::move(blob)}};
  p.steps.resize(1);
  p.steps[0] = {.kind = SegmentStep{0}, .buffers = {0}, .results = {1}, .sizes = {}, .lines = 1, .bindings = {}, .label = "Odd"};
  return p;
}

Result<std::vector<Tensor>> run_segment(std::string blob, Place place, const Tensor& x) {
  EngineParts parts;
  parts.programs = segment_program(std::move(blob), place);
  const auto context = TRY(Context::create(TRY(Engine::create(std::move(parts), {std::make_shared<OddDevice>()}))));
  const std::span<const Tensor> results = TRY(context->run({&x, 1}));
  return std::vector<Tensor>(results.begin(), results.end());
}

TEST(SegmentStep, RefusesAnotherNumberOfResults) {
  const auto got = run_segment("two", Place::dynamic, Tensor::of_f32({2}, std::vector<float>{1, 2}));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::device_failed);
  EXPECT_EQ(got.error()->found, "2");
}

TEST(SegmentStep, RefusesAResultOfAnotherShapeThanItsPlace) {
  const auto got = run_segment("short", Place::output, Tensor::of_f32({2}, std::vector<float>{1, 2}));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::bad_input);
  EXPECT_EQ(got.error()->found, "[1]");
}

TEST(SegmentStep, CopiesAnOperandThatItReturns) {
  const Tensor x = Tensor::of_f32({2}, std::vector<float>{1, 2});
  const auto got = run_segment("same", Place::dynamic, x);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ((*got)[0].number(1), 2);
  EXPECT_NE((*got)[0].data(), x.data());
}

TEST(SegmentStep, RefusesResultsInBuffersThatAreReadOnly) {
  ProgramTable table = segment_program("same", Place::dynamic);
  EXPECT_TRUE(is_read(table));
  table[0].steps[0].results[0] = 0;
  EXPECT_FALSE(is_read(table));
}

// --- the table ---

/// Entries "main" and "other", each with a fallback for sizes out of range: rows 0 and 1, 2 and 3.
ProgramTable two_entries() {
  const Program own = segment_program("same", Place::dynamic);
  ProgramTable table = own;
  table.programs.push_back({.name = "other", .program = own});
  for (const uint32_t entry : {0u, 1u})
    table.programs.push_back({.role = Role::fallback, .condition = Condition::size_out_of_range, .entry = entry, .program = own});
  return table;
}

TEST(ProgramTable, FallbackIsThatOfItsEntry) {
  const auto table = decode(encode(two_entries()));
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(entries_of(*table), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(fallback_of(*table, 0, Condition::size_out_of_range), 2u);
  EXPECT_EQ(fallback_of(*table, 1, Condition::size_out_of_range), 3u);
  EXPECT_EQ(fallback_of(*table, 1, Condition::plugin_missing), std::nullopt);
}

TEST(ProgramTable, SizesOutOfRangeSelectTheFallback) {
  const ProgramTable table = two_entries();  // ports take 1 to 1000
  const auto selected = [&](int64_t n, uint32_t entry) { return program_for(table, std::vector<Sizes>{{n}}, entry); };
  for (const uint32_t entry : {0u, 1u}) {
    for (const int64_t n : {1, 1000}) EXPECT_EQ(selected(n, entry), entry) << n;
    for (const int64_t n : {0, 1001}) EXPECT_EQ(selected(n, entry), entry + 2) << n;
  }
}

TEST(ProgramTable, BodiesAndInnerGraphsAreNoEntries) { EXPECT_EQ(entries_of(branch_program()), std::vector<uint32_t>{0}); }

TEST(ProgramTable, RefusesUnusedRowsThatAreDamaged) {
  const Program own = segment_program("same", Place::dynamic);
  const auto with = [&](NamedProgram row) {
    ProgramTable table = two_entries();
    table.programs.push_back(std::move(row));
    return is_read(table);
  };
  EXPECT_TRUE(with({.role = Role::inner_graph, .program = own}));
  EXPECT_FALSE(with({.role = Role::inner_graph, .condition = Condition::size_out_of_range, .program = own}));
  EXPECT_FALSE(with({.name = "third", .role = static_cast<Role>(5), .program = own}));
  EXPECT_FALSE(with({.name = "third", .role = static_cast<Role>(0), .program = own}));
  EXPECT_FALSE(with({.name = "third", .condition = Condition::plugin_missing, .program = own}));
}

/// Contexts begin with the first row.
TEST(ProgramTable, RefusesAFirstRowThatIsNoEntry) {
  const Program own = segment_program("same", Place::dynamic);
  ProgramTable none = own;
  none.programs[0] = {.role = Role::inner_graph, .program = own};
  EXPECT_FALSE(is_read(none));
  ProgramTable late = two_entries();
  std::swap(late.programs[0], late.programs[2]);
  for (NamedProgram& p : late.programs) p.entry = p.role == Role::fallback ? (p.entry == 0 ? 2 : 1) : 0;
  EXPECT_FALSE(is_read(late));
}

TEST(ProgramTable, RefusesAFallbackWithResultsOfAnotherType) {
  ProgramTable table = two_entries();
  table[3].outputs[0].dtype = table[3].buffers[1].dtype = DType::f64;
  EXPECT_FALSE(is_read(table));
}

TEST(ProgramTable, RefusesInnerGraphsThatNestTooDeep) {
  const auto nested = [](uint32_t depth) {
    const Program own = segment_program("same", Place::dynamic);
    ProgramTable table = own;
    for (uint32_t k = 1; k <= depth; ++k) {
      table.programs.push_back({.role = Role::inner_graph, .program = own});
      table[k - 1].blobs[0].graphs = {k};
    }
    return is_read(table);
  };
  EXPECT_TRUE(nested(32));
  EXPECT_FALSE(nested(34));
  EXPECT_FALSE(nested(1000));
}

/// Each row's depth is found before that of the row that runs it.
TEST(ProgramTable, RefusesInnerGraphsThatNestTooDeepFromTheInside) {
  const auto nested = [](uint32_t depth) {
    const Program own = segment_program("same", Place::dynamic);
    ProgramTable table = own;
    for (uint32_t k = 1; k <= depth; ++k) {
      table.programs.push_back({.role = Role::inner_graph, .program = own});
      if (k > 1) table[k].blobs[0].graphs = {k - 1};
    }
    table.programs.push_back({.name = "last", .program = own});
    table[depth + 1].blobs[0].graphs = {depth};
    return is_read(table);
  };
  EXPECT_TRUE(nested(32));
  EXPECT_FALSE(nested(34));
}

TEST(SizePlans, NumbersOfKeptPlansDiffer) {
  SizePlans plans;
  std::vector<uint64_t> numbers;
  for (int64_t n = 0; n < 20; ++n) {
    SizePlan plan;
    plan.key = {n};
    numbers.push_back(plans.keep(std::move(plan))->number);
  }
  std::ranges::sort(numbers);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
  EXPECT_EQ(plans.made(), 20u);
  EXPECT_EQ(plans.find(std::vector<int64_t>{11}), nullptr);
  EXPECT_NE(plans.find(std::vector<int64_t>{12}), nullptr);
}

}  // namespace
}  // namespace tenon::tests
