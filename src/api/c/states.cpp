// SPDX-License-Identifier: Apache-2.0
// States of the contexts of the C interface.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "api/c/context.h"

// Functions of C are in no namespace.
using namespace tenon::v1;
namespace base = tenon::base;

namespace {

/// act: given the C++ context, where neither the context nor the name is null.
template <class State, class Act>
int32_t with_state(State* context, const char* name, tenon_error** error, Act act) noexcept {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    TRY(check_not_null(name, "name"));
    return act(context->context);
  });
}

}  // namespace

extern "C" {

int32_t tenon_context_bind_state(tenon_context* context, const char* name, const tenon_array* memory, int64_t length, tenon_error** error) {
  return with_state(context, name, error,
                    [&](Context& c) -> base::Result<void> { return inner(c.bind_state(name, TRY(buffer_of(memory, "memory")), length)); });
}

int32_t tenon_context_unbind_state(tenon_context* context, const char* name, tenon_error** error) {
  return with_state(context, name, error, [&](Context& c) { return inner(c.unbind_state(name)); });
}

int32_t tenon_context_reset(tenon_context* context, const char* name, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    if (name != nullptr) return inner(context->context.reset(name));
    context->context.reset();
    return {};
  });
}

int32_t tenon_context_length(const tenon_context* context, const char* name, int64_t* length, tenon_error** error) {
  return with_state(context, name, error, [&](const Context& c) -> base::Result<void> {
    TRY(check_not_null(length, "length"));
    *length = TRY(inner(c.length(name)));
    return {};
  });
}

int32_t tenon_context_set_length(tenon_context* context, const char* name, int64_t length, tenon_error** error) {
  return with_state(context, name, error, [&](Context& c) { return inner(c.set_length(name, length)); });
}

int32_t tenon_context_state(tenon_context* context, const char* name, tenon_array* value, tenon_error** error) {
  return with_state(context, name, error, [&](const Context& c) -> base::Result<void> {
    TRY(check_not_null(value, "value"));
    context->state = TRY(inner(c.state(name)));
    const auto states = context->engine.states();
    const auto info = std::ranges::find(states, std::string_view(name), &StateInfo::name);
    return write_struct(value, TRY(c_array_of(context->state, info->name.c_str(), context->state_strings)), "value");
  });
}

int32_t tenon_context_fork(const tenon_context* context, tenon_context** fork, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    TRY(check_not_null(fork, "fork"));
    Context made = TRY(inner(context->context.fork()));
    *fork = new tenon_context{context->engine, std::move(made), context->threads, context->pool};
    return {};
  });
}

int32_t tenon_context_save(const tenon_context* context, const char* path, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    TRY(check_not_null(path, "path"));
    return inner(context->context.save(path));
  });
}

int32_t tenon_context_save_bytes(const tenon_context* context, void** bytes, size_t* size, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    TRY(check_not_null(bytes, "bytes"));
    TRY(check_not_null(size, "size"));
    const std::vector<std::byte> saved = TRY(inner(context->context.bytes()));
    void* const memory = std::malloc(std::max<size_t>(saved.size(), 1));
    if (memory == nullptr)
      return refusal(Code::out_of_memory, "bytes", "no memory for the saved states", std::to_string(saved.size()) + " bytes", "none",
                     "free memory");
    std::memcpy(memory, saved.data(), saved.size());
    *bytes = memory;
    *size = saved.size();
    return {};
  });
}

void tenon_bytes_free(void* bytes) { std::free(bytes); }

int32_t tenon_context_restore(tenon_context* context, const char* path, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    TRY(check_not_null(path, "path"));
    return inner(context->context.restore(path));
  });
}

int32_t tenon_context_restore_bytes(tenon_context* context, const void* bytes, size_t size, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    TRY(check_not_null(bytes, "bytes"));
    return inner(context->context.restore(std::span(static_cast<const std::byte*>(bytes), size)));
  });
}

}  // extern "C"
