// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/cpu.h"
#include "runtime/kernel_blob/kernel_blob.h"

namespace tenon::runtime {

namespace {

Error wrong_weights(std::string what, std::string expected, std::string found) {
  return fail(Code::bad_file, std::string(kKernelBlobPlace), std::move(what))
      .expected(std::move(expected))
      .found(std::move(found))
      .advice("build the engine again");
}

/// Checks that each weight fits at its offset, and that `weight_bytes` is not larger than all weights need: a damaged file must not cause a
/// large allocation.
Result<void> check_blob_weights(const KernelBlob& blob, std::span<const Tensor> weights) {
  const uint64_t weight_bytes = blob.programs.weight_bytes;
  if (weights.size() != blob.weight_offsets.size())
    return wrong_weights("the blob comes with another number of weights", std::to_string(blob.weight_offsets.size()),
                         std::to_string(weights.size()));
  uint64_t max_weight_bytes = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    TRY(check_on_host(weights[k], kKernelBlobPlace));
    const auto bytes = static_cast<uint64_t>(weights[k].byte_size());
    if (!weights[k].has_bytes() || blob.weight_offsets[k] > weight_bytes || bytes > weight_bytes - blob.weight_offsets[k] ||
        blob.weight_offsets[k] % 64 != 0)
      return wrong_weights(fmt::format("weight {} does not lie among those of the program", k),
                           fmt::format("{} bytes at a multiple of 64, below {}", bytes, weight_bytes),
                           std::to_string(blob.weight_offsets[k]));
    max_weight_bytes += static_cast<uint64_t>(round_up(static_cast<int64_t>(bytes + kSlack), 64));
  }
  if (weight_bytes <= max_weight_bytes) return {};
  return wrong_weights("the program has more bytes of weights than its weights take", fmt::format("at most {}", max_weight_bytes),
                       std::to_string(weight_bytes));
}

Result<CodeSection> choose_section(KernelBlob& blob, uint32_t target) {
  const auto found = std::ranges::find(blob.code, target, &CodeSection::target);
  if (found == blob.code.end()) {
    std::string targets;
    for (const CodeSection& c : blob.code) targets += fmt::format("{}{}", targets.empty() ? "" : ", ", c.target);
    return fail(Code::wrong_target, std::string(kKernelBlobPlace), "the blob has no code for this target")
        .expected(fmt::format("code for target {}", target))
        .found(targets.empty() ? "no code" : "code for " + targets)
        .advice("build the engine again, for this device");
  }
  if (!cpu_features().has_all(found->cpu_features))
    return fail(Code::wrong_target, std::string(kKernelBlobPlace), "this CPU cannot run the segment's code")
        .expected(found->cpu_features)
        .found(cpu_features().text());
  return std::move(*found);
}

/// Weights of a segment in memory of its device; freed with the engine.
struct DeviceWeights {
  std::shared_ptr<RunMemory> memory;
  std::byte* bytes = nullptr;
  uint64_t size = 0;

  DeviceWeights(std::shared_ptr<RunMemory> of, uint64_t room) : memory(std::move(of)), size(room) {}
  DeviceWeights(const DeviceWeights&) = delete;
  DeviceWeights& operator=(const DeviceWeights&) = delete;
  ~DeviceWeights() {
    if (bytes) memory->free(bytes, size);
  }
};

Result<std::shared_ptr<DeviceWeights>> copy_weights(const KernelBlob& blob, std::span<const Tensor> weights,
                                                    std::shared_ptr<RunMemory> memory) {
  auto out = std::make_shared<DeviceWeights>(memory, blob.programs.weight_bytes + kSlack);
  out->bytes = TRY(memory->allocate(out->size));
  TRY(memory->begin_run());
  for (size_t k = 0; k < weights.size(); ++k)
    if (weights[k].byte_size() > 0)
      std::memcpy(out->bytes + blob.weight_offsets[k], weights[k].data(), static_cast<size_t>(weights[k].byte_size()));
  memory->end_run();
  return out;
}

}  // namespace

Result<EngineParts> engine_parts(KernelBlob blob, uint32_t target, std::span<const Tensor> weights, std::shared_ptr<RunMemory> memory) {
  TRY(check_blob_weights(blob, weights));
  EngineParts out;
  out.code = TRY(choose_section(blob, target));
  const auto placed = TRY(copy_weights(blob, weights, memory));
  out.programs = std::move(blob.programs);
  out.weights = {placed->bytes, placed->size};
  out.keeper = placed;
  out.memory = std::move(memory);
  return out;
}

}  // namespace tenon::runtime
