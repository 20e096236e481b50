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

/// Each lies where the program reads it, and all take no more room than they need: a damaged size takes no memory.
Result<void> check_blob_weights(const KernelBlob& blob, std::span<const Tensor> weights) {
  const uint64_t all = blob.programs.weight_bytes;
  if (weights.size() != blob.weights.size())
    return wrong_weights("the blob comes with another number of weights", std::to_string(blob.weights.size()),
                         std::to_string(weights.size()));
  uint64_t most = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    TRY(check_on_host(weights[k], kKernelBlobPlace));
    const auto bytes = static_cast<uint64_t>(weights[k].byte_size());
    if (!weights[k].has_bytes() || blob.weights[k] > all || bytes > all - blob.weights[k] || blob.weights[k] % 64 != 0)
      return wrong_weights(fmt::format("weight {} does not lie among those of the program", k),
                           fmt::format("{} bytes at a multiple of 64, below {}", bytes, all), std::to_string(blob.weights[k]));
    most += static_cast<uint64_t>(round_up(static_cast<int64_t>(bytes + kSlack), 64));
  }
  if (all <= most) return {};
  return wrong_weights("the program has more bytes of weights than its weights take", fmt::format("at most {}", most), std::to_string(all));
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
  if (!cpu_features().has_all(found->needs))
    return fail(Code::wrong_target, std::string(kKernelBlobPlace), "this CPU cannot run the segment's code")
        .expected(found->needs)
        .found(cpu_features().text());
  return std::move(*found);
}

/// Memory of weights, freed with the engine.
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
      std::memcpy(out->bytes + blob.weights[k], weights[k].data(), static_cast<size_t>(weights[k].byte_size()));
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
