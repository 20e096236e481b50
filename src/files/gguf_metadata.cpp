// SPDX-License-Identifier: Apache-2.0
#include "files/gguf_metadata.h"

#include <algorithm>

namespace tenon::files {
namespace {

constexpr uint32_t kVersion = 3;

template <class T>
void append(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_text(std::string& out, std::string_view text) {
  append<uint64_t>(out, text.size());
  out += text;
}

void append_entry(std::string& out, const Gguf::Entry& e) {
  append_text(out, e.key);
  append(out, static_cast<uint32_t>(e.value.type));
  if (e.value.type == GgufType::array) {
    append(out, static_cast<uint32_t>(e.value.element));
    append<uint64_t>(out, e.value.count);
  } else if (e.value.type == GgufType::string) {
    append<uint64_t>(out, e.value.bytes.size());
  }
  out.append(reinterpret_cast<const char*>(e.value.bytes.data()), e.value.bytes.size());
}

}  // namespace

std::string metadata_file(const Gguf& file, std::initializer_list<std::string_view> prefixes) {
  std::string entries;
  uint64_t count = 0;
  for (const Gguf::Entry& e : file.metadata) {
    if (!std::ranges::any_of(prefixes, [&](std::string_view prefix) { return e.key.starts_with(prefix); })) continue;
    append_entry(entries, e);
    ++count;
  }
  std::string out = "GGUF";
  append(out, kVersion);
  append<uint64_t>(out, 0);  // tensors
  append(out, count);
  return out + entries;
}

}  // namespace tenon::files
