// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/engine.h"

/// Programs made by hand, and a device for their segments.
namespace tenon::tests {

/// "add one": a tensor of f32 plus 1; "positives": the elements over 0, as many as there are; "add weight": plus its one weight, a scalar.
class TestDevice : public runtime::Device {
 public:
  std::string_view name() const override { return "test"; }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    if (blob.bytes == "add one") return std::make_unique<AddOne>();
    if (blob.bytes == "positives") return std::make_unique<Positives>();
    if (blob.bytes == "add weight") return std::make_unique<AddWeight>(blob);
    return fail(Code::not_supported, "", "no such segment: " + std::string(blob.bytes));
  }

 private:
  using Tensors = std::vector<Tensor>;
  struct AddOne : runtime::Segment {
    Result<Tensors> run(std::span<const Tensor> operands, std::span<const Tensor>, const runtime::RunOptions&) override {
      std::vector<float> values;
      for (float v : operands[0].as<float>()) values.push_back(v + 1);
      return Tensors{Tensor::of_f32(operands[0].shape(), values)};
    }
  };
  struct AddWeight : runtime::Segment {
    explicit AddWeight(const runtime::BlobView& blob) : weights(blob.weights.begin(), blob.weights.end()), threads(blob.threads) {}
    Result<Tensors> run(std::span<const Tensor> operands, std::span<const Tensor>, const runtime::RunOptions&) override {
      if (operands.size() != 1 || weights.size() != 1 || threads != 1) return fail(Code::internal, "", "not what was made");
      std::vector<float> values;
      for (float v : operands[0].as<float>()) values.push_back(v + weights[0].as<float>()[0]);
      return Tensors{Tensor::of_f32(operands[0].shape(), values)};
    }
    Tensors weights;
    int threads;
  };
  struct Positives : runtime::Segment {
    Result<Tensors> run(std::span<const Tensor> operands, std::span<const Tensor>, const runtime::RunOptions&) override {
      std::vector<float> values;
      for (float v : operands[0].as<float>())
        if (v > 0) values.push_back(v);
      return Tensors{Tensor::of_f32({static_cast<int64_t>(values.size())}, values)};
    }
  };
};

inline runtime::Devices test_devices() { return {std::make_shared<TestDevice>()}; }

inline runtime::PortInfo port(std::string name, DType dtype, std::vector<runtime::Slot> shape, std::vector<std::string> dimensions,
                              uint32_t buffer) {
  runtime::PortInfo p{std::move(name), dtype, std::move(shape), std::move(dimensions), {}, {}, {}, buffer};
  p.lower.assign(p.shape.size(), 1);
  p.upper.assign(p.shape.size(), 1000);
  return p;
}

inline runtime::BufferInfo buffer(runtime::BufferInfo::Kind kind, DType dtype, std::vector<runtime::Slot> shape, uint32_t index,
                                  std::string name) {
  return {kind, dtype, std::move(shape), index, 0, 0, 2, std::move(name)};
}

/// x: f32[n], ids: i64[n] -> plus: f32[n] = x + 1, found: f32[u] = the positive elements of x + 1, sizes: i64[2] = [n, 2*u].
/// Elements of ids lie in [0, n).
inline runtime::Program small_program() {
  using namespace runtime;
  using Kind = SizeLine::Kind;
  using Place = BufferInfo::Kind;
  Program p;
  p.sizes = {{Kind::input_dimension, 0, 0, 0, 0},
             {Kind::constant, 2, 0, 0, 0},
             {Kind::constant, 1, 0, 0, 0},
             {Kind::bound, 0, 0, 0, 0},
             {Kind::multiply, 0, 1, 3, 0}};
  p.input_lines = 3;
  p.buffers = {buffer(Place::input, DType::f32, {0}, 0, "x"), buffer(Place::input, DType::i64, {0}, 1, "ids"),
               buffer(Place::dynamic, DType::f32, {0}, 0, "plus"), buffer(Place::dynamic, DType::f32, {3}, 1, "found"),
               buffer(Place::output, DType::i64, {1}, 2, "sizes")};
  p.inputs = {port("x", DType::f32, {0}, {"n"}, 0), port("ids", DType::i64, {0}, {"n"}, 1)};
  p.inputs[1].limits = {{0, false}};
  p.outputs = {port("plus", DType::f32, {0}, {"n"}, 2), port("found", DType::f32, {3}, {"u"}, 3), port("sizes", DType::i64, {1}, {"2"}, 4)};
  p.blobs = {{"test", "add one"}, {"test", "positives"}};
  p.steps.resize(3);
  p.steps[0] = {.kind = SegmentStep{0}, .buffers = {0}, .results = {2}, .sizes = {}, .lines = 3, .bindings = {}, .label = "AddOne"};
  p.steps[1] = {
      .kind = SegmentStep{1}, .buffers = {2}, .results = {3}, .sizes = {}, .lines = 3, .bindings = {{3, 0, 0}}, .label = "Positives"};
  p.steps[2] = {.kind = SizesStep(), .buffers = {4}, .results = {}, .sizes = {0, 4}, .lines = 5, .bindings = {}, .label = "Sizes"};
  return p;
}

