// SPDX-License-Identifier: Apache-2.0
#include "api/arrays.h"
#include "api/run_once.h"
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
  out.guard = options.guard;
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
    return Context(std::make_unique<State>(State{engine.state_, std::move(*made), {}}));
  });
}

Result<std::span<const Array>> Context::run(std::span<const Array> inputs, const RunOptions& options) {
  return guarded([&]() -> Result<std::span<const Array>> {
    auto tensors = tensors_of(inputs, state_->engine->inputs);
    if (!tensors) return std::unexpected(public_error(tensors.error()));
    auto inner = State::inner(options, state_->engine->engine->program_for(*tensors));
    if (!inner) return std::unexpected(public_error(inner.error()));
    auto results = state_->context->run(*tensors, *inner);
    if (!results) return std::unexpected(public_error(results.error()));
    state_->results.clear();
    for (const base::Tensor& t : *results) {
      if (auto on_host = base::check_on_host(t, "result"); !on_host) return std::unexpected(public_error(on_host.error()));
      state_->results.push_back(view_of(t));
    }
    return std::span<const Array>(state_->results);
  });
}

Result<void> Context::bind_output(size_t index, void* memory, size_t bytes) {
  const size_t count = state_->engine->outputs.size();
  if (index >= count)
    return std::unexpected(Error{Code::index_out_of_range, "bind_output", "there is no such output", "below " + std::to_string(count),
                                 std::to_string(index), "outputs are counted from 0"});
  state_->context->bind_output(index, memory, bytes);
  return {};
}

uint64_t Context::arena_bytes() const { return state_->context->arena_bytes(); }

}  // namespace tenon::inline v1
