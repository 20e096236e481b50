// SPDX-License-Identifier: Apache-2.0
#include "plugin/host.h"

#include <bit>

namespace tenon::plugin {

namespace {

thread_local std::string failure;

int32_t fail_with(const tenon_host*, int32_t status, const char* text) {
  leave_failure(text ? text : "");
  return status;
}

tenon_dim dim_of_number(const tenon_host*, int64_t number) { return handle_of(Dim(number)); }

tenon_dim dim_of_operation(const tenon_host*, int32_t operation, tenon_dim left, tenon_dim right) {
  const Dim a = dim_of(left), b = dim_of(right);
  switch (operation) {
    case TENON_ADD: return handle_of(a + b);
    case TENON_SUBTRACT: return handle_of(a - b);
    case TENON_MULTIPLY: return handle_of(a * b);
    case TENON_FLOOR_DIVIDE: return handle_of(floor_div(a, b));
    case TENON_CEIL_DIVIDE: return handle_of(ceil_div(a, b));
    case TENON_MIN: return handle_of(min(a, b));
    case TENON_MAX: return handle_of(max(a, b));
    case TENON_EQUAL: return handle_of(equal_to(a, b));
    case TENON_LESS: return handle_of(less_than(a, b));
    default: return handle_of(floor_div(a, 0));  // equals no size
  }
}

int32_t number_of(const tenon_host*, tenon_dim dim, int64_t* number) {
  const std::optional<int64_t> known = dim_of(dim).number();
  if (known && number) *number = *known;
  return known ? 1 : 0;
}

}  // namespace

constinit thread_local bool is_failure_left = false;

std::string take_failure() {
  is_failure_left = false;
  return std::exchange(failure, {});
}

void leave_failure(std::string_view text) {
  failure = text;
  is_failure_left = true;
}

static_assert(sizeof(Dim) == sizeof(tenon_dim));
tenon_dim handle_of(Dim dim) { return std::bit_cast<tenon_dim>(dim); }
Dim dim_of(tenon_dim handle) { return std::bit_cast<Dim>(handle); }

Host& Host::of(const tenon_host* table) { return *reinterpret_cast<const Entry*>(table)->host; }

Host::Host(std::string library, Logger logger) : entry_{}, library_(std::move(library)), logger_(std::move(logger)) {
  entry_.host = this;
  entry_.table = {
      .struct_size = sizeof(tenon_host),
      .version = TENON_PLUGIN_VERSION,
      .log =
          [](const tenon_host* table, int32_t severity, const char* text) {
            const Host& host = of(table);
            if (host.logger_ && text) host.logger_(static_cast<tenon_severity>(severity), host.library_, text);
          },
      .fail = fail_with,
      .dim = dim_of_number,
      .dim_of = dim_of_operation,
      .dim_number = number_of,
      .acquire = [](const tenon_host* table, const char* key, const tenon_resource* maker,
                    void** resource) { return of(table).acquire(key, *maker, resource); },
      .release = [](const tenon_host* table, const char* key) { return of(table).release(key); },
  };
}

int32_t Host::acquire(const char* key, const tenon_resource& maker, void** resource) {
  if (refuses_) return fail_with(nullptr, TENON_OUT_OF_MEMORY, "there is no room for a resource");
  const std::lock_guard held(lock_);
  Shared& shared = shared_[key];
  if (shared.holders == 0) {
    if (const int32_t status = maker.make(maker.argument, &shared.resource); status != TENON_OK) {
      shared_.erase(shared_.find(key));
      return status;
    }
    shared.destroy = maker.destroy;
  }
  ++shared.holders;
  *resource = shared.resource;
  return TENON_OK;
}

size_t Host::resource_holders() const {
  const std::lock_guard held(lock_);
  size_t out = 0;
  for (const auto& [key, shared] : shared_) out += shared.holders;
  return out;
}

int32_t Host::release(const char* key) {
  const std::lock_guard held(lock_);
  const auto found = shared_.find(std::string_view(key));
  if (found == shared_.end()) return fail_with(nullptr, TENON_FAILED, "nobody holds a resource of this key");
  if (--found->second.holders > 0) return TENON_OK;
  if (found->second.destroy) found->second.destroy(found->second.resource);
  shared_.erase(found);
  return TENON_OK;
}

}  // namespace tenon::plugin