/// A table of one entry, "main", and the bodies of its steps.
inline runtime::ProgramTable table_of(runtime::ProgramTree tree) {
  runtime::ProgramTable table{runtime::Program()};
  runtime::place_tree(table, 0, std::move(tree));
  return table;
}

/// trips: i64[], x: f32[n] -> last: f32[n], rows: f32[k, n]. Each iteration adds one; the loop ends after `trips` iterations.
inline runtime::ProgramTable loop_program() {
  using namespace runtime;
  using Kind = SizeLine::Kind;
  using Place = BufferInfo::Kind;
  Program body;
  body.sizes = {{Kind::outer, 0, 0, 0, 0}, {Kind::constant, 1, 0, 0, 0}};
  body.input_lines = 2;
  body.buffers = {buffer(Place::input, DType::i64, {}, 0, "i"), buffer(Place::input, DType::boolean, {}, 1, "go"),
                  buffer(Place::input, DType::f32, {0}, 2, "v"), buffer(Place::output, DType::boolean, {}, 0, "on"),
                  buffer(Place::dynamic, DType::f32, {0}, 1, "next")};
  body.inputs = {port("i", DType::i64, {}, {}, 0), port("go", DType::boolean, {}, {}, 1), port("v", DType::f32, {0}, {"n"}, 2)};
  body.outputs = {port("on", DType::boolean, {}, {}, 3), port("next", DType::f32, {0}, {"n"}, 4), port("row", DType::f32, {0}, {"n"}, 4)};
  body.blobs = {{"test", "add one"}};
  body.steps.resize(2);
  body.steps[0].kind = SizesStep();
  body.steps[0].buffers = {3};
  body.steps[0].sizes = {1};
  body.steps[1].kind = SegmentStep();
  body.steps[1].buffers = {2};
  body.steps[1].results = {4};
  for (Step& s : body.steps) s.lines = 2;

  Program p;
  p.sizes = {{Kind::input_dimension, 0, 1, 0, 0}, {Kind::constant, 1, 0, 0, 0}, {Kind::bound, 0, 0, 0, 0}};
  p.input_lines = 2;
  p.buffers = {buffer(Place::input, DType::i64, {}, 0, "trips"), buffer(Place::input, DType::f32, {0}, 1, "x"),
               buffer(Place::output, DType::f32, {0}, 0, "last"), buffer(Place::dynamic, DType::f32, {2, 0}, 1, "rows")};
  p.inputs = {port("trips", DType::i64, {}, {}, 0), port("x", DType::f32, {0}, {"n"}, 1)};
  p.outputs = {port("last", DType::f32, {0}, {"n"}, 2), port("rows", DType::f32, {2, 0}, {"k", "n"}, 3)};
  p.steps.resize(1);
  p.steps[0].kind = LoopStep{.carried = 1};
  p.steps[0].buffers = {0, kMissing, 1};
  p.steps[0].results = {2, 3};
  p.steps[0].sizes = {0};
  p.steps[0].lines = 2;
  p.steps[0].bindings = {{2, 1, 0}};
  p.steps[0].label = "Loop";
  return table_of({std::move(p), {{std::move(body)}}});
}

