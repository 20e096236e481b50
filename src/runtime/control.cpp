// SPDX-License-Identifier: Apache-2.0
#include "runtime/control.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"

namespace tenon::runtime {

namespace {

/// Iteration and condition come before what a loop carries.
constexpr size_t kLoopFormals = 2;

/// Steps of bodies are numbered anew.
RunOptions inside(RunOptions options) {
  options.on_step = nullptr;
  return options;
}

Result<int64_t> number_of(const Tensor& t, const std::string& label, const char* what) {
  if (t.count() != 1 || !t.has_bytes())
    return fail(Code::bad_input, label, fmt::format("its {} is not one number", what))
        .expected("one element")
        .found(type_text(t.dtype(), t.shape()));
  return t.integer(0);
}

}  // namespace

Control::Control(const Engine& engine, const Step& step) : step_(step), results_(step.results.size()) {
  const bool loops = step.kind == Step::Kind::loop;
  for (uint32_t b = 0; b < body_count(step.kind); ++b) {
    programs_.push_back(&engine.programs()[step.code + b]);
    bodies_.push_back(std::make_unique<Frame>(engine, *programs_.back(), loops));
  }
  if (!loops) return;
  inputs_.resize(programs_[0]->inputs.size());
  stacks_.resize(step.results.size() - step.carried);
}

Result<std::span<const Tensor>> Control::run(std::span<const Tensor> operands, std::span<const int64_t> outer,
                                             std::span<const Place> places, const RunOptions& options) {
  if (step_.kind == Step::Kind::loop) TRY(loop(operands, outer, places, inside(options)));
  else TRY(branch(operands, outer, places, inside(options)));
  return std::span<const Tensor>(results_);
}

Error Control::misfit(size_t result, const Sizes& expected, const Sizes& found) const {
  return fail(Code::bad_input, step_.label, fmt::format("result {} has another shape than the model promises", result))
      .expected(fmt::format("[{}]", fmt::join(expected, ",")))
      .found(fmt::format("[{}]", fmt::join(found, ",")));
}

/// Result `result` is `from`: brought to its place, or kept.
Result<void> Control::store_result(size_t result, const Tensor& from, const Place& place) {
  if (place.memory == nullptr) {
    results_[result] = TRY(owned(from));
    return {};
  }
  if (from.shape() != place.shape || !from.has_bytes()) return misfit(result, place.shape, from.shape());
  if (from.byte_size() > 0 && from.data() != place.memory) std::memcpy(place.memory, from.data(), static_cast<size_t>(from.byte_size()));
  results_[result] = Tensor::view(from.dtype(), place.shape, place.memory, nullptr);
  return {};
}

Result<void> Control::branch(std::span<const Tensor> operands, std::span<const int64_t> outer, std::span<const Place> places,
                             const RunOptions& options) {
  const size_t chosen = TRY(number_of(operands[0], step_.label, "condition")) != 0 ? 0 : 1;
  const size_t first = 1 + (chosen == 0 ? 0 : programs_[0]->inputs.size());
  Frame& body = *bodies_[chosen];
  for (size_t k = 0; k < places.size(); ++k) {
    const PortInfo& port = programs_[chosen]->outputs[k];
    const auto count = checked_count(places[k].shape);
    if (places[k].memory && count) body.bind(k, places[k].memory, static_cast<size_t>(bytes_of(port.dtype, *count)));
  }
  const auto results = TRY(body.run(operands.subspan(first, programs_[chosen]->inputs.size()), outer, options));
  for (size_t k = 0; k < places.size(); ++k) TRY(store_result(k, results[k], places[k]));
  return {};
}

Result<void> Control::loop(std::span<const Tensor> operands, std::span<const int64_t> outer, std::span<const Place> places,
                           RunOptions options) {
  const bool has_trips = !operands[0].empty_handle(), has_condition = !operands[1].empty_handle();
  const int64_t trips = has_trips ? TRY(number_of(operands[0], step_.label, "trip count")) : INT64_MAX;
  bool go = !has_condition || TRY(number_of(operands[1], step_.label, "condition")) != 0;
  if (inputs_[0].empty_handle()) {
    inputs_[0] = TRY(Tensor::make(DType::i64, {}));
    inputs_[1] = TRY(Tensor::make(DType::boolean, {}));
    inputs_[1].set_integer(0, 1);
  }
  for (size_t k = kLoopFormals; k < inputs_.size(); ++k) inputs_[k] = operands[k];
  for (RowStack& s : stacks_) s.clear();
  int64_t iteration = 0;
  const RandomScope outside = options.random;
  for (; iteration < trips && go; ++iteration) {
    options.random = outside.in_iteration(static_cast<uint64_t>(iteration));
    go = TRY(iterate(iteration, outer, places, options));
  }
  return finish(iteration, places);
}

Result<bool> Control::iterate(int64_t iteration, std::span<const int64_t> outer, std::span<const Place> places, const RunOptions& options) {
  const size_t carried = step_.carried;
  *inputs_[0].as_mutable<int64_t>().data() = iteration;
  for (size_t k = carried; k < places.size(); ++k) {  // rows of known size are written where they belong
    const Place& place = places[k];
    if (place.memory == nullptr || iteration >= place.shape[0]) continue;
    const DType dtype = programs_[0]->outputs[1 + k].dtype;
    const int64_t elements = *checked_count(place.shape) / place.shape[0];
    if (!has_whole_bytes(dtype, elements)) continue;
    const auto bytes = static_cast<size_t>(bytes_of(dtype, elements));
    bodies_[0]->bind(1 + k, static_cast<std::byte*>(place.memory) + static_cast<size_t>(iteration) * bytes, bytes);
  }
  const auto results = TRY(bodies_[0]->run(inputs_, outer, options));
  for (size_t k = 0; k < carried; ++k) inputs_[kLoopFormals + k] = results[1 + k];
  for (size_t k = carried; k < places.size(); ++k) TRY(keep_row(k, iteration, results[1 + k], places[k]));
  return TRY(number_of(results[0], step_.label, "condition")) != 0;
}

Result<void> Control::keep_row(size_t result, int64_t iteration, const Tensor& row, const Place& place) {
  if (place.memory == nullptr) {
    RowStack& stack = stacks_[result - step_.carried];
    if (iteration > 0 && row.shape() != stack.row_shape()) return misfit(result, stack.row_shape(), row.shape());
    return stack.push(row);
  }
  const auto expected = std::span(place.shape).subspan(1);
  if (iteration >= place.shape[0] || !std::ranges::equal(row.shape(), expected))
    return misfit(result, Sizes(expected.begin(), expected.end()), row.shape());
  if (!has_whole_bytes(row.dtype(), row.count())) copy_row(row, static_cast<std::byte*>(place.memory), iteration * row.count());
  return {};
}

Result<void> Control::finish(int64_t iterations, std::span<const Place> places) {
  const size_t carried = step_.carried;
  for (size_t k = 0; k < carried; ++k) TRY(store_result(k, inputs_[kLoopFormals + k], places[k]));
  for (size_t k = carried; k < places.size(); ++k) {
    if (places[k].memory == nullptr) {
      results_[k] = TRY(stacked(k, iterations));
    } else {
      Sizes shape = places[k].shape;
      if (std::exchange(shape[0], iterations) != iterations) return misfit(k, places[k].shape, shape);
      results_[k] = Tensor::view(programs_[0]->outputs[1 + k].dtype, places[k].shape, places[k].memory, nullptr);
    }
  }
  return {};
}

/// All rows as one tensor. Without any, sizes that the body's own run would have told are 0.
Result<Tensor> Control::stacked(size_t result, int64_t iterations) const {
  const RowStack& stack = stacks_[result - step_.carried];
  const PortInfo& port = programs_[0]->outputs[1 + result];
  Sizes shape{iterations};
  if (iterations > 0) shape.insert(shape.end(), stack.row_shape().begin(), stack.row_shape().end());
  else
    for (Slot s : port.shape)
      shape.push_back(programs_[0]->sizes[s].kind == SizeLine::Kind::constant ? programs_[0]->sizes[s].constant : 0);
  return stack.stacked(port.dtype, std::move(shape));
}

}  // namespace tenon::runtime
