// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/activity.h"
#include "runtime/container_value.h"
#include "runtime/device_error.h"
#include "runtime/program_check.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

void SegmentStep::write(protozero::pbf_writer& to) const { to.add_uint32(step_field::code, blob); }

bool SegmentStep::read(WireReader& from) {
  if (from.tag() != step_field::code) return false;
  blob = from.get_uint32();
  return true;
}

/// Results are in memory that a device may write, or are tensors of the device.
bool SegmentStep::is_sound(const Step& step, const Program& program, const ProgramTable&) const {
  return blob < program.blobs.size() &&
         std::ranges::all_of(step.results, [&](uint32_t b) { return b == kMissing || is_writable(program.buffers[b]); });
}

size_t operand_count(const Program& program, const Step& step) {
  size_t count = step.buffers.size();
  while (count > 0 && step.buffers[count - 1] != kMissing && program.buffers[step.buffers[count - 1]].kind == BufferInfo::Kind::weight)
    --count;
  return count;
}

namespace {

class SegmentRunner final : public StepRunner {
 public:
  SegmentRunner(const Step& step, const Program& program)
      : step_(step),
        program_(program),
        blob_(program.blobs[as<SegmentStep>(step)->blob]),
        operand_count_(operand_count(program, step)),
        sizes_(step.sizes.size()) {}

  Result<void> run(Values& values, const RunOptions& options, int threads) override {
    if (!segment_) TRY(make(values, threads));
    if (!sizes_.empty()) set_sizes(values);
    return in_place_ ? run_in_place(values, options, threads) : run_on_tensors(values, options);
  }

 private:
  void set_sizes(const Values& values) {
    for (size_t k = 0; k < sizes_.size(); ++k) sizes_[k] = values.size(step_.sizes[k]);
    segment_->set_sizes(sizes_);
  }

  std::span<const uint32_t> operand_buffers() const { return std::span(step_.buffers).first(operand_count_); }

  Result<void> make(const Values& values, int threads) {
    auto segment = values.engine().make_segment(blob_, values.tensors_of(std::span(step_.buffers).subspan(operand_count_)), threads);
    if (!segment) return backend_error(std::move(segment).error(), blob_.device, step_.label);
    segment_ = *std::move(segment);
    for (uint32_t b : operand_buffers()) operands_.push_back(root_of(b));
    for (uint32_t b : step_.results) places_.push_back(root_of(b));
    if (has_fixed_sizes(operand_buffers()) && has_fixed_sizes(step_.results) && has_fixed_sizes(operands_))
      in_place_ = segment_->in_place();
    for (size_t k = 0; in_place_ && in_place_->keeps_results() && k < places_.size(); ++k)
      if (places_[k] != kMissing && program_.buffers[places_[k]].kind == BufferInfo::Kind::arena) kept_results_.push_back(k);
    pointers_.resize(operands_.size() + places_.size());
    return {};
  }

  /// Whether sizes of the buffers follow from those of the inputs, and elements have fixed width.
  bool has_fixed_sizes(std::span<const uint32_t> buffers) const {
    return std::ranges::all_of(buffers, [&](uint32_t b) {
      if (b == kMissing) return true;
      const BufferInfo& info = program_.buffers[b];
      return info.kind != BufferInfo::Kind::dynamic && !is_container(info) && !sized_late(program_, info) && bits_of(info.dtype) > 0;
    });
  }

  uint32_t root_of(uint32_t buffer) const {
    while (buffer != kMissing && program_.buffers[buffer].kind == BufferInfo::Kind::alias) buffer = program_.buffers[buffer].index;
    return buffer;
  }

  Result<void> run_in_place(Values& values, const RunOptions& options, int threads) {
    const Activity activity(blob_.device, step_.label);
    if (sizes_number_ != values.sizes_number()) {
      if (auto set = in_place_->set_shapes(values.tensors_of(operand_buffers()), values.tensors_of(step_.results)); !set)
        return backend_error(std::move(set).error(), blob_.device, step_.label);
      sizes_number_ = values.sizes_number();
    }
    size_t at = 0;
    for (uint32_t b : operands_) pointers_[at++] = b == kMissing ? nullptr : values.pointer(b);
    for (uint32_t b : places_) pointers_[at++] = b == kMissing ? nullptr : values.pointer(b);
    const std::span<const size_t> kept_results = values.has_canaries() ? std::span<const size_t>() : kept_results_;
    for (const size_t k : kept_results) pointers_[operands_.size() + k] = nullptr;
    auto ran = in_place_->run_in_place(pointers_.data(), pointers_.data() + operands_.size(), options, threads);
    if (!ran) return backend_error(std::move(ran).error(), blob_.device, step_.label);
    for (const size_t k : kept_results) values.set_pointer(places_[k], in_place_->kept_result(k));
    return {};
  }

