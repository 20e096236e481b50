// SPDX-License-Identifier: Apache-2.0
#include "plugin/host.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <unordered_set>

namespace tenon::plugin {

namespace {

thread_local std::string failure;
thread_local std::unordered_set<tenon_dim> symbolic_dims;  ///< dims that libraries got and that are no numbers

int32_t fail_with(const tenon_host*, int32_t status, const char* text) {
  set_failure(text ? text : "");
  return status;
}

tenon_dim dim_of_number(const tenon_host*, int64_t number) {
  constexpr int64_t kMost = int64_t{1} << 62;
  return number > -kMost && number < kMost ? handle_of(Dim(number)) : handle_of(no_dim());
}

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
    default: return handle_of(no_dim());
  }
}

int32_t number_of(const tenon_host*, tenon_dim dim, int64_t* number) {
  const std::optional<int64_t> known = dim_of(dim).number();
  if (known && number) *number = *known;
  return known ? 1 : 0;
}

}  // namespace

constinit thread_local bool has_failure = false;

std::string take_failure() {
  has_failure = false;
  return std::exchange(failure, {});
}

void set_failure(std::string_view text) {
  failure = text;
  has_failure = true;
}

static_assert(sizeof(Dim) == sizeof(tenon_dim));
tenon_dim handle_of(Dim dim) {
  const auto out = std::bit_cast<tenon_dim>(dim);
  if (!dim.is_number()) symbolic_dims.insert(out);
  return out;
}
Dim dim_of(tenon_dim handle) {
  const auto out = std::bit_cast<Dim>(handle);
  return out.is_number() || symbolic_dims.contains(handle) ? out : no_dim();
}
Dim no_dim() { return floor_div(Dim(1), Dim(0)); }
void clear_dims() { symbolic_dims.clear(); }

Host& Host::of(const tenon_host* table) { return *reinterpret_cast<const Entry*>(table)->host; }

const Host& Host::permanent(std::string library, Logger logger) {
  static std::mutex lock;
  static auto& all = *new std::deque<Host>;
  const std::lock_guard held(lock);
  return all.emplace_back(std::move(library), std::move(logger));
}

Host::Host(std::string library, Logger logger) : entry_{}, library_(std::move(library)), logger_(std::move(logger)) {
  entry_.host = this;
  entry_.table = {
      .struct_size = sizeof(tenon_host),
      .version = TENON_PLUGIN_VERSION,
      .log =
          [](const tenon_host* table, int32_t severity, const char* text) {
            const Host& host = of(table);
            const auto known_severity = static_cast<tenon_severity>(std::clamp<int32_t>(severity, TENON_LOG_ERROR, TENON_LOG_VERBOSE));
            if (host.logger_ && text) host.logger_(known_severity, host.library_, text);
          },
      .fail = fail_with,
      .dim = dim_of_number,
      .dim_of = dim_of_operation,
      .dim_number = number_of,
      .acquire = [](const tenon_host* table, const char* key, const tenon_resource* maker, void** resource) -> int32_t {
        if (!key || !maker || !maker->make || !resource) return fail_with(table, TENON_FAILED, "acquire needs a key, a maker and a place");
        return of(table).acquire(key, *maker, resource);
      },
      .release = [](const tenon_host* table, const char* key) { return of(table).release(key ? key : ""); },
  };
}

int32_t Host::acquire(const char* key, const tenon_resource& maker, void** resource) {
  if (refuses_) return fail_with(nullptr, TENON_OUT_OF_MEMORY, "there is no room for a resource");
  const std::lock_guard held(lock_);
  const auto [at, is_new] = shared_.try_emplace(key);
  Shared& shared = at->second;
  if (is_new) {
    if (const int32_t status = maker.make(maker.argument, &shared.resource); status != TENON_OK) {
      shared_.erase(at);
      return status;
    }
    shared.destroy = maker.destroy;
  } else if (shared.holders == 0) {
    return fail_with(nullptr, TENON_FAILED, "a resource is requested while it is made");
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
  if (found == shared_.end() || found->second.holders == 0) return fail_with(nullptr, TENON_FAILED, "nobody holds a resource of this key");
  if (--found->second.holders > 0) return TENON_OK;
  const Shared released = found->second;
  shared_.erase(found);  // later requests for the key, from `destroy` too, make another one
  if (released.destroy) released.destroy(released.resource);
  return TENON_OK;
}

}  // namespace tenon::plugin
