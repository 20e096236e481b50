// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become an engine whose sections lie inside the file, or one error. The first byte asks for hashes
// to be put right, so that the fuzzer gets past them.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/reader.h"

namespace {

using namespace tenon;

template <class T>
T load(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

void repair(std::string& bytes) {
  if (bytes.size() < sizeof(engine::Header)) return;
  auto header = load<engine::Header>(bytes, 0);
  const auto view = std::as_bytes(std::span(bytes));
  const size_t count = std::min<size_t>(header.sections, (bytes.size() - sizeof(header)) / sizeof(engine::TableEntry));
  for (size_t i = 0; i < count; ++i) {
    const size_t at = sizeof(header) + i * sizeof(engine::TableEntry);
    auto entry = load<engine::TableEntry>(bytes, at);
    if (entry.offset > bytes.size() || entry.length > bytes.size() - entry.offset) continue;
    entry.hash = hash128(view.subspan(entry.offset, entry.length));
    std::memcpy(bytes.data() + at, &entry, sizeof(entry));
  }
  header.magic = engine::kMagic;
  header.major = engine::kMajor;
  header.byte_order = engine::kByteOrder;
  header.file_size = bytes.size();
  header.table_hash = hash128(view.subspan(sizeof(header), count * sizeof(engine::TableEntry)));
  header.header_hash = hash128(std::as_bytes(std::span(&header, 1)).first(offsetof(engine::Header, header_hash))).low;
  std::memcpy(bytes.data(), &header, sizeof(header));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] & 1) repair(bytes);
  const auto reader = engine::Reader::open(std::as_bytes(std::span(bytes)), nullptr, "fuzz");
  if (!reader) {
    if (reader.error().code() == Code::internal) std::abort();
    return 0;
  }
  (void)reader->verify_all();
  size_t sum = 0;
  for (const engine::Section& section : reader->sections()) {
    for (std::byte b : section.bytes) sum += std::to_integer<size_t>(b);
  }
  return sum == SIZE_MAX ? 1 : 0;
}
