// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "plugin/object.h"
#include "plugin/tensor_views.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

/// The functions of the host that a library may call during `enqueue`. HostCall checks their arguments.
class CallServices {
 public:
  using Body = void (*)(void* argument, int64_t begin, int64_t end, int32_t thread);

  virtual ~CallServices() = default;
  /// count: at least 1, at most 2^56. body: not null. Returns a tenon_status, as all of them.
  virtual int32_t parallel_for(int64_t count, int64_t grain, Body body, void* argument) = 0;
  virtual bool stopped() const = 0;
  /// At most TENON_MAX_RANK sizes. data: not null.
  virtual int32_t set_sizes(uint32_t result, std::span<const int64_t> sizes, void** data) = 0;
  virtual int32_t run_graph(uint32_t graph, const tenon_tensor* const* operands, const tenon_tensor* const* results) = 0;
  virtual int32_t graph_ports(uint32_t graph, uint32_t* operands, uint32_t* results) = 0;
};

/// A tenon_call whose functions check their arguments and then call `services`. A bad argument sets the failure text and returns
/// TENON_FAILED.
class HostCall {
 public:
  /// services, operands, results: outlive this.
  HostCall(CallServices& services, const Object& object, const TensorViews& operands, const TensorViews& results);
  HostCall(const HostCall&) = delete;
  tenon_call* operator->() { return &entry_.call; }
  const tenon_call& get() const { return entry_.call; }

 private:
  struct Entry {  // standard layout: a call is an entry
    tenon_call call;
    CallServices* services;
  };
  static CallServices& services_of(const tenon_call* call) { return *reinterpret_cast<const Entry*>(call)->services; }

  Entry entry_;
};

}  // namespace tenon::plugin
