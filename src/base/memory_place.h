// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::inline base {

class Tensor;

/// Where the bytes of a tensor lie: in host memory, or in that of a device.
struct MemoryPlace {
  std::string_view device = {};  ///< name of the device (runtime::Device::name), which lives for ever; empty: the host
  uint32_t number = 0;           ///< of the device among those of that name

  bool is_host() const { return device.empty(); }
  friend bool operator==(const MemoryPlace&, const MemoryPlace&) = default;
};
/// "host memory", "memory of device 'gpu' 1".
std::string text_of(const MemoryPlace& place);

/// Checks that the bytes of the tensor, or of all tensors in it, are in host memory. where: the place of the error. Errors: not_supported,
/// naming the memory. Cost: linear in the tensors.
Result<void> check_on_host(const Tensor& t, std::string_view where);

}  // namespace tenon::inline base
