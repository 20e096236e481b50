// SPDX-License-Identifier: Apache-2.0
#include "plugin/run/host_call.h"

#include "plugin/host.h"
#include "plugin/struct_versions.h"

namespace tenon::plugin {

namespace {

constexpr int64_t kMostPieces = int64_t{1} << 56;

int32_t refuse(const char* text) {
  set_failure(text);
  return TENON_FAILED;
}

}  // namespace

HostCall::HostCall(CallServices& services, const Object& object, const TensorViews& operands, const TensorViews& results)
    : entry_{blank<tenon_call>(), &services} {
  tenon_call& call = entry_.call;
  call.host = object.op().host->table();
  call.operand_count = operands.size();
  call.operands = operands.data();
  call.result_count = results.size();
  call.results = results.data();
  call.parallel_for = [](const tenon_call* call, int64_t count, int64_t grain, CallServices::Body body, void* argument) -> int32_t {
    if (count <= 0) return TENON_OK;
    if (!body) return refuse("parallel_for: there is no body");
    if (count > kMostPieces) return refuse("parallel_for: the count is too large");
    return services_of(call).parallel_for(count, grain, body, argument);
  };
  call.stopped = [](const tenon_call* call) -> int32_t { return services_of(call).stopped() ? 1 : 0; };
  call.set_sizes = [](const tenon_call* call, uint32_t result, int32_t rank, const int64_t* sizes, void** data) -> int32_t {
    if (rank < 0 || rank > TENON_MAX_RANK) return refuse("set_sizes: there is no such rank");
    if (!data || (rank > 0 && !sizes)) return refuse("set_sizes: a pointer is null");
    return services_of(call).set_sizes(result, {sizes, static_cast<size_t>(rank)}, data);
  };
  call.run_graph = [](const tenon_call* call, uint32_t graph, const tenon_tensor* const* operands, const tenon_tensor* const* results) {
    return services_of(call).run_graph(graph, operands, results);
  };
  call.graph_ports = [](const tenon_call* call, uint32_t graph, uint32_t* operands, uint32_t* results) {
    return services_of(call).graph_ports(graph, operands, results);
  };
}

}  // namespace tenon::plugin
