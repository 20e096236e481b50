// SPDX-License-Identifier: Apache-2.0
#include "runtime/program.h"

#include <gtest/gtest.h>

#include <functional>

#include "programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

/// With a value other than the default in every field.
Program full_program() {
  Program p = small_program();
  p.sizes.push_back({SizeLine::Kind::select, 0, 0, 1, 2});
  p.sizes.push_back({SizeLine::Kind::constant, -5, 0, 0, 0});
  p.buffers.push_back({BufferInfo::Kind::weight, DType::f16, {1}, 0, 64, 1, 2, "weight"});
  p.buffers.push_back({BufferInfo::Kind::alias, DType::f32, {2, 0}, 2, 0, 0, 1, "view"});
  p.buffers.push_back({BufferInfo::Kind::dynamic, DType::i32, {}, 0, 0, 0, 1, "list", false, {ValueKind::sequence, {2, -1}, false}});
  p.buffers.push_back({BufferInfo::Kind::dynamic, DType::i32, {}, 0, 0, 0, 1, "maybe", false, {ValueKind::optional_sequence, {}, true}});
  p.buffers.push_back({BufferInfo::Kind::arena, DType::f32, {2}, 0, 0, 3, 4, "handed on"});
  p.buffers.back().units = 0;
  p.outputs.push_back({"list", DType::i32, {}, {}, {}, {}, {}, 7, {ValueKind::sequence, {2, -1}, false}});
  p.weight_bytes = 1000;
  p.inputs[1].limits.push_back({1, true});
  Step kernel;
  kernel.code = 3;
  kernel.buffers = {0, 5};
  kernel.sizes = {0, 1};
  kernel.tasks = 0;
  kernel.grain = 1;
  kernel.scratch_bytes = 4096;
  kernel.lines = 5;
  kernel.label = "MatMul+Gelu";
  kernel.flops = 4;
  kernel.factors = DType::bf16;
  kernel.units = 0;
  kernel.parts = 1;
  p.steps.push_back(kernel);
  kernel.joined = true;
  p.steps.push_back(kernel);
  p.steps[0].buffers.push_back(kMissing);
  return p;
}

TEST(ProgramBytes, DecodeToTheSameProgram) {
  const std::string bytes = encode(full_program());
  auto program = decode(bytes);
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(encode(*program), bytes);
  EXPECT_EQ(program->steps[1].bindings[0].slot, 3u);
  EXPECT_EQ(program->steps[0].buffers[1], kMissing);
  EXPECT_EQ(program->steps[3].label, "MatMul+Gelu");
  EXPECT_EQ(program->steps[3].scratch_bytes, 4096u);
  EXPECT_EQ(program->steps[3].factors, DType::bf16);
  EXPECT_EQ(program->buffers[9].units, 0u);
  EXPECT_EQ(program->steps[3].units, 0u);
  EXPECT_EQ(program->steps[3].parts, 1u);
  EXPECT_FALSE(program->steps[3].joined);
  EXPECT_TRUE(program->steps[4].joined);
  EXPECT_EQ(program->sizes[6].constant, -5);
  EXPECT_EQ(program->buffers[5].dtype, DType::f16);
  EXPECT_EQ(program->buffers[5].offset, 64u);
  EXPECT_EQ(program->inputs[1].limits[1].from_end, true);
  EXPECT_EQ(program->inputs[0].dimensions, std::vector<std::string>{"n"});
  EXPECT_EQ(program->inputs[0].upper, std::vector<int64_t>{1000});
  EXPECT_EQ(program->buffers[7].container.kind, ValueKind::sequence);
  EXPECT_EQ(program->buffers[7].container.sizes, (std::vector<int64_t>{2, -1}));
  EXPECT_TRUE(program->buffers[8].container.unranked);
  EXPECT_EQ(program->buffers[8].container.kind, ValueKind::optional_sequence);
  EXPECT_EQ(program->outputs.back().container.kind, ValueKind::sequence);
  EXPECT_EQ(program->weight_bytes, 1000u);
  EXPECT_EQ(program->input_lines, 3u);
}

TEST(ProgramBytes, SkipFieldsOfNewerVersions) {
  const std::string bytes = encode(full_program());
  auto program = decode(bytes + std::string("\xfa\x3e\x03new", 6));  // field 1007, three bytes
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(encode(*program), bytes);
}

