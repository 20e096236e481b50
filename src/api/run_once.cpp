// SPDX-License-Identifier: Apache-2.0
#include "api/run_once.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/checked.h"

#include "api/arrays.h"
#include "api/output_buffers.h"

namespace tenon::inline v1 {

namespace {

/// A context for one run; goes back to the engine.
class Lease {
 public:
  static base::Result<Lease> take(Engine::State& state) {
    {
      const std::lock_guard guard(state.lock);
      if (!state.idle.empty()) {
        Lease lease(state, std::move(state.idle.back()));
        state.idle.pop_back();
        return lease;
      }
    }
    return Lease(state, TRY(runtime::Context::create(state.engine)));
  }
  Lease(Lease&&) noexcept = default;
  ~Lease() {
    if (!context_) return;
    for (size_t e = 0; e < state_->entries.size(); ++e)
      for (size_t k = 0; k < state_->entries[e].outputs.size(); ++k) context_->bind_output(k, nullptr, 0, e);
    const std::lock_guard guard(state_->lock);
    try {
      state_->idle.push_back(std::move(context_));
    } catch (const std::bad_alloc&) {
      // No room in the list: this context ends here, and the next run makes another.
    }
  }
  runtime::Context& operator*() const { return *context_; }
  runtime::Context* operator->() const { return context_.get(); }

 private:
  Lease(Engine::State& state, std::unique_ptr<runtime::Context> context) : state_(&state), context_(std::move(context)) {}
  Engine::State* state_;
  std::unique_ptr<runtime::Context> context_;
};

/// Memory for a result: not zeroed, with the bytes past its end that kernels may touch.
struct Memory {
  std::shared_ptr<const void> keeper;
  void* data = nullptr;
  size_t bytes = 0;
};

base::Result<Memory> allocate(size_t bytes) {
  const size_t size = (bytes + runtime::kSlack + 63) / 64 * 64;
  void* data = std::aligned_alloc(64, size);
  if (data == nullptr)
    return base::fail(base::Code::out_of_memory, "", "no memory for a result").expected(std::to_string(bytes) + " bytes");
  return Memory{std::shared_ptr<const void>(data, [](const void* p) { std::free(const_cast<void*>(p)); }), data, bytes};
}

/// Memory for each result whose size follows from the input shapes alone; nothing for the others. That of the caller's is taken where it
/// is given.
base::Result<std::vector<Memory>> result_memory(const runtime::Program& program, std::span<const base::Tensor> inputs,
                                                std::span<const OutputBuffer> outputs) {
  std::vector<Memory> out(program.outputs.size());
  for (size_t k = 0; k < outputs.size(); ++k) out[k] = {nullptr, outputs[k].data, outputs[k].bytes};
  std::vector<std::vector<int64_t>> shapes;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const bool is_container = k < program.inputs.size() && program.inputs[k].container.kind != base::ValueKind::tensor;
    if (k >= program.inputs.size() || (!is_container && inputs[k].shape().size() != program.inputs[k].shape.size()))
      return out;  // run() says what is wrong
    shapes.push_back(inputs[k].shape());
  }
  if (inputs.size() != program.inputs.size()) return out;
  std::vector<int64_t> sizes;
  const std::vector<int64_t> lengths(program.states.size());  // of states at their initial values
  TRY(runtime::evaluate_sizes(program, 0, program.input_lines, {shapes, {}, lengths}, sizes));
  for (size_t k = 0; k < out.size(); ++k) {
    const runtime::BufferInfo& buffer = program.buffers[program.outputs[k].buffer];
    if (buffer.kind != runtime::BufferInfo::Kind::output) continue;
    std::vector<int64_t> shape;
    for (const runtime::Slot s : buffer.shape)
      if (s < program.input_lines) shape.push_back(sizes[s]);
    const auto count = checked_count(shape);
    if (shape.size() != buffer.shape.size() || !count || *count >= int64_t{1} << 50) continue;
    if (out[k].data != nullptr) TRY(check_shape(outputs[k], shape, program.outputs[k].name));
    else out[k] = TRY(allocate(static_cast<size_t>(base::bytes_of(buffer.dtype, *count))));
  }
  return out;
}

}  // namespace

base::Result<std::vector<Array>> run_once(Engine::State& state, std::span<const Array> inputs, std::span<const OutputBuffer> outputs,
                                          const RunOptions& options) {
  const size_t entry = TRY(state.entry_of(options.entry));
  const auto tensors = TRY(tensors_of(inputs, state.entries[entry].inputs));
  const runtime::Program& program = state.engine->program_for(tensors, entry);
  const runtime::RunOptions inner = TRY(Engine::State::run_options(options, program));
  const std::vector<Memory> memory = TRY(result_memory(program, tensors, outputs));
  Lease lease = TRY(Lease::take(state));
  for (size_t k = 0; k < memory.size(); ++k)
    if (memory[k].data) lease->bind_output(k, memory[k].data, memory[k].bytes, entry);
  lease->reset();
  const auto results = TRY(lease->run(tensors, inner, entry));
  std::vector<Array> out;
  for (size_t k = 0; k < results.size(); ++k) {
    const base::Tensor& t = results[k];
    const bool ours = memory[k].data != nullptr && t.data() == memory[k].data;
    if (k < outputs.size() && outputs[k].data != nullptr)
      out.push_back(TRY(moved_into(outputs[k], t, state.entries[entry].outputs[k].name)));
    else if (ours) out.emplace_back(t.dtype(), t.shape(), t.data(), static_cast<size_t>(t.byte_size()), memory[k].keeper);
    else out.push_back(TRY(owned_array(t)));
  }
  return out;
}

}  // namespace tenon::inline v1
