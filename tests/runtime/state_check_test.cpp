// SPDX-License-Identifier: Apache-2.0
// States in the bytes of a table of programs.
#include <gtest/gtest.h>

#include "state_programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

/// With a value other than the default in every field.
ProgramTable full_table() {
  ProgramTable table = state_table();
  table.states[1].initial = 64;
  table.weight_bytes = 72;
  table.programs.push_back({.role = Role::fallback, .condition = Condition::size_out_of_range, .program = append_program()});
  return table;
}

TEST(StateBytes, DecodeToSameStates) {
  const std::string bytes = encode(full_table());
  const auto table = decode(bytes);
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(encode(*table), bytes);
  ASSERT_EQ(table->states.size(), 2u);
  EXPECT_EQ(table->states[0].name, "rows");
  EXPECT_EQ(table->states[0].shape, (std::vector<int64_t>{2, 4, 3}));
  EXPECT_EQ(table->states[0].growing_axis, 1u);
  EXPECT_EQ(table->states[1].initial, 64u);
  const Program& p = (*table)[0];
  ASSERT_EQ(p.states.size(), 2u);
  EXPECT_EQ(p.states[0].new_buffer, 2u);
  EXPECT_EQ(p.states[0].length, 1u);
  EXPECT_EQ(p.states[0].new_length, 2u);
  EXPECT_EQ(p.states[1].old_buffer, 4u);
  EXPECT_FALSE(p.states[1].length);
  EXPECT_EQ(p.buffers[4].kind, BufferInfo::Kind::state);
  EXPECT_EQ(p.sizes[1].kind, SizeLine::Kind::state_length);
}

/// Evaluates and lays out what decoding let through: with a sanitizer, a wild index would show.
void use(const ProgramTable& table) {
  for (const NamedProgram& row : table.programs) {
    const Program& p = row.program;
    std::vector<Sizes> shapes;
    for (const PortInfo& port : p.inputs) shapes.emplace_back(port.shape.size(), 1);
    std::vector<int64_t> lengths, sizes;
    for (const StatePort& port : p.states) lengths.push_back(static_cast<int64_t>(table.states[port.state].shape.size()));
    if (evaluate_sizes(p, 0, p.input_lines, {shapes, {}, lengths}, sizes)) (void)lay_out(p, sizes);
    for (const StatePort& port : p.states) {
      EXPECT_EQ(p.buffers[port.new_buffer].dtype, p.buffers[port.old_buffer].dtype);
      if (port.length) EXPECT_LT(*port.length + *port.new_length, 2 * p.sizes.size());
    }
  }
}

TEST(StateBytes, CutOffAnywhereAreBadOrSound) {
  const std::string bytes = encode(full_table());
  for (size_t size = 0; size < bytes.size(); ++size)
    if (const auto table = decode(std::string_view(bytes).substr(0, size))) use(*table);
}

TEST(StateBytes, WithAnyBitFlippedAreBadOrSound) {
  const std::string good = encode(full_table());
  size_t refused = 0;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    if (const auto table = decode(bad)) use(*table);
    else ++refused;
  }
  EXPECT_GT(refused, good.size());
}