/// Evaluates and lays out what decoding let through: with a sanitiser, a wild index would show.
void use(const Program& p) {
  std::vector<std::vector<int64_t>> shapes;
  for (const PortInfo& port : p.inputs) shapes.emplace_back(port.shape.size(), 3);
  std::vector<int64_t> sizes;
  if (evaluate_sizes(p, 0, static_cast<uint32_t>(p.sizes.size()), {shapes, {}}, sizes)) (void)lay_out(p, sizes);
}

TEST(ProgramBytes, CutOffAnywhereAreBadOrSound) {
  const std::string bytes = encode(full_program());
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto program = decode(std::string_view(bytes).substr(0, size));
    if (program) use(*program);
    else EXPECT_EQ(program.error().code(), Code::bad_file) << size;
  }
}

TEST(ProgramBytes, WithAnyBitFlippedAreBadOrSound) {
  const std::string good = encode(full_program());
  size_t refused = 0;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    auto program = decode(bad);
    if (program) use(*program);
    else EXPECT_EQ(program.error().code(), Code::bad_file) << bit;
    refused += !program;
  }
  EXPECT_GT(refused, good.size());
}

/// Each edit makes one index wrong.
TEST(ProgramBytes, RefuseEveryWildIndex) {
  const std::vector<void (*)(Program&)> edits = {
      [](Program& p) { p.input_lines = 99; },
      [](Program& p) { p.sizes[4].a = 4; },
      [](Program& p) { p.sizes[4].b = 99; },
      [](Program& p) { p.sizes[0].a = 2; },
      [](Program& p) { p.sizes[0].b = 1; },
      [](Program& p) { p.sizes[5].c = 5; },
      [](Program& p) { p.buffers[0].shape[0] = 99; },
      [](Program& p) { p.buffers[0].index = 2; },
      [](Program& p) { p.buffers[4].index = 4; },
      [](Program& p) { p.buffers[6].index = 6; },
      [](Program& p) { p.buffers[5].offset = 999; },
      [](Program& p) { p.buffers[5].shape[0] = 0; },
      [](Program& p) { p.buffers[0].dtype = DType::none; },
      [](Program& p) { p.steps[3].factors = DType::u8; },
      [](Program& p) { p.steps[3].units = 99; },
      [](Program& p) { p.steps[3].parts.reset(); },
      [](Program& p) { p.steps[4].parts = 99; },
      [](Program& p) { p.steps[4].parts = 0; },  // not those of the step before
      [](Program& p) { p.steps[4].lines = 4; },
      [](Program& p) { p.steps[2].joined = true; },
      [](Program& p) { p.steps[0].joined = true; },
      [](Program& p) { p.buffers[9].units = 99; },
      [](Program& p) { p.buffers[0].units = 0; },  // an input
      [](Program& p) { p.steps[0].code = 2; },
      [](Program& p) { p.steps[0].buffers[0] = 99; },
      [](Program& p) { p.steps[0].results[0] = 99; },
      [](Program& p) { p.steps[3].buffers[0] = kMissing; },
      [](Program& p) { p.steps[3].tasks = 99; },
      [](Program& p) { p.steps[3].sizes[0] = 99; },
      [](Program& p) { p.steps[2].buffers.clear(); },
      [](Program& p) { p.steps[2].lines = 99; },
      [](Program& p) { p.steps[1].bindings[0].slot = 99; },
      [](Program& p) { p.steps[1].bindings[0].result = 1; },
      [](Program& p) { p.inputs[0].shape[0] = 99; },
      [](Program& p) { p.inputs[0].lower.clear(); },
      [](Program& p) { p.inputs[0].buffer = 99; },
      [](Program& p) { p.inputs[1].limits[0].extent = 99; },
      [](Program& p) { p.inputs[1].limits[0].extent = p.input_lines; },
      [](Program& p) { p.outputs[0].buffer = kMissing; },
      [](Program& p) { p.outputs[0].buffer = 99; },
      [](Program& p) { p.steps[1].bindings[0].slot = 0; },
      [](Program& p) { p.buffers[7].container.kind = static_cast<ValueKind>(4); },
      [](Program& p) { p.buffers[7].container.kind = ValueKind::tensor; },  // its port says otherwise
      [](Program& p) { p.buffers[7].shape = {0}; },
      [](Program& p) { p.buffers[7].kind = BufferInfo::Kind::arena; },
      [](Program& p) { p.buffers[6].index = 7; },     // a view of a sequence
      [](Program& p) { p.steps[3].buffers[0] = 7; },  // a kernel that reads one
      [](Program& p) { p.inputs[0].dtype = DType::sequence; },
  };
  for (size_t k = 0; k < edits.size(); ++k) {
    Program p = full_program();
    edits[k](p);
    auto program = decode(encode(p));
    EXPECT_FALSE(program) << "edit " << k;
    if (!program) EXPECT_EQ(program.error().code(), Code::bad_file);
  }
}

