// SPDX-License-Identifier: Apache-2.0
// Steps that a device runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/activity.h"
#include "runtime/container_value.h"
#include "runtime/device_error.h"
#include "runtime/frame.h"

namespace tenon::runtime {

size_t operand_count(const Program& program, const Step& step) {
  size_t count = step.buffers.size();
  while (count > 0 && step.buffers[count - 1] != kMissing && program.buffers[step.buffers[count - 1]].kind == BufferInfo::Kind::weight)
    --count;
  return count;
}

/// Their sizes follow from those of the inputs, and their elements lie in memory.
bool Frame::has_fixed_sizes(std::span<const uint32_t> buffers) const {
  return std::ranges::all_of(buffers, [&](uint32_t b) {
    if (b == kMissing) return true;
    const BufferInfo& info = program_.buffers[b];
    return info.kind != BufferInfo::Kind::dynamic && !is_container(info) && !sized_late(program_, info) && bits_of(info.dtype) > 0;
  });
}

uint32_t Frame::root_of(uint32_t buffer) const {
  while (buffer != kMissing && program_.buffers[buffer].kind == BufferInfo::Kind::alias) buffer = program_.buffers[buffer].index;
  return buffer;
}

Result<void> Frame::make_segment(const Step& step, StepSegment& made, int threads) {
  const std::span<const uint32_t> buffers = step.buffers;
  const size_t count = operand_count(program_, step);
  auto segment = engine_.make_segment(program_.blobs[step.code], tensors_of(buffers.subspan(count)), threads);
  if (!segment) return of_backend(std::move(segment).error(), program_.blobs[step.code].device, step.label);
  made.segment = *std::move(segment);
  for (uint32_t b : buffers.first(count)) made.operands.push_back(root_of(b));
  for (uint32_t b : step.results) made.places.push_back(root_of(b));
  if (has_fixed_sizes(buffers.first(count)) && has_fixed_sizes(step.results) && has_fixed_sizes(made.operands))
    made.in_place = made.segment->in_place();
  for (size_t k = 0; made.in_place && made.in_place->keeps_results() && k < made.places.size(); ++k)
    if (made.places[k] != kMissing && program_.buffers[made.places[k]].kind == BufferInfo::Kind::arena) made.kept.push_back(k);
  made.pointers.resize(made.operands.size() + made.places.size());
  return {};
}

Result<void> Frame::run_in_place(const Step& step, StepSegment& s, const RunOptions& options, int threads) {
  const std::string& device = program_.blobs[step.code].device;
  const Activity doing(device, step.label);
  if (s.plan != plan_->number) {
    if (auto set = s.in_place->set_shapes(tensors_of(std::span(step.buffers).first(s.operands.size())), tensors_of(step.results)); !set)
      return of_backend(std::move(set).error(), device, step.label);
    s.plan = plan_->number;
  }
  size_t at = 0;
  for (uint32_t b : s.operands) s.pointers[at++] = b == kMissing ? nullptr : pointers_[b];
  for (uint32_t b : s.places) s.pointers[at++] = b == kMissing ? nullptr : pointers_[b];
  const std::span<const size_t> kept = guards_ ? std::span<const size_t>() : s.kept;
  for (const size_t k : kept) s.pointers[s.operands.size() + k] = nullptr;
  auto ran = s.in_place->run_in_place(s.pointers.data(), s.pointers.data() + s.operands.size(), options, threads);
  if (!ran) return of_backend(std::move(ran).error(), device, step.label);
  for (const size_t k : kept) pointers_[s.places[k]] = s.in_place->kept(k);
  return {};
}

Result<void> Frame::run_segment(const Step& step, const RunOptions& options, int threads) {
  StepSegment& made = segments_[static_cast<size_t>(&step - program_.steps.data())];
  if (!made.segment) TRY(make_segment(step, made, threads));
  if (made.in_place) return run_in_place(step, made, options, threads);
  const std::vector<Tensor> operands = tensors_of(std::span(step.buffers).first(made.operands.size()));
  std::vector<Tensor> places(step.results.size());
  for (size_t k = 0; k < places.size(); ++k)
    if (const uint32_t b = step.results[k]; b != kMissing && program_.buffers[b].kind != BufferInfo::Kind::dynamic)
      places[k] = tensor_of(b);
  auto ran = [&] {
    const Activity doing(program_.blobs[step.code].device, step.label);
    return made.segment->run(operands, places, options);
  }();
  if (!ran) return of_backend(std::move(ran).error(), program_.blobs[step.code].device, step.label);
  std::vector<Tensor> out = *std::move(ran);
  if (out.size() != step.results.size())
    return broken_promise(Code::device_failed, step.label,
                          fmt::format("backend '{}' gave another number of results", program_.blobs[step.code].device))
        .expected(std::to_string(step.results.size()))
        .found(std::to_string(out.size()));
  for (size_t k = 0; k < out.size(); ++k) {
    if (step.results[k] == kMissing) continue;
    if (places[k].empty_handle()) TRY(own(out[k], step, operands, options));
    else TRY(bring(out[k], places[k], step.results[k], step, options));
  }
  return take_results(step, out);
}

/// A result whose memory is laid out goes there, where the device has not written to it.
Result<void> Frame::bring(Tensor& result, const Tensor& place, uint32_t buffer, const Step& step, const RunOptions& options) const {
  TRY(check_type(step, buffer, result));
  if (result.shape() != place.shape())
    return broken_promise(Code::bad_input, step.label,
                          fmt::format("its result '{}' has another shape than the model promises", program_.buffers[buffer].name))
        .expected(fmt::format("[{}]", fmt::join(place.shape(), ",")))
        .found(fmt::format("[{}]", fmt::join(result.shape(), ",")));
  if (result.data() == place.data()) return {};
  options.copied(result.byte_size());
  if (result.byte_size() > 0) std::memmove(pointers_[buffer], result.data(), static_cast<size_t>(result.byte_size()));
  result = place;
  return {};
}

/// A result that only passes an operand on (Identity, a branch of If), or holds one, must not outlive the operand's memory.
Result<void> Frame::own(Tensor& result, const Step& step, const std::vector<Tensor>& operands, const RunOptions& options) const {
  if (result.holds_tensors()) {
    result = TRY(owned(result));
    return {};
  }
  if (result.byte_size() == 0) return {};
  for (size_t k = 0; k < operands.size(); ++k) {
    const Tensor& t = operands[k];
    if (t.empty_handle() || !t.has_bytes() || program_.buffers[step.buffers[k]].kind == BufferInfo::Kind::dynamic) continue;
    if (result.data() < t.data() || result.data() >= t.data() + t.byte_size()) continue;
    options.copied(result.byte_size());
    Tensor copy = TRY(Tensor::make(result.dtype(), result.shape()));
    std::memcpy(copy.mutable_data(), result.data(), static_cast<size_t>(result.byte_size()));
    result = std::move(copy);
    return {};
  }
  return {};
}

Result<void> Frame::check_type(const Step& step, uint32_t buffer, const Tensor& t) const {
  const BufferInfo& info = program_.buffers[buffer];
  if (is_container(info)) {
    if (is_as_promised(info.container, info.dtype, t)) return {};
    return broken_promise(Code::bad_input, step.label, fmt::format("its result '{}' is not what the model promises", info.name))
        .expected(text_of(info.container, info.dtype))
        .found(type_text(t));
  }
  if (t.dtype() == info.dtype) return {};
  return broken_promise(Code::dtype_mismatch, step.label,
                        fmt::format("its result '{}' has another element type than the model promises", info.name))
      .expected(std::string(name_of(info.dtype)))
      .found(std::string(name_of(t.dtype())));
}

}  // namespace tenon::runtime