/// Each edit makes one reference or type wrong.
TEST(StateBytes, RefuseEveryDamage) {
  const std::vector<void (*)(ProgramTable&)> edits = {
      [](ProgramTable& t) { t.states.clear(); },
      [](ProgramTable& t) { t.states[0].name.clear(); },
      [](ProgramTable& t) { t.states[0].name = "count"; },
      [](ProgramTable& t) { t.states[1].dtype = DType::string; },
      [](ProgramTable& t) { t.states[1].dtype = DType::none; },
      [](ProgramTable& t) { t.states[1].dtype = DType::i32; },  // its buffers have another
      [](ProgramTable& t) { t.states[1].shape = {3}; },         // likewise
      [](ProgramTable& t) { t.states[1].shape = {1}; },
      [](ProgramTable& t) { t.states[1].shape = {}; },
      [](ProgramTable& t) { t.states[1].shape = {2, 1}; },
      [](ProgramTable& t) { t.states[0].shape = {2, 4, -3}; },
      [](ProgramTable& t) { t.states[0].shape = {2, INT64_MAX, 3}; },
      [](ProgramTable& t) { t.states[0].shape[1] = 0; },  // no capacity
      [](ProgramTable& t) { t.states[0].growing_axis = 3; },
      [](ProgramTable& t) { t.states[0].growing_axis = 0; },
      [](ProgramTable& t) { t.states[0].growing_axis.reset(); },
      [](ProgramTable& t) { t.states[0].initial = 0; },          // a growing state begins empty
      [](ProgramTable& t) { t.states[1].shape = {kFreeSize}; },  // of a free size, with an initial value
      [](ProgramTable& t) { t.states[0].shape = {2, kFreeSize, 3}; },
      [](ProgramTable& t) { t.states[0].dimensions = {"a"}; },
      [](ProgramTable& t) { t[0].sizes[2] = {SizeLine::Kind::state_size, 0, 0, 0, 0}; },  // not free
      [](ProgramTable& t) {
        t.states[0].shape[0] = kFreeSize;
        t[0].sizes[2] = {SizeLine::Kind::state_size, 0, 0, 3, 0};
      },
      [](ProgramTable& t) {
        t.states[0].shape[0] = kFreeSize;
        t[0].sizes[2] = {SizeLine::Kind::state_size, 0, 9, 0, 0};
      },
      [](ProgramTable& t) { t.states[1].initial = 65; },
      [](ProgramTable& t) { t.states[1].initial = UINT64_MAX; },
      [](ProgramTable& t) { t[0].states[0].state = 2; },
      [](ProgramTable& t) { t[0].states[1].state = 0; },  // twice
      [](ProgramTable& t) { t[0].states[0].old_buffer = 99; },
      [](ProgramTable& t) { t[0].states[0].old_buffer = 2; },  // an alias
      [](ProgramTable& t) { t[0].states[0].new_buffer = kMissing; },
      [](ProgramTable& t) { t[0].states[0].new_buffer = 0; },  // of other sizes
      [](ProgramTable& t) { t[0].states[1].new_buffer = 99; },
      [](ProgramTable& t) { t[0].states[1].new_buffer = 1; },  // another state
      [](ProgramTable& t) { t[0].states[0].length.reset(); },
      [](ProgramTable& t) { t[0].states[0].length = 99; },
      [](ProgramTable& t) { t[0].states[0].length = 0; },  // a dimension of an input
      [](ProgramTable& t) { t[0].states[0].length = t[0].buffers[1].shape[1] = 0; },
      [](ProgramTable& t) {  // a line that follows the first step
        t[0].sizes.push_back({SizeLine::Kind::state_length, 0, 0, 0, 0});
        t[0].states[0].length = t[0].buffers[1].shape[1] = 6;
      },
      [](ProgramTable& t) { t[0].states[0].new_length.reset(); },
      [](ProgramTable& t) { t[0].states[0].new_length = 0; },  // not the size of the new buffer
      [](ProgramTable& t) { t[0].states[1].length = 1; },      // of fixed shape
      [](ProgramTable& t) { t[0].input_lines = 2; },
      [](ProgramTable& t) { t[0].sizes[1].a = 1; },  // does not grow
      [](ProgramTable& t) { t[0].sizes[1].a = 2; },
      [](ProgramTable& t) { t[0].sizes.push_back({SizeLine::Kind::state_length, 0, 1, 0, 0}); },
      [](ProgramTable& t) { t[0].buffers.push_back(t[0].buffers[1]); },  // a second buffer of a state
      [](ProgramTable& t) { t[0].buffers[4].kind = BufferInfo::Kind::arena; },
      [](ProgramTable& t) { t[0].buffers[4].index = 0; },
      [](ProgramTable& t) { t[0].buffers[4].index = 99; },
      [](ProgramTable& t) { t[0].buffers[5].unranked = true; },
      [](ProgramTable& t) { t[0].buffers[5].kind = BufferInfo::Kind::state; },
      [](ProgramTable& t) { t[0].buffers[5].kind = static_cast<BufferInfo::Kind>(8); },
      [](ProgramTable& t) { t[0].buffers[5].dtype = DType::i32; },
      [](ProgramTable& t) { t[0].outputs[0].buffer = 2; },  // a result in the state's memory
      [](ProgramTable& t) { t[0].outputs.push_back(port("more", DType::f32, {3, 2, 4}, {"2", "past + n", "3"}, 2)); },
      [](ProgramTable& t) { t[0].steps[3].buffers[0] = 1; },  // a segment that reads rows with gaps
      [](ProgramTable& t) { t[0].steps[3].buffers[0] = 2; },  // under another name
      [](ProgramTable& t) { t[0].steps[3].results[0] = 4; },  // or writes a state
      [](ProgramTable& t) {
        t[0].steps[3].kind = SizesStep();  // which writes a state
        t[0].steps[3].results.clear();
      },
      [](ProgramTable& t) { t[2].states.pop_back(); },  // a fallback of other states
      [](ProgramTable& t) { t.programs[1].role = Role::inner_graph; },
  };
  for (size_t k = 0; k < edits.size(); ++k) {
    ProgramTable table = full_table();
    edits[k](table);
    const auto decoded = decode(encode(table));
    ASSERT_FALSE(decoded) << "edit " << k;
    EXPECT_EQ(decoded.error().code(), Code::bad_file);
  }
}