/// What stands behind a program, or in its place, takes and gives the same, but for sizes.
TEST(ProgramBytes, RefuseWhatDoesNotStandBeside) {
  for (std::vector<Program> Program::* where : {&Program::behind, &Program::instead}) {
    const auto with = [&](const std::function<void(Program&)>& edit) {
      Program p = full_program(), other = full_program();
      edit(other);
      (p.*where) = {other};
      return decode(encode(p));
    };
    EXPECT_TRUE(with([](Program& p) { p.inputs[0].upper[0] = 999; }));
    const std::vector<std::function<void(Program&)>> edits = {
        [](Program& p) { p.inputs[0].name = "other"; },   [](Program& p) { p.inputs[0].dtype = DType::f64; },
        [](Program& p) { p.inputs.pop_back(); },          [](Program& p) { p.outputs.clear(); },
        [](Program& p) { p.steps[0].buffers[0] = 99; },   [](Program& p) { p.buffers[5].offset = 999; },
        [](Program& p) { p.behind = {full_program()}; },  [](Program& p) { p.inner = {full_program()}; },
        [](Program& p) { p.instead = {full_program()}; }, [](Program& p) { p.blobs[0].graphs = {0}; },
    };
    for (size_t k = 0; k < edits.size(); ++k) EXPECT_FALSE(with(edits[k])) << "edit " << k;
    Program two = full_program();
    (two.*where) = {full_program(), full_program()};
    EXPECT_FALSE(decode(encode(two)));
    Program body = full_program();
    body.bodies.push_back(full_program());
    (body.bodies.back().*where) = {full_program()};
    EXPECT_FALSE(decode(encode(body)));
  }
}

/// A graph that segments run is of the program that runs them, not of the one that stands in its place.
TEST(ProgramBytes, RefuseInnerGraphsOfWhatStandsInstead) {
  Program p = full_program();
  p.inner = {full_program()};
  p.instead = {full_program()};
  EXPECT_TRUE(decode(encode(p)));
  p.instead[0].blobs[0].graphs = {0};
  EXPECT_FALSE(decode(encode(p)));
}

/// Of graphs that segments run each stands before those that run it, and belongs to the whole engine.
TEST(ProgramBytes, RefuseInnerGraphsThatCouldRunThemselves) {
  const auto with = [](void (*edit)(Program&)) {
    Program p = full_program();
    p.inner = {full_program(), full_program()};
    p.bodies = {full_program()};
    p.blobs[0].graphs = {1, 0};
    p.inner[1].blobs[0].graphs = {0};
    edit(p);
    return decode(encode(p));
  };
  const auto sound = with([](Program&) {});
  ASSERT_TRUE(sound) << sound.error().text();
  EXPECT_EQ(sound->blobs[0].graphs, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(sound->inner.size(), 2u);
  EXPECT_TRUE(with([](Program& p) { p.bodies[0].blobs[0].graphs = {1}; }));
  const std::vector<void (*)(Program&)> edits = {
      [](Program& p) { p.blobs[0].graphs = {2}; },
      [](Program& p) { p.inner[1].blobs[0].graphs = {1}; },
      [](Program& p) { p.inner[0].blobs[0].graphs = {0}; },
      [](Program& p) { p.inner[0].steps[0].code = 99; },
      [](Program& p) { p.inner[0].inner = {full_program()}; },
      [](Program& p) { p.inner[0].behind = {full_program()}; },
      [](Program& p) { p.inner[0].sizes[0] = {SizeLine::Kind::outer, 0, 0, 0, 0}; },
      [](Program& p) { p.inner[0].buffers[5].offset = 999; },
      [](Program& p) { p.bodies[0].inner = {full_program()}; },
      [](Program& p) { p.bodies[0].blobs[0].graphs = {2}; },
      [](Program& p) {
        p.behind = {full_program()};
        p.behind[0].blobs[0].graphs = {2};
      },
      [](Program& p) {
        p.behind = {full_program()};
        p.behind[0].inner = {full_program()};
      },
  };
  for (size_t k = 0; k < edits.size(); ++k) EXPECT_FALSE(with(edits[k])) << "edit " << k;
}

TEST(ProgramSizes, AreWhatTheirLinesSay) {
  using Kind = SizeLine::Kind;
  Program p;
  p.inputs = {port("x", DType::f32, {0}, {"n"}, 0)};
  p.sizes = {{Kind::input_dimension, 0, 0, 0, 0}, {Kind::constant, -3, 0, 0, 0}, {Kind::add, 0, 0, 1, 0},     {Kind::multiply, 0, 0, 1, 0},
             {Kind::floor_divide, 0, 0, 1, 0},    {Kind::minimum, 0, 0, 1, 0},   {Kind::maximum, 0, 0, 1, 0}, {Kind::less, 0, 1, 0, 0},
             {Kind::equal, 0, 0, 1, 0},           {Kind::select, 0, 7, 0, 1},    {Kind::select, 0, 8, 0, 1}};
  std::vector<int64_t> values;
  const std::vector<Sizes> shapes = {{7}};
  ASSERT_TRUE(evaluate_sizes(p, 0, 11, {shapes, {}}, values));
  EXPECT_EQ(values, (std::vector<int64_t>{7, -3, 4, -21, -3, -3, 7, 1, 0, 7, -3}));
}

TEST(ProgramSizes, ThatOverflowAreAnError) {
  using Kind = SizeLine::Kind;
  for (Kind kind : {Kind::add, Kind::multiply}) {
    Program p;
    p.sizes = {{Kind::constant, int64_t{1} << 62, 0, 0, 0}, {kind, 0, 0, 0, 0}};
    std::vector<int64_t> values;
    auto done = evaluate_sizes(p, 0, 2, {}, values);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), Code::size_overflow);
  }
  Program p;
  p.sizes = {{Kind::constant, INT64_MIN, 0, 0, 0}, {Kind::constant, -1, 0, 0, 0}, {Kind::floor_divide, 0, 0, 1, 0}};
  std::vector<int64_t> quotient;
  EXPECT_FALSE(evaluate_sizes(p, 0, 3, {}, quotient));
  p.sizes = {{Kind::constant, int64_t{1} << 40, 0, 0, 0}};
  p.input_lines = 1;
  p.buffers = {buffer(BufferInfo::Kind::arena, DType::f32, {0, 0}, 0, "huge")};
  std::vector<int64_t> values{int64_t{1} << 40};
  auto layout = lay_out(p, values);
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().code(), Code::size_overflow);
}

