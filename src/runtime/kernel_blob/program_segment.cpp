// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_blob/program_segment.h"

#include <cstring>
#include <deque>

#include "runtime/input_checks.h"
#include "runtime/run/frame.h"
#include "runtime/run/memory.h"

namespace tenon::runtime {

namespace {

/// Calls begin_run() of a memory, and end_run() at the end of its scope.
class RunMemoryScope {
 public:
  static Result<RunMemoryScope> begin(RunMemory& memory) {
    TRY(memory.begin_run());
    return RunMemoryScope(memory);
  }
  RunMemoryScope(RunMemoryScope&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  RunMemoryScope& operator=(RunMemoryScope&&) = delete;
  ~RunMemoryScope() {
    if (memory_) memory_->end_run();
  }

 private:
  explicit RunMemoryScope(RunMemory& memory) : memory_(&memory) {}
  RunMemory* memory_;
};

class ProgramSegment final : public Segment {
 public:
  /// outer_sizes: as in KernelBlob.
  ProgramSegment(std::shared_ptr<const Engine> engine, uint32_t outer_sizes)
      : engine_(std::move(engine)),
        program_(engine_->program()),
        outer_size_count_(outer_sizes),
        frame_(std::make_unique<Frame>(*engine_, program_, false)) {
    for (size_t k = 0; k < program_.inputs.size(); ++k) operand_copies_.emplace_back().use(engine_->memory());
  }

  void set_sizes(std::span<const int64_t> sizes) override { outer_sizes_.assign(sizes.begin(), sizes.end()); }

  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places, const RunOptions& options) override {
    TRY(check_types(program_, operands));
    if (outer_sizes_.size() != outer_size_count_)
      return fail(Code::bad_file, std::string(kKernelBlobPlace), "the step gives the segment another number of sizes")
          .expected(std::to_string(outer_size_count_))
          .found(std::to_string(outer_sizes_.size()))
          .advice("build the engine again");
    const RunMemoryScope scope = TRY(RunMemoryScope::begin(*engine_->memory()));
    const std::vector<Tensor> copied = TRY(copy_in(operands, options));
    RunOptions inner_options = options;
    inner_options.on_step = nullptr;  // step numbers are those of the enclosing engine
    const std::span<const Tensor> results = TRY(frame_->run(copied, outer_sizes_, inner_options));
    std::vector<Tensor> out;
    for (size_t k = 0; k < results.size(); ++k) out.push_back(TRY(copy_out(results[k], k < places.size() ? places[k] : Tensor(), options)));
    return out;
  }

 private:
  Result<std::vector<Tensor>> copy_in(std::span<const Tensor> operands, const RunOptions& options) {
    std::vector<Tensor> out;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Tensor& t = operands[k];
      std::byte* const to = TRY(operand_copies_[k].reserve(static_cast<uint64_t>(t.byte_size()) + kSlack));
      if (t.byte_size() > 0) std::memcpy(to, t.data(), static_cast<size_t>(t.byte_size()));
      options.copied(t.byte_size());
      out.push_back(Tensor::view(t.dtype(), t.shape(), to, nullptr));
    }
    return out;
  }

  static Result<Tensor> copy_out(const Tensor& result, const Tensor& place, const RunOptions& options) {
    const bool fits = !place.empty_handle() && place.dtype() == result.dtype() && place.shape() == result.shape();
    Tensor out = fits ? place : TRY(Tensor::make(result.dtype(), result.shape()));
    if (result.byte_size() > 0) std::memcpy(out.mutable_data(), result.data(), static_cast<size_t>(result.byte_size()));
    options.copied(result.byte_size());
    return out;
  }

  std::shared_ptr<const Engine> engine_;
  const Program& program_;
  const size_t outer_size_count_;
  std::vector<int64_t> outer_sizes_;  ///< values, from the enclosing program
  std::deque<Block> operand_copies_;  ///< in the device's memory
  std::unique_ptr<Frame> frame_;
};

/// Elements of fixed width in every operand and result: what can be copied.
Result<void> check_ports_of_segment(const Program& program) {
  for (const auto* ports : {&program.inputs, &program.outputs})
    for (const PortInfo& port : *ports)
      if (port.container.kind != ValueKind::tensor || bits_of(port.dtype) == 0)
        return fail(Code::bad_file, std::string(kKernelBlobPlace), "an operand or result of the segment is no tensor of numbers")
            .expected("a tensor of numbers")
            .found("'" + port.name + "'")
            .advice("build the engine again");
  return {};
}

}  // namespace

Result<std::unique_ptr<Segment>> make_program_segment(const BlobView& blob, uint32_t target, std::shared_ptr<RunMemory> memory) {
  KernelBlob program = TRY(decode_kernel_blob(blob.bytes));
  const uint32_t outer_sizes = program.outer_sizes;
  auto engine = TRY(Engine::create(TRY(engine_parts(std::move(program), target, blob.weights, std::move(memory)))));
  TRY(check_ports_of_segment(engine->program()));
  return std::make_unique<ProgramSegment>(std::move(engine), outer_sizes);
}

}  // namespace tenon::runtime