/// if: bool[], x: f32[n] -> y: f32[n]: x + 1 where the condition holds, else x + 2.
inline runtime::ProgramTable branch_program() {
  using namespace runtime;
  using Place = BufferInfo::Kind;
  Program yes;
  yes.sizes = {{SizeLine::Kind::input_dimension, 0, 0, 0, 0}};
  yes.input_lines = 1;
  yes.buffers = {buffer(Place::input, DType::f32, {0}, 0, "x"), buffer(Place::dynamic, DType::f32, {0}, 0, "y")};
  yes.inputs = {port("x", DType::f32, {0}, {"n"}, 0)};
  yes.outputs = {port("y", DType::f32, {0}, {"n"}, 1)};
  yes.blobs = {{"test", "add one"}};
  yes.steps.resize(1);
  yes.steps[0].kind = SegmentStep();
  yes.steps[0].buffers = {0};
  yes.steps[0].results = {1};
  yes.steps[0].lines = 1;
  Program no = yes;
  no.buffers.push_back(no.buffers[1]);
  no.steps.push_back(no.steps[0]);
  no.steps[1].buffers = {1};
  no.steps[1].results = {2};
  no.outputs[0].buffer = 2;

  Program p;
  p.sizes = {{SizeLine::Kind::input_dimension, 0, 1, 0, 0}};
  p.input_lines = 1;
  p.buffers = {buffer(Place::input, DType::boolean, {}, 0, "if"), buffer(Place::input, DType::f32, {0}, 1, "x"),
               buffer(Place::output, DType::f32, {0}, 0, "y")};
  p.inputs = {port("if", DType::boolean, {}, {}, 0), port("x", DType::f32, {0}, {"n"}, 1)};
  p.outputs = {port("y", DType::f32, {0}, {"n"}, 2)};
  p.steps.resize(1);
  p.steps[0].kind = BranchStep();
  p.steps[0].buffers = {0, 1, 1};
  p.steps[0].results = {2};
  p.steps[0].lines = 1;
  p.steps[0].label = "If";
  return table_of({std::move(p), {{std::move(yes)}, {std::move(no)}}});
}

inline std::shared_ptr<runtime::Engine> small_engine(runtime::ProgramTable programs = small_program()) {
  runtime::EngineParts parts;
  parts.programs = std::move(programs);
  return *runtime::Engine::create(std::move(parts), test_devices());
}

/// A kernel of x86-64 code that calls the function whose address is element 0 of its first argument.
inline constexpr uint8_t kCallBack[] = {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x00, 0xff, 0x20};  // mov rax, [rdi]; mov rax, [rax]; jmp [rax]

/// call: i64[n] -> done: i64[n]. One step that calls back for each task.
inline std::unique_ptr<runtime::Context> calling_back() {
  using namespace runtime;
  using Place = BufferInfo::Kind;
  EngineParts parts;
  Program p;
  p.sizes = {{SizeLine::Kind::input_dimension, 0, 0, 0, 0}, {SizeLine::Kind::constant, 1, 0, 0, 0}};
  p.input_lines = 2;
  p.buffers = {buffer(Place::input, DType::i64, {0}, 0, "call"), buffer(Place::output, DType::i64, {0}, 0, "done")};
  p.inputs = {port("call", DType::i64, {0}, {"n"}, 0)};
  p.outputs = {port("done", DType::i64, {0}, {"n"}, 1)};
  p.steps.resize(1);
  p.steps[0].buffers = {0, 1};
  p.steps[0].kind = KernelStep{.tasks = 0, .grain = 1};
  p.steps[0].lines = 2;
  p.steps[0].label = "CallBack";
  parts.programs = std::move(p);
  for (uint8_t byte : kCallBack) parts.code.bytes.push_back(std::byte{byte});
  parts.code.kernel_offsets = {0};
  return *Context::create(*Engine::create(std::move(parts)));
}

}  // namespace tenon::tests