/// n, 12, 12 / n, n == 0, 12 / n where n is not 0, else 5
Program dividing_program(Slot used) {
  using Kind = SizeLine::Kind;
  Program p;
  p.inputs = {port("x", DType::f32, {0}, {"n"}, 0)};
  p.sizes = {{Kind::input_dimension, 0, 0, 0, 0}, {Kind::constant, 12, 0, 0, 0}, {Kind::floor_divide, 0, 1, 0, 0},
             {Kind::constant, 5, 0, 0, 0},        {Kind::select, 0, 0, 2, 3},    {Kind::constant, 3, 0, 0, 0},
             {Kind::multiply, 0, 2, 5, 0}};
  p.input_lines = 7;
  p.buffers = {buffer(BufferInfo::Kind::arena, DType::f32, {used}, 0, "y")};
  return p;
}

TEST(ProgramSizes, DividedByZeroAreAnErrorWhereTheyAreUsed) {
  std::vector<int64_t> values;
  const std::vector<Sizes> three = {{3}}, none = {{0}};
  for (Slot used : {2u, 6u}) {
    ASSERT_TRUE(evaluate_sizes(dividing_program(used), 0, 7, {three, {}}, values));
    auto done = evaluate_sizes(dividing_program(used), 0, 7, {none, {}}, values);
    ASSERT_FALSE(done) << "used: " << used;
    EXPECT_EQ(done.error().code(), Code::shape_mismatch);
    EXPECT_EQ(done.error()->place, "value 'y'");
    EXPECT_EQ(done.error()->found, "12 / 0");
  }
  EXPECT_TRUE(evaluate_sizes(dividing_program(4), 0, 7, {none, {}}, values)) << "what was not chosen does not matter";
  EXPECT_EQ(values[4], 5);
  EXPECT_TRUE(evaluate_sizes(dividing_program(0), 0, 7, {none, {}}, values)) << "nor what nobody uses";
}

TEST(ProgramSizes, DividedByZeroBehindTheDoorAreAnErrorToo) {
  Program p = dividing_program(6);
  p.input_lines = 4;
  std::vector<int64_t> values;
  const std::vector<Sizes> none = {{0}};
  ASSERT_TRUE(evaluate_sizes(p, 0, 4, {none, {}}, values));
  EXPECT_FALSE(evaluate_sizes(p, 4, 7, {none, {}}, values));
}

}  // namespace
}  // namespace tenon::tests
