// SPDX-License-Identifier: Apache-2.0
// Blobs of a kernel backend whose bytes are wrong: an error with its place, never more.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/kernel_blob/program_segment.h"
#include "second/comparison.h"

namespace tenon::tests {
namespace {

class KernelBlob : public testing::Test {
 protected:
  void SetUp() override {
    const auto graph = graph_of(
        "graph main(x: f32[n,4]) { const w: f32[4,3] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] p = MatMul(x, w) q = Softmax(p) return q }");
    auto made = Second().compile({*graph}, {});
    ASSERT_TRUE(made) << made.error().text();
    blob_ = std::get<backend::Blob>(*std::move(made));
    for (const ir::ConstantRef& w : blob_.weights) weights_.push_back(*ir::materialise(*w));
  }

  Result<std::unique_ptr<runtime::Segment>> segment_of(std::string_view bytes) const { return make(bytes, weights_); }
  Result<std::unique_ptr<runtime::Segment>> make(std::string_view bytes, std::span<const Tensor> weights, uint32_t target = 1) const {
    return runtime::make_program_segment({.bytes = bytes, .weights = weights}, target, std::make_shared<SecondArena>());
  }
  /// Of the blob with a change.
  template <class Change>
  Result<std::unique_ptr<runtime::Segment>> changed(Change change) const {
    runtime::KernelBlob blob = *runtime::decode_kernel_blob(blob_.bytes);
    change(blob);
    return segment_of(runtime::encode(blob));
  }
  static void expect_error(const Result<std::unique_ptr<runtime::Segment>>& made, Code code, std::string_view what) {
    ASSERT_FALSE(made) << what;
    EXPECT_EQ(made.error().code(), code) << made.error().text();
    EXPECT_NE(made.error()->what.find(what), std::string::npos) << made.error().text();
    EXPECT_FALSE(made.error()->place.empty()) << made.error().text();
  }

  backend::Blob blob_;
  std::vector<Tensor> weights_;
};

TEST_F(KernelBlob, AsWrittenMakesASegment) {
  const auto segment = segment_of(blob_.bytes);
  ASSERT_TRUE(segment) << segment.error().text();
  const Tensor x = rows_of(5);
  const auto got = (*segment)->run({&x, 1}, std::vector<Tensor>(1), {});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(type_text((*got)[0]), "f32[5,3]");
}

TEST_F(KernelBlob, DamagedProgramIsBadFile) {
  expect_error(changed([](auto& b) { b.programs.programs.clear(); }), Code::bad_file, "");
  expect_error(changed([](auto& b) { b.programs[0].steps[0].buffers[0] = 1000; }), Code::bad_file, "");
  expect_error(changed([](auto& b) { b.programs[0].outputs[0].buffer = 1000; }), Code::bad_file, "");
  expect_error(changed([](auto& b) { b.programs[0].blobs.push_back({"second", "", {}}); }), Code::bad_file, "runs segments itself");
  expect_error(changed([](auto& b) { b.programs.programs.push_back(b.programs.programs[0]), b.programs.programs[1].name = "more"; }),
               Code::bad_file, "one entry");
}

/// A segment has no context of its own that could keep them.
TEST_F(KernelBlob, ProgramWithStatesIsBadFile) {
  const auto with_state = [](runtime::KernelBlob& b) {
    b.programs.states = {{"rows", DType::f32, {2}, {}, {}}};
    runtime::Program& p = b.programs[0];
    const auto two = static_cast<runtime::Slot>(p.sizes.size());
    p.sizes.push_back({runtime::SizeLine::Kind::constant, 2, 0, 0, 0});
    const auto state = static_cast<uint32_t>(p.buffers.size());
    p.buffers.push_back({runtime::BufferInfo::Kind::state, DType::f32, {two}, 0, 0, 0, 0, "rows"});
    p.states = {{0, state, state, {}, {}}};
  };
  expect_error(changed(with_state), Code::bad_file, "has states");
  expect_error(changed([](auto& b) { b.programs.states = {{"rows", DType::f32, {2}, {}, {}}}; }), Code::bad_file, "has states");
}

TEST_F(KernelBlob, KernelsOutOfTheCodeAreBadFile) {
  expect_error(changed([](auto& b) { b.code[0].kernel_offsets[0] = b.code[0].bytes.size(); }), Code::bad_file, "outside of the code");
  expect_error(changed([](auto& b) { b.code[0].kernel_offsets.clear(); }), Code::bad_file, "a kernel that the code does not have");
}

TEST_F(KernelBlob, OtherWeightsAreBadFile) {
  expect_error(changed([](auto& b) { b.weight_offsets.clear(); }), Code::bad_file, "another number of weights");
  expect_error(changed([](auto& b) { b.weight_offsets[0] = uint64_t{1} << 60; }), Code::bad_file, "does not lie among");
  expect_error(changed([](auto& b) { b.programs.weight_bytes = uint64_t{1} << 40; }), Code::bad_file, "more bytes of weights");
}

TEST_F(KernelBlob, WeightsOfAnotherDeviceAreRefused) {
  std::vector<Tensor> weights = weights_;
  weights[0] = Tensor::view(weights[0].dtype(), weights[0].shape(), weights[0].data(), nullptr, {"gpu", 1});
  expect_error(make(blob_.bytes, weights), Code::not_supported, "a tensor outside of host memory");
}

TEST_F(KernelBlob, MissingOuterSizesAreBadFile) {
  expect_error(changed([](auto& b) { b.programs[0].sizes[0] = {runtime::SizeLine::Kind::outer, 0, 0, 0, 0}; }), Code::bad_file, "");
  const auto segment = changed([](auto& b) { b.outer_sizes = 1; });
  ASSERT_TRUE(segment) << segment.error().text();
  const Tensor x = rows_of(5);
  const auto ran = (*segment)->run({&x, 1}, std::vector<Tensor>(1), {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code(), Code::bad_file);
  EXPECT_EQ(ran.error()->found, "0");
}

TEST_F(KernelBlob, MissingTargetIsNamed) {
  expect_error(make(blob_.bytes, weights_, 77), Code::wrong_target, "no code for this target");
  expect_error(changed([](auto& b) { b.code[0].cpu_features = "avx2 flight"; }), Code::wrong_target, "this CPU cannot run");
}

/// Making a segment of them is an error, or the segment that the bytes describe; never more.
TEST_F(KernelBlob, AnyBytesAreReadWithoutHarm) {
  for (size_t end = 0; end < blob_.bytes.size(); end += 1 + end / 64)
    EXPECT_FALSE(segment_of(std::string_view(blob_.bytes).substr(0, end)));
  std::mt19937_64 random(5);
  size_t refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = blob_.bytes;
    for (int k = 0; k < 3; ++k) bytes[random() % std::min<size_t>(bytes.size(), 1500)] = static_cast<char>(random());
    const auto made = segment_of(bytes);
    if (made) continue;
    ++refused;
    EXPECT_FALSE(made.error()->place.empty()) << made.error().text();
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace tenon::tests
