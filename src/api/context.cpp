// SPDX-License-Identifier: Apache-2.0
#include "api/arrays.h"
#include "api/named_arrays.h"
#include "api/output_buffers.h"
#include "api/state.h"

namespace tenon::inline v1 {

base::Result<std::vector<base::Tensor>> tensors_of(std::span<const Array> inputs, std::span<const Port> ports) {
  std::vector<base::Tensor> out;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const bool is_left_out =
        k < ports.size() && ports[k].has_default && inputs[k].kind() == ValueKind::tensor && inputs[k].dtype() == DType::none;
    out.push_back(is_left_out ? base::Tensor() : TRY(tensor_of(inputs[k], k < ports.size() ? ports[k].name : std::to_string(k))));
  }
  return out;
}

namespace {

/// The inner observer of steps: names each by its label and backend.
auto step_observer(const std::function<void(const StepTime&)>& on_step, const runtime::Program& program) {
  return [&on_step, &program](uint32_t number, auto begin, auto end) {
    const runtime::Step& step = program.steps[number];
    const auto* const segment = runtime::as<runtime::SegmentStep>(step);
    on_step({step.label, segment ? std::string_view(program.blobs[segment->blob].device) : "cpu", begin, end});
  };
}

}  // namespace

base::Result<runtime::RunOptions> Context::State::inner(const RunOptions& options, const runtime::Program& program) {
  if (options.threads < 0)
    return base::fail(base::Code::bad_usage, "threads", "a run cannot take a negative number of threads")
        .expected("0 (all of the thread pool) or more")
        .found(std::to_string(options.threads));
  runtime::RunOptions out;
  out.threads = options.threads;
  out.thread_pool = static_cast<base::ThreadPool*>(options.thread_pool.state_.get());
  out.deadline = options.deadline;
  out.check_memory = options.check_memory;
  out.seed = options.seed;
  if (options.stop) out.token = static_cast<const runtime::StopToken*>(options.stop->state_.get());
  if (options.on_step) out.on_step = step_observer(options.on_step, program);
  return out;
}

base::Result<runtime::RunOptions> Engine::State::run_options(const RunOptions& options, const runtime::Program& program) {
  return Context::State::inner(options, program);
}

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;
Context::~Context() = default;

Result<Context> Context::create(const Engine& engine) {
  return guarded([&]() -> Result<Context> {
    auto made = runtime::Context::create(engine.state_->engine);
    if (!made) return std::unexpected(public_error(made.error()));
    return Context(std::make_unique<State>(engine.state_, std::move(*made)));
  });
}

base::Result<std::span<const base::Tensor>> Context::State::run(std::span<const Array> inputs, const RunOptions& options, size_t entry) {
  const auto tensors = TRY(tensors_of(inputs, engine->entries[entry].inputs));
  return context->run(tensors, TRY(inner(options, engine->engine->program_for(tensors, entry))), entry);
}

Result<std::span<const Array>> Context::run(std::span<const Array> inputs, const RunOptions& options) {
  return run(options.entry, inputs, options);
}

Result<std::span<const Array>> Context::run(std::string_view entry, std::span<const Array> inputs, const RunOptions& options) {
  return guarded([&] {
    return published([&]() -> base::Result<std::span<const Array>> {
      const auto results = TRY(state_->run(inputs, options, TRY(state_->engine->entry_of(entry))));
      state_->results.clear();
      for (const base::Tensor& t : results) {
        TRY(base::check_on_host(t, "result"));
        state_->results.push_back(view_of(t));
      }
      return std::span<const Array>(state_->results);
    }());
  });
}

Result<Arrays> Context::run(const Arrays& inputs, const OutputBuffers& outputs, const RunOptions& options) {
  return guarded([&] {
    return published([&]() -> base::Result<Arrays> {
      const size_t entry = TRY(state_->engine->entry_of(options.entry));
      const Entry& ports = state_->engine->entries[entry];
      const auto ordered = TRY(in_order(inputs, ports.inputs));
      const auto buffers = TRY(buffers_in_order(outputs, ports.outputs));
      TRY(check_overlaps(ordered, buffers));
      const auto results = TRY(state_->run(ordered, options, entry));
      std::vector<Array> out;
      for (size_t k = 0; k < results.size(); ++k)
        out.push_back(buffers[k].data != nullptr ? TRY(moved_into(buffers[k], results[k], ports.outputs[k].name))
                                                 : TRY(owned_array(results[k])));
      return by_name(std::move(out), ports.outputs);
    }());
  });
}

Result<void> Context::bind_output(size_t index, void* memory, size_t bytes, std::string_view entry) {
  return guarded([&] {
    return published([&]() -> base::Result<void> {
      const size_t number = TRY(state_->engine->entry_of(entry));
      const size_t count = state_->engine->entries[number].outputs.size();
      if (index >= count)
        return base::fail(base::Code::index_out_of_range, "bind_output", "there is no such output")
            .expected("below " + std::to_string(count))
            .found(std::to_string(index))
            .advice("outputs are counted from 0");
      state_->context->bind_output(index, memory, bytes, number);
      return {};
    }());
  });
}

uint64_t Context::arena_bytes() const { return state_->context->arena_bytes(); }

}  // namespace tenon::inline v1
