// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_blob/program_segment.h"

#include <cstring>
#include <deque>

#include "runtime/input_checks.h"
#include "runtime/run/frame.h"
#include "runtime/run/memory.h"

namespace tenon::runtime {

namespace {

/// The memory of a device while it runs.
class OpenMemory {
 public:
  static Result<OpenMemory> begin(RunMemory& memory) {
    TRY(memory.begin_run());
    return OpenMemory(memory);
  }
  OpenMemory(OpenMemory&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  OpenMemory& operator=(OpenMemory&&) = delete;
  ~OpenMemory() {
    if (memory_) memory_->end_run();
  }

 private:
  explicit OpenMemory(RunMemory& memory) : memory_(&memory) {}
  RunMemory* memory_;
};

class ProgramSegment final : public Segment {
 public:
  /// sizes: how many it reads from around it.
  ProgramSegment(std::shared_ptr<const Engine> engine, uint32_t sizes)
      : engine_(std::move(engine)),
        program_(engine_->program()),
        size_count_(sizes),
        frame_(std::make_unique<Frame>(*engine_, program_, false)) {
    for (size_t k = 0; k < program_.inputs.size(); ++k) copies_.emplace_back().use(engine_->memory());
  }

  void set_sizes(std::span<const int64_t> sizes) override { sizes_.assign(sizes.begin(), sizes.end()); }

  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places, const RunOptions& options) override {
    TRY(check_types(program_, operands));
    if (sizes_.size() != size_count_)
      return fail(Code::bad_file, std::string(kKernelBlobPlace), "the step gives the segment another number of sizes")
          .expected(std::to_string(size_count_))
          .found(std::to_string(sizes_.size()))
          .advice("build the engine again");
    const OpenMemory open = TRY(OpenMemory::begin(*engine_->memory()));
    const std::vector<Tensor> inside = TRY(copy_in(operands, options));
    RunOptions own = options;
    own.on_step = nullptr;  // whose steps are those of the engine around
    const std::span<const Tensor> results = TRY(frame_->run(inside, sizes_, own));
    std::vector<Tensor> out;
    for (size_t k = 0; k < results.size(); ++k) out.push_back(TRY(copy_out(results[k], k < places.size() ? places[k] : Tensor(), options)));
    return out;
  }

 private:
  Result<std::vector<Tensor>> copy_in(std::span<const Tensor> operands, const RunOptions& options) {
    std::vector<Tensor> out;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Tensor& t = operands[k];
      std::byte* const to = TRY(copies_[k].reserve(static_cast<uint64_t>(t.byte_size()) + kSlack));
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
  const size_t size_count_;
  std::vector<int64_t> sizes_;  ///< from around it
  std::deque<Block> copies_;    ///< of operands, in the device's memory
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
  const uint32_t sizes = program.sizes;
  auto engine = TRY(Engine::create(TRY(engine_parts(std::move(program), target, blob.weights, std::move(memory)))));
  TRY(check_ports_of_segment(engine->program()));
  return std::make_unique<ProgramSegment>(std::move(engine), sizes);
}

}  // namespace tenon::runtime
