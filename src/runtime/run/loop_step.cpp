// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/checked.h"
#include "runtime/run/control.h"
#include "runtime/run/frame.h"
#include "runtime/run/row_stack.h"

namespace tenon::runtime {

namespace {

constexpr uint32_t kCarriedField = 13;

/// Inputs of a body before the carried values: the iteration and the condition.
constexpr size_t kLoopFormals = 2;

/// Whether each result of stacked rows has at least one dimension, the number of rows.
bool has_row_dimensions(const Step& step, const Program& program, size_t carried) {
  for (size_t k = carried; k < step.results.size(); ++k) {
    if (step.results[k] == kMissing) continue;
    const BufferInfo& stack = program.buffers[step.results[k]];
    if (stack.kind != BufferInfo::Kind::dynamic && stack.shape.empty()) return false;
  }
  return true;
}

}  // namespace

void LoopStep::write(protozero::pbf_writer& to) const {
  to.add_uint32(step_field::code, first_body);
  if (carried != 0) to.add_uint32(kCarriedField, carried);
}

bool LoopStep::read(WireReader& from) {
  if (from.tag() == step_field::code) first_body = from.get_uint32();
  else if (from.tag() == kCarriedField) carried = from.get_uint32();
  else return false;
  return true;
}

bool LoopStep::is_sound(const Step& step, const Program& program, const ProgramTable& table) const {
  if (!is_body(table, first_body)) return false;
  const Program& body = table[first_body];
  return has_outer_sizes(body, step) && step.buffers.size() >= kLoopFormals && step.buffers.size() == body.inputs.size() &&
         carried <= step.buffers.size() - kLoopFormals && carried <= step.results.size() &&
         step.results.size() + 1 == body.outputs.size() && has_row_dimensions(step, program, carried) &&
         fits_results(step, program, body, 1);
}

namespace {

class LoopRunner final : public ControlRunner {
 public:
  LoopRunner(const Step& step, const Engine& engine, size_t carried)
      : ControlRunner(step, engine), carried_(carried), inputs_(program_of(0).inputs.size()), stacks_(step.results.size() - carried) {}

 private:
  using Places = std::span<const Place>;

  Result<void> run_bodies(std::span<const Tensor> operands, std::span<const int64_t> outer, Places places,
                          const RunOptions& given) override {
    RunOptions options = given;
    const bool has_trips = !operands[0].empty_handle(), has_condition = !operands[1].empty_handle();
    const int64_t trips = has_trips ? TRY(scalar_of(operands[0], "trip count")) : INT64_MAX;
    bool go = !has_condition || TRY(scalar_of(operands[1], "condition")) != 0;
    if (inputs_[0].empty_handle()) {
      inputs_[0] = TRY(Tensor::make(DType::i64, {}));
      inputs_[1] = TRY(Tensor::make(DType::boolean, {}));
      inputs_[1].set_integer(0, 1);
    }
    for (size_t k = kLoopFormals; k < inputs_.size(); ++k) inputs_[k] = operands[k];
    largest_inputs_.assign(largest_operands().begin(), largest_operands().end());
    if (!largest_inputs_.empty()) largest_inputs_[0] = largest_inputs_[1] = {};  // iteration and condition are scalars
    for (RowStack& s : stacks_) s.clear();
    int64_t iteration = 0;
    const RandomScope outside = options.random;
    for (; iteration < trips && go; ++iteration) {
      options.random = outside.in_iteration(static_cast<uint64_t>(iteration));
      go = TRY(iterate(iteration, outer, places, options));
    }
    return finish(iteration, places);
  }

  Result<bool> iterate(int64_t iteration, std::span<const int64_t> outer, Places places, const RunOptions& options) {
    *inputs_[0].as_mutable<int64_t>().data() = iteration;
    for (size_t k = carried_; k < places.size(); ++k) {  // rows of known size are written where they belong
      const Place& place = places[k];
      if (place.memory == nullptr || iteration >= place.shape[0]) continue;
      const DType dtype = program_of(0).outputs[1 + k].dtype;
      const int64_t elements = *checked_count(place.shape) / place.shape[0];
      if (!has_whole_bytes(dtype, elements)) continue;
      const auto bytes = static_cast<size_t>(bytes_of(dtype, elements));
      bodies_[0]->bind(1 + k, static_cast<std::byte*>(place.memory) + static_cast<size_t>(iteration) * bytes, bytes);
    }
    std::optional<SizeBounds> bounds;
    if (!largest_inputs_.empty()) bounds = {largest_inputs_, largest_outer()};
    const auto results = TRY(bodies_[0]->run(inputs_, outer, options, bounds));
    for (size_t k = 0; k < carried_; ++k) {
      Tensor& carried = inputs_[kLoopFormals + k];
      if (bounds && carried.shape() != results[1 + k].shape()) largest_inputs_[kLoopFormals + k] = results[1 + k].shape();
      carried = results[1 + k];
    }
    for (size_t k = carried_; k < places.size(); ++k) TRY(keep_row(k, iteration, results[1 + k], places[k]));
    return TRY(scalar_of(results[0], "condition")) != 0;
  }

  Result<void> keep_row(size_t result, int64_t iteration, const Tensor& row, const Place& place) {
    if (place.memory == nullptr) {
      RowStack& stack = stacks_[result - carried_];
      if (iteration > 0 && row.shape() != stack.row_shape()) return shape_error(result, stack.row_shape(), row.shape());
      return stack.push(row);
    }
    const auto expected = std::span(place.shape).subspan(1);
    if (iteration >= place.shape[0] || !std::ranges::equal(row.shape(), expected))
      return shape_error(result, Sizes(expected.begin(), expected.end()), row.shape());
    if (!has_whole_bytes(row.dtype(), row.count())) copy_row(row, static_cast<std::byte*>(place.memory), iteration * row.count());
    return {};
  }

  Result<void> finish(int64_t iterations, Places places) {
    for (size_t k = 0; k < carried_; ++k) TRY(store_result(k, inputs_[kLoopFormals + k], places[k]));
    for (size_t k = carried_; k < places.size(); ++k) {
      if (places[k].memory == nullptr) {
        results_[k] = TRY(stacked(k, iterations));
      } else {
        Sizes shape = places[k].shape;
        if (std::exchange(shape[0], iterations) != iterations) return shape_error(k, places[k].shape, shape);
        results_[k] = Tensor::view(program_of(0).outputs[1 + k].dtype, places[k].shape, places[k].memory, nullptr);
      }
    }
    return {};
  }

  /// All rows as one tensor. Without any, sizes that the body's own run would have given are 0.
  Result<Tensor> stacked(size_t result, int64_t iterations) const {
    const RowStack& stack = stacks_[result - carried_];
    const Program& program = program_of(0);
    const PortInfo& port = program.outputs[1 + result];
    Sizes shape{iterations};
    if (iterations > 0) shape.insert(shape.end(), stack.row_shape().begin(), stack.row_shape().end());
    else
      for (Slot s : port.shape) shape.push_back(program.sizes[s].kind == SizeLine::Kind::constant ? program.sizes[s].constant : 0);
    return stack.stacked(port.dtype, std::move(shape));
  }

  size_t carried_;
  std::vector<Tensor> inputs_;         // of the body: iteration, condition, carried values, captures
  std::vector<Sizes> largest_inputs_;  // bounds of their shapes; none: they have none
  std::vector<RowStack> stacks_;       // of results without a place
};

}  // namespace

std::unique_ptr<StepRunner> LoopStep::runner(const Step& step, const Values& values) const {
  return std::make_unique<LoopRunner>(step, values.engine(), carried);
}

}  // namespace tenon::runtime
