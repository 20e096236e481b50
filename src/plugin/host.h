// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/dim/dim.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

/// Receives log lines of libraries; called from any thread.
using Logger = std::function<void(tenon_severity severity, std::string_view library, std::string_view text)>;

/// The host functions of one library. Libraries keep pointers to the table, so a host is never destroyed.
class Host {
 public:
  Host(std::string library, Logger logger);
  Host(const Host&) = delete;
  /// One that lives as long as the process. Safe from several threads.
  static const Host& permanent(std::string library, Logger logger);

  const tenon_host* table() const { return &entry_.table; }
  /// Makes `acquire` fail, or work again. `tenon plugin test` checks with it how a library handles the failure.
  void refuse_resources(bool refuse) const { refuses_ = refuse; }
  /// How often resources were acquired and not yet released.
  size_t resource_holders() const;

 private:
  struct Entry {  // standard layout: a table is an entry
    tenon_host table;
    Host* host;
  };
  struct Shared {
    void* resource = nullptr;
    void (*destroy)(void*) = nullptr;
    size_t holders = 0;
  };
  static Host& of(const tenon_host* table);
  int32_t acquire(const char* key, const tenon_resource& maker, void** resource);
  int32_t release(const char* key);

  Entry entry_;
  std::string library_;
  Logger logger_;
  mutable std::atomic<bool> refuses_{false};
  mutable std::recursive_mutex lock_;  // making one resource may request another
  std::map<std::string, Shared, std::less<>> shared_;
};

/// The text that a library left with host->fail in this thread; empty: none.
std::string take_failure();
void set_failure(std::string_view text);
extern constinit thread_local bool has_failure;
/// Called before each function of a library: an earlier call may have left a text and returned TENON_OK.
inline void clear_failure() {
  if (has_failure) [[unlikely]]
    take_failure();
}

/// The handle of a size for libraries; valid in this thread until clear_dims().
tenon_dim handle_of(Dim dim);
/// The size of a handle. no_dim() for one that is neither a number nor from handle_of() since clear_dims().
Dim dim_of(tenon_dim handle);
/// A size that is equal to no other.
Dim no_dim();
void clear_dims();

}  // namespace tenon::plugin
