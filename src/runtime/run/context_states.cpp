// SPDX-License-Identifier: Apache-2.0
// The states of a context.
#include "runtime/run/context_state.h"
#include "runtime/run/state_file.h"

namespace tenon::runtime {

Result<void> Context::bind_state(size_t state, const Tensor& memory, int64_t length) {
  return state_->states->bind(static_cast<uint32_t>(state), memory, length);
}

void Context::reset() {
  for (size_t k = 0; k < state_->states->infos().size(); ++k) reset(k);
}

void Context::reset(size_t state) { state_->states->reset(static_cast<uint32_t>(state)); }

int64_t Context::length(size_t state) const { return state_->states->length(static_cast<uint32_t>(state)); }

Result<void> Context::set_length(size_t state, int64_t length) { return state_->states->truncate(static_cast<uint32_t>(state), length); }

Result<Tensor> Context::state_value(size_t state) const { return state_->states->value(static_cast<uint32_t>(state)); }

Result<std::unique_ptr<Context>> Context::fork() const {
  auto states = TRY(state_->states->copy());
  return std::unique_ptr<Context>(new Context(std::make_unique<State>(state_->engine, std::move(states))));
}

Result<std::string> Context::save_states() const { return saved_states(*state_->engine, *state_->states); }

Result<void> Context::restore_states(std::string_view bytes) { return read_states(bytes, *state_->engine, *state_->states); }

}  // namespace tenon::runtime
