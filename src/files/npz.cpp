// SPDX-License-Identifier: Apache-2.0
#include "files/npz.h"

#include <fmt/format.h>

#include "files/atomic_write.h"
#include "files/mapped_file.h"
#include "files/zip.h"

namespace tenon::files {
namespace {

constexpr std::string_view kSuffix = ".npy";

Result<Tensor> read_member(const ZipEntry& entry, const std::string& place, const ArrayLimits& limits) {
  // A byte tensor is the buffer: aligned, and freed with the last view.
  Tensor buffer = TRY(Tensor::make(DType::u8, {static_cast<int64_t>(entry.size)}, limits.tensor_bytes));
  TRY(unpack(entry, {buffer.mutable_data(), static_cast<size_t>(entry.size)}, place));
  return read_npy({buffer.data(), static_cast<size_t>(entry.size)}, buffer.keeper(), place, limits);
}

}  // namespace

Result<NamedTensors> read_npz(std::span<const std::byte> bytes, const std::string& place, const ArrayLimits& limits) {
  const auto entries = TRY(read_zip(bytes, place));
  uint64_t total = 0;
  for (const ZipEntry& entry : entries) {
    if (__builtin_add_overflow(total, entry.size, &total) || total > static_cast<uint64_t>(limits.tensor_bytes)) {
      return fail(Code::limit_exceeded, place, "the npz archive is too large unpacked")
          .expected(fmt::format("at most {} bytes", limits.tensor_bytes))
          .found(fmt::format("more than that up to '{}'", entry.name));
    }
  }
  NamedTensors out;
  for (const ZipEntry& entry : entries) {
    if (!entry.name.ends_with(kSuffix)) continue;
    const std::string name = entry.name.substr(0, entry.name.size() - kSuffix.size());
    out.emplace_back(name, TRY(read_member(entry, place + ":" + entry.name, limits)));
  }
  return out;
}

Result<NamedTensors> read_npz(const std::filesystem::path& path, const ArrayLimits& limits) {
  const auto file = TRY(MappedFile::open(path));
  return read_npz(file->bytes(), path.string(), limits);
}

Result<void> write_npz(const std::filesystem::path& path, const NamedTensors& tensors) {
  AtomicFile file = TRY(AtomicFile::create(path));
  ZipWriter zip;
  for (const auto& [name, tensor] : tensors) {
    if (name.size() > 60000)
      return fail(Code::bad_input, path.string(), "a tensor's name is too long for a zip archive")
          .expected("at most 65535 bytes")
          .found(std::to_string(name.size()));
    TRY(check_on_host(tensor, path.string() + ", tensor '" + name + "'"));
    const std::string bytes = npy_bytes(tensor);
    TRY(file.append(zip.begin(name + std::string(kSuffix), bytes.size(), zip_crc(std::as_bytes(std::span(bytes))))));
    TRY(file.append(bytes));
  }
  TRY(file.append(zip.end()));
  return file.commit();
}

}  // namespace tenon::files
