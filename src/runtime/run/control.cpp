// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/control.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "runtime/program_check.h"
#include "runtime/run/frame.h"

namespace tenon::runtime {

ControlRunner::ControlRunner(const Step& step, const Engine& engine) : step_(step), results_(step.results.size()) {
  for (const uint64_t b : bodies_of(step)) {
    programs_.push_back(&engine.programs()[b]);
    bodies_.push_back(std::make_unique<Frame>(engine, *programs_.back(), is<LoopStep>(step)));
  }
  outer_.resize(step.sizes.size());
  places_.resize(step.results.size());
}

ControlRunner::~ControlRunner() = default;

Result<void> ControlRunner::run(Values& values, const RunOptions& options, int) {
  const std::vector<Tensor> operands = values.tensors_of(step_.buffers);
  for (size_t k = 0; k < outer_.size(); ++k) outer_[k] = values.size(step_.sizes[k]);
  for (size_t k = 0; k < places_.size(); ++k) {
    const uint32_t b = step_.results[k];
    const bool is_placed = b != kMissing && values.program().buffers[b].kind != BufferInfo::Kind::dynamic;
    places_[k] = is_placed ? Place{values.pointer(b), values.shape_of(b)} : Place{};
  }
  if (values.is_growing()) find_largest_sizes(values);
  RunOptions body_options = options;
  body_options.on_step = nullptr;  // steps of bodies are numbered anew
  TRY(run_bodies(operands, outer_, places_, body_options));
  return values.take_results(step_, results_);
}

void ControlRunner::find_largest_sizes(const Values& values) {
  largest_operands_.resize(step_.buffers.size());
  for (size_t k = 0; k < step_.buffers.size(); ++k)
    if (step_.buffers[k] != kMissing) largest_operands_[k] = values.largest_shape(step_.buffers[k]);
  largest_outer_.resize(outer_.size());
  for (size_t k = 0; k < outer_.size(); ++k) largest_outer_[k] = values.largest_size(step_.sizes[k]);
}

uint64_t ControlRunner::plans_made() const {
  uint64_t made = 0;
  for (const auto& body : bodies_) made += body->plans_made();
  return made;
}

Result<int64_t> ControlRunner::scalar_of(const Tensor& t, const char* what) const {
  if (t.count() != 1 || !t.has_bytes())
    return fail(Code::bad_input, step_.label, fmt::format("{} must be a scalar", what))
        .expected("one element")
        .found(type_text(t.dtype(), t.shape()));
  return t.integer(0);
}

Error ControlRunner::shape_error(size_t result, const Sizes& expected, const Sizes& found) const {
  return fail(Code::bad_input, step_.label, fmt::format("result {} has another shape than the model promises", result))
      .expected(fmt::format("[{}]", fmt::join(expected, ",")))
      .found(fmt::format("[{}]", fmt::join(found, ",")));
}

/// Sets result number `result` to `from`, copied to its place where it has one.
Result<void> ControlRunner::store_result(size_t result, const Tensor& from, const Place& place) {
  if (place.memory == nullptr) {
    results_[result] = TRY(owned(from));
    return {};
  }
  if (from.shape() != place.shape || !from.has_bytes()) return shape_error(result, place.shape, from.shape());
  if (from.byte_size() > 0 && from.data() != place.memory) std::memcpy(place.memory, from.data(), static_cast<size_t>(from.byte_size()));
  results_[result] = Tensor::view(from.dtype(), place.shape, place.memory, nullptr);
  return {};
}

bool has_outer_sizes(const Program& body, const Step& step) {
  return std::ranges::none_of(body.sizes, [&](const SizeLine& l) { return l.kind == SizeLine::Kind::outer && l.a >= step.sizes.size(); });
}

bool fits_results(const Step& step, const Program& program, const Program& body, size_t first_output) {
  for (size_t k = 0; k < step.results.size(); ++k) {
    if (step.results[k] == kMissing) continue;
    const BufferInfo& to = program.buffers[step.results[k]];
    const PortInfo& from = body.outputs[first_output + k];
    if (!is_writable(to) || to.container.kind != from.container.kind || to.dtype != from.dtype) return false;
  }
  return true;
}

bool is_body(const ProgramTable& table, uint64_t number) { return number < table.size() && table.programs[number].role == Role::body; }

}  // namespace tenon::runtime
