// SPDX-License-Identifier: Apache-2.0
// Numbers in the bytes of a program that their fields cannot hold.
#include <gtest/gtest.h>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <map>

#include "runtime/kernel_blob/kernel_blob.h"
#include "state_programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

/// The bytes of a table whose one program has these fields behind its own.
std::string with_fields(const std::string& fields) {
  const std::string bytes = encode(ProgramTable(small_program()));
  std::string out;
  protozero::pbf_writer table(out);
  for (protozero::pbf_reader in(bytes); in.next(1);) {
    protozero::pbf_writer row(table, 1);
    for (protozero::pbf_reader of = in.get_message(); of.next();) {
      if (of.tag() == 5) row.add_message(5, of.get_view().to_string() + fields);
      else if (of.wire_type() == protozero::pbf_wire_type::varint) row.add_uint64(of.tag(), of.get_uint64());
      else row.add_bytes(of.tag(), of.get_view().to_string());
    }
  }
  return out;
}

/// A program with one more buffer, of that dtype, whose data decides its sizes.
std::string with_buffer(std::string_view dtype) {
  const std::string kind = {'\x08', static_cast<char>(BufferInfo::Kind::dynamic)};
  const std::string fields = kind + '\x10' + std::string(dtype);
  return with_fields(std::string("\x1a") + static_cast<char>(fields.size()) + fields);
}

TEST(ProgramNumbers, OutOfRangeOfTheirFieldAreRefused) {
  ASSERT_TRUE(decode(with_buffer("\x01"))) << "f32";
  for (const std::string_view dtype : {"\x81\x02", "\x81\x80\x04", "\x81\x80\x80\x80\x10"}) {  // 257, 65537 and 2^32 + 1
    const auto program = decode(with_buffer(dtype));
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().code(), Code::bad_file);
    EXPECT_EQ(program.error()->found, "a number is out of the range of its field");
  }
}

/// Messages of that field.
std::vector<std::string> messages(const std::string& bytes, uint32_t field) {
  std::vector<std::string> out;
  for (protozero::pbf_reader in(bytes); in.next();)
    if (in.tag() == field) out.push_back(in.get_view().to_string());
    else in.skip();
  return out;
}

/// By field: its number, where it is one.
std::map<uint32_t, uint64_t> numbers_of_fields(const std::string& bytes) {
  std::map<uint32_t, uint64_t> out;
  for (protozero::pbf_reader in(bytes); in.next();)
    if (in.wire_type() == protozero::pbf_wire_type::varint) out[in.tag()] = in.get_uint64();
    else in.skip();
  return out;
}

/// A field keeps its number for ever: engines of every version are read.
TEST(FieldNumbers, OfRowsOfTheTableStay) {
  ProgramTable table{Program()};
  table.weight_bytes = 77;
  table.programs.push_back({.name = "a", .role = Role::fallback, .condition = Condition::plugin_missing, .entry = 5, .program = {}});
  const std::string bytes = encode(table), row = messages(bytes, 1)[1];
  EXPECT_EQ(numbers_of_fields(bytes), (std::map<uint32_t, uint64_t>{{2, 77}}));
  EXPECT_EQ(numbers_of_fields(row), (std::map<uint32_t, uint64_t>{{2, 3}, {3, 2}, {4, 5}}));
  EXPECT_EQ(messages(row, 1), std::vector<std::string>{"a"});
  EXPECT_EQ(messages(row, 5).size(), 1u);
}

TEST(FieldNumbers, OfStatesStay) {
  ProgramTable table = state_table();
  table.states[0].initial = 9;
  table[0].states[0] = {.state = 11, .old_buffer = 12, .new_buffer = 13, .length = 14, .new_length = 15};
  const std::string bytes = encode(table), state = messages(bytes, 3)[0];
  EXPECT_EQ(messages(state, 1), std::vector<std::string>{"rows"});
  EXPECT_EQ(numbers_of_fields(state), (std::map<uint32_t, uint64_t>{{2, static_cast<uint64_t>(DType::f32)}, {4, 1}, {5, 9}}));
  EXPECT_EQ(messages(state, 3).size(), 1u);
  EXPECT_EQ(numbers_of_fields(messages(messages(messages(bytes, 1)[0], 5)[0], 16)[0]),
            (std::map<uint32_t, uint64_t>{{1, 11}, {2, 12}, {3, 13}, {4, 14}, {5, 15}}));
}

TEST(FieldNumbers, OfKernelStepsAndBuffersStay) {
  Program p;
  p.buffers = {{BufferInfo::Kind::arena, DType::f16, {}, 3, 4, 5, 6, "b", true, {}, 7}};
  p.steps.resize(1);
  p.steps[0].kind = KernelStep{.kernel = 21,
                               .tasks = 22,
                               .grain = 23,
                               .scratch_bytes = 24,
                               .units = 25,
                               .parts = 26,
                               .joined = true,
                               .flops = 27,
                               .factors = DType::bf16};
  p.steps[0].lines = 28;
  const std::string program = messages(messages(encode(ProgramTable(p)), 1)[0], 5)[0];
  const auto dtype = [](DType d) { return static_cast<uint64_t>(d); };
  EXPECT_EQ(
      numbers_of_fields(messages(program, 3)[0]),
      (std::map<uint32_t, uint64_t>{
          {1, static_cast<uint64_t>(BufferInfo::Kind::arena)}, {2, dtype(DType::f16)}, {4, 3}, {5, 4}, {6, 5}, {7, 6}, {9, 1}, {11, 7}}));
  EXPECT_EQ(numbers_of_fields(messages(program, 4)[0]),
            (std::map<uint32_t, uint64_t>{
                {1, 1}, {2, 21}, {6, 22}, {7, 23}, {8, 24}, {9, 28}, {12, 27}, {14, dtype(DType::bf16)}, {15, 25}, {16, 26}, {17, 1}}));
}

TEST(FieldNumbers, OfKernelBlobsStay) {
  KernelBlob blob;
  blob.programs = Program();
  blob.code = {{.target = 3, .cpu_features = "avx2", .bytes = {std::byte{1}}, .kernel_offsets = {4}}};
  blob.weight_offsets = {64};
  blob.outer_sizes = 2;
  const std::string bytes = encode(blob), code = messages(bytes, 2)[0];
  EXPECT_EQ(numbers_of_fields(bytes), (std::map<uint32_t, uint64_t>{{3, 64}, {4, 2}}));
  EXPECT_EQ(messages(bytes, 1)[0], encode(blob.programs));
  EXPECT_EQ(numbers_of_fields(code), (std::map<uint32_t, uint64_t>{{1, 3}, {4, 4}}));
  EXPECT_EQ(messages(code, 2), std::vector<std::string>{"avx2"});
  EXPECT_EQ(messages(code, 3), std::vector<std::string>{"\x01"});
}

TEST(ProgramNumbers, OfUnknownEnumeratorsAreRefused) { EXPECT_FALSE(decode(with_buffer("\xff\x01"))); }

}  // namespace
}  // namespace tenon::tests