  Result<void> run_on_tensors(Values& values, const RunOptions& options) {
    const std::vector<Tensor> operands = values.tensors_of(operand_buffers());
    std::vector<Tensor> places(step_.results.size());
    for (size_t k = 0; k < places.size(); ++k)
      if (const uint32_t b = step_.results[k]; b != kMissing && program_.buffers[b].kind != BufferInfo::Kind::dynamic)
        places[k] = values.tensor_of(b);
    auto ran = [&] {
      const Activity activity(blob_.device, step_.label);
      return segment_->run(operands, places, options);
    }();
    if (!ran) return backend_error(std::move(ran).error(), blob_.device, step_.label);
    std::vector<Tensor> out = *std::move(ran);
    if (out.size() != step_.results.size())
      return broken_promise(Code::device_failed, step_.label, fmt::format("backend '{}' gave another number of results", blob_.device))
          .expected(std::to_string(step_.results.size()))
          .found(std::to_string(out.size()));
    for (size_t k = 0; k < out.size(); ++k) {
      if (step_.results[k] == kMissing) continue;
      if (auto on_host = check_on_host(out[k], step_.label); !on_host)
        return backend_error(std::move(on_host).error(), blob_.device, step_.label);
      if (places[k].empty_handle()) TRY(copy_aliased(out[k], operands, options));
      else TRY(copy_to_place(values, out[k], places[k], step_.results[k], options));
    }
    return values.take_results(step_, out);
  }

  /// Copies a result to its place, unless the device has written it there.
  Result<void> copy_to_place(Values& values, Tensor& result, const Tensor& place, uint32_t buffer, const RunOptions& options) const {
    TRY(values.check_type(step_, buffer, result));
    if (result.shape() != place.shape())
      return broken_promise(Code::bad_input, step_.label,
                            fmt::format("its result '{}' has another shape than the model promises", program_.buffers[buffer].name))
          .expected(fmt::format("[{}]", fmt::join(place.shape(), ",")))
          .found(fmt::format("[{}]", fmt::join(result.shape(), ",")));
    if (result.data() == place.data()) return {};
    options.copied(result.byte_size());
    if (result.byte_size() > 0) std::memmove(values.pointer(buffer), result.data(), static_cast<size_t>(result.byte_size()));
    result = place;
    return {};
  }

  /// Copies a result that has the memory of an operand (of Identity, or a branch of If), which it would outlive.
  Result<void> copy_aliased(Tensor& result, const std::vector<Tensor>& operands, const RunOptions& options) const {
    if (result.holds_tensors()) {
      result = TRY(owned(result));
      return {};
    }
    if (result.byte_size() == 0) return {};
    for (size_t k = 0; k < operands.size(); ++k) {
      const Tensor& t = operands[k];
      if (t.empty_handle() || !t.has_bytes() || program_.buffers[step_.buffers[k]].kind == BufferInfo::Kind::dynamic) continue;
      if (result.data() < t.data() || result.data() >= t.data() + t.byte_size()) continue;
      options.copied(result.byte_size());
      Tensor copy = TRY(Tensor::make(result.dtype(), result.shape()));
      std::memcpy(copy.mutable_data(), result.data(), static_cast<size_t>(result.byte_size()));
      result = std::move(copy);
      return {};
    }
    return {};
  }

  const Step& step_;
  const Program& program_;
  const Blob& blob_;
  size_t operand_count_;
  std::vector<int64_t> sizes_;               // that the segment reads
  std::unique_ptr<Segment> segment_;         // null: not made yet
  InPlace* in_place_ = nullptr;              // null: it runs on tensors
  uint64_t sizes_number_ = 0;                // number of the sizes that its shapes are set to
  std::vector<uint32_t> operands_, places_;  // buffers of operands and results, aliases resolved; kMissing: none
  std::vector<void*> pointers_;              // of the operands, then of the places
  std::vector<size_t> kept_results_;         // places whose results stay in its memory: they are of this context alone
};

}  // namespace

std::unique_ptr<StepRunner> SegmentStep::runner(const Step& step, const Values& values) const {
  return std::make_unique<SegmentRunner>(step, values.program());
}

}  // namespace tenon::runtime
