// SPDX-License-Identifier: Apache-2.0
#include "backend/zeros.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tenon::backend {

Result<Zeros> Zeros::make(std::span<const ir::ConstantRef> constants) {
  size_t most = 0;
  for (const ir::ConstantRef& c : constants) most = std::max(most, static_cast<size_t>(c->byte_size()));
  Zeros out;
  if (most == 0) return out;
  void* memory = mmap(nullptr, most, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return fail(Code::out_of_memory, "weights", "no memory for a trial of a segment")
        .expected(std::to_string(most) + " bytes")
        .found(std::strerror(errno));
  const std::shared_ptr<const void> keeper(memory, [most](const void* p) { munmap(const_cast<void*>(p), most); });
  for (const ir::ConstantRef& c : constants) out.tensors_.push_back(Tensor::view(c->dtype, c->shape, memory, keeper));
  return out;
}

}  // namespace tenon::backend
