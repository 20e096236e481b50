// SPDX-License-Identifier: Apache-2.0
// The states of a context.
#include "base/checked.h"
#include "files/atomic_write.h"
#include "files/mapped_file.h"

// Last: the public names come after the inner ones (see there).
#include "api/arrays.h"
#include "api/state.h"

namespace tenon::inline v1 {

namespace {

/// Errors: bad_input where bytes and shape do not fit.
base::Result<base::Tensor> memory_of(const OutputBuffer& memory, std::string_view name) {
  const auto count = checked_count(memory.shape);
  const bool fits = count && *count <= int64_t{1} << 50 && base::bits_of(memory.dtype) > 0 &&
                    memory.bytes == static_cast<size_t>(base::bytes_of(memory.dtype, *count)) &&
                    (memory.data != nullptr || memory.bytes == 0);
  if (fits) return base::Tensor::view(memory.dtype, memory.shape, memory.data, nullptr);
  return base::fail(base::Code::bad_input, "state '" + std::string(name) + "'", "the memory does not fit its type and shape")
      .expected(base::type_text(memory.dtype, memory.shape))
      .found(memory.data == nullptr ? "a null pointer" : std::to_string(memory.bytes) + " bytes");
}

std::string_view text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// call: given the runtime's context and the number of the state.
template <class State, class Call>
auto with_state(State& state, std::string_view name, Call call) {
  return guarded([&] {
    return published(
        [&]() -> decltype(call(*state.context, size_t{})) { return call(*state.context, TRY(state.engine->engine->state(name))); }());
  });
}

}  // namespace

Result<void> Context::bind_state(std::string_view name, const OutputBuffer& memory, int64_t length) {
  return with_state(*state_, name, [&](runtime::Context& context, size_t state) -> base::Result<void> {
    return context.bind_state(state, TRY(memory_of(memory, name)), length);
  });
}

Result<void> Context::unbind_state(std::string_view name) {
  return with_state(*state_, name, [](runtime::Context& context, size_t state) { return context.bind_state(state, base::Tensor()); });
}

void Context::reset() { state_->context->reset(); }

Result<void> Context::reset(std::string_view name) {
  return with_state(*state_, name, [](runtime::Context& context, size_t state) -> base::Result<void> {
    context.reset(state);
    return {};
  });
}

Result<int64_t> Context::length(std::string_view name) const {
  return with_state(*state_, name, [&](const runtime::Context& context, size_t state) -> base::Result<int64_t> {
    if (state_->engine->states[state].growing_axis) return context.length(state);
    return base::fail(base::Code::bad_usage, "state '" + std::string(name) + "'", "only growing states have a length")
        .expected("a growing state")
        .found(state_->engine->states[state].type);
  });
}

Result<void> Context::set_length(std::string_view name, int64_t length) {
  return with_state(*state_, name, [&](runtime::Context& context, size_t state) { return context.set_length(state, length); });
}

Result<Array> Context::state(std::string_view name) const {
  return with_state(*state_, name, [](const runtime::Context& context, size_t state) -> base::Result<Array> {
    return owned_array(TRY(context.state_value(state)));
  });
}

Result<Context> Context::fork() const {
  return guarded([&]() -> Result<Context> {
    auto made = state_->context->fork();
    if (!made) return std::unexpected(public_error(made.error()));
    return Context(std::make_unique<State>(state_->engine, std::move(*made)));
  });
}

Result<void> Context::save(const std::filesystem::path& path) const {
  return guarded(
      [&] { return published([&]() -> base::Result<void> { return files::write_file(path, TRY(state_->context->save_states())); }()); });
}

Result<std::vector<std::byte>> Context::bytes() const {
  return guarded([&] {
    return published([&]() -> base::Result<std::vector<std::byte>> {
      const std::string saved = TRY(state_->context->save_states());
      const auto bytes = std::as_bytes(std::span(saved));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    }());
  });
}

Result<void> Context::restore(const std::filesystem::path& path) {
  return guarded([&] {
    return published([&]() -> base::Result<void> {
      const auto file = TRY(files::MappedFile::open(path));
      return state_->context->restore_states(text_of(file->bytes()));
    }());
  });
}

Result<void> Context::restore(std::span<const std::byte> bytes) {
  return guarded([&] { return published(state_->context->restore_states(text_of(bytes))); });
}

}  // namespace tenon::inline v1