TEST(StateBytes, DecodeFreeSizes) {
  ProgramTable table = state_table();
  table.states[0].shape[0] = kFreeSize;
  table.states[0].dimensions = {"batch", "4", "3"};
  table.states[1].shape = {kFreeSize};
  for (NamedProgram& row : table.programs)
    row.program.sizes[row.program.buffers[row.program.states[0].old_buffer].shape[0]] = {SizeLine::Kind::state_size, 0, 0, 0, 0};
  const std::string bytes = encode(table);
  const auto decoded = decode(bytes);
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(encode(*decoded), bytes);
  EXPECT_EQ(state_type_text(decoded->states[0]), "f32[batch,..4,3]");
}

TEST(StateBytes, RefuseDamagedStatesThatNoProgramHas) {
  const auto with = [](StateInfo state) {
    ProgramTable table = full_table();
    table.states.push_back(std::move(state));
    return decode(encode(table)).has_value();
  };
  EXPECT_TRUE(with({"more", DType::f32, {2}, {}, {}}));
  EXPECT_TRUE(with({"more", DType::f32, {2}, 0, {}}));
  EXPECT_FALSE(with({"more", DType::f32, {int64_t{1} << 46}, {}, {}}));
  EXPECT_FALSE(with({"more", DType::string, {2}, {}, {}}));
  EXPECT_FALSE(with({"more", DType::none, {2}, {}, {}}));
  EXPECT_TRUE(with({"more", DType::i4, {2}, {}, {}}));
  EXPECT_FALSE(with({"more", DType::i4, {2}, 0, {}})) << "rows of part of a byte";
}

/// Entry "main" replaces the states a and b, both f32[2], by themselves.
ProgramTable two_states() {
  Program p;
  p.sizes = {{SizeLine::Kind::constant, 2, 0, 0, 0}};
  p.input_lines = 1;
  p.buffers = {buffer(BufferInfo::Kind::state, DType::f32, {0}, 0, "a"), buffer(BufferInfo::Kind::state, DType::f32, {0}, 1, "b")};
  p.states = {{0, 0, 0, {}, {}}, {1, 1, 1, {}, {}}};
  ProgramTable table = p;
  table.states = {{"a", DType::f32, {2}, {}, {}}, {"b", DType::f32, {2}, {}, {}}};
  return table;
}

TEST(StateBytes, RefuseBuffersOfAnotherState) {
  const auto with = [](void (*edit)(Program&)) {
    ProgramTable table = two_states();
    edit(table[0]);
    return decode(encode(table)).has_value();
  };
  EXPECT_TRUE(with([](Program&) {}));
  EXPECT_FALSE(with([](Program& p) { p.states[0].new_buffer = 1; }));
  EXPECT_FALSE(with([](Program& p) { p.states[1].state = 0; })) << "twice";
  EXPECT_FALSE(with([](Program& p) { p.states[0].old_buffer = 1; }));
  EXPECT_FALSE(with([](Program& p) { p.outputs = {port("a", DType::f32, {0}, {"2"}, 0)}; })) << "a result in a state's memory";
}

TEST(StateBytes, RefuseAFallbackOfOtherStatesThanItsEntry) {
  ProgramTable table = two_states();
  table.programs.push_back({.role = Role::fallback, .condition = Condition::size_out_of_range, .program = table[0]});
  EXPECT_TRUE(decode(encode(table)));
  table[1].buffers.pop_back();
  table[1].states.pop_back();
  EXPECT_FALSE(decode(encode(table)));
}

/// The rows of a state whose outer sizes are 1 have no gaps.
TEST(StateBytes, SegmentsReadRowsWithoutGaps) {
  ProgramTable table = state_table();
  table.programs.pop_back();
  table.states[0].shape[0] = 1;
  table[0].sizes[3].constant = 1;
  table.states[1].shape[0] = 1;
  table[0].steps[3].buffers[0] = 2;
  EXPECT_TRUE(decode(encode(table)));
}

}  // namespace
}  // namespace tenon::tests
