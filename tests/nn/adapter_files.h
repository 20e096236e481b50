// SPDX-License-Identifier: Apache-2.0
// Writes adapter files in the formats of PEFT and llama.cpp.
#pragma once
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/tensor.h"

namespace tenon::nn::testing {

using NamedTensors = std::map<std::string, Tensor>;

inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
template <class T>
std::string bytes_as(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}
inline std::string bytes_of_tensor(const Tensor& t) {
  return {reinterpret_cast<const char*>(t.data()), static_cast<size_t>(t.byte_size())};
}

/// Writes f32 tensors as a .safetensors file.
inline void write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors) {
  std::string header, data;
  for (const auto& [name, t] : tensors) {
    header += fmt::format(R"({}"{}": {{"dtype": "F32", "shape": [{}], "data_offsets": [{}, {}]}})", header.empty() ? "" : ", ", name,
                          fmt::join(t.shape(), ", "), data.size(), data.size() + static_cast<size_t>(t.byte_size()));
    data += bytes_of_tensor(t);
  }
  header = "{" + header + "}";
  write_bytes(file, bytes_as(static_cast<uint64_t>(header.size())) + header + data);
}

/// Writes an adapter as a folder of PEFT.
inline void write_peft(const std::filesystem::path& folder, const std::string& config, const NamedTensors& tensors) {
  std::filesystem::create_directories(folder);
  write_bytes(folder / "adapter_config.json", config);
  write_safetensors(folder / "adapter_model.safetensors", tensors);
}

/// Writes a GGUF file: metadata of strings and f32 numbers, and f32 tensors.
inline void write_gguf(const std::filesystem::path& file, const std::map<std::string, std::variant<std::string, float>>& metadata,
                       const NamedTensors& tensors) {
  const auto text = [](const std::string& s) { return bytes_as(static_cast<uint64_t>(s.size())) + s; };
  std::string out =
      "GGUF" + bytes_as(uint32_t{3}) + bytes_as(static_cast<uint64_t>(tensors.size())) + bytes_as(static_cast<uint64_t>(metadata.size()));
  for (const auto& [key, value] : metadata) {
    out += text(key);
    if (const auto* s = std::get_if<std::string>(&value)) out += bytes_as(uint32_t{8}) + text(*s);
    else out += bytes_as(uint32_t{6}) + bytes_as(std::get<float>(value));
  }
  std::string data;
  const auto pad = [](std::string& s) { s.resize((s.size() + 31) / 32 * 32); };
  for (const auto& [name, t] : tensors) {
    pad(data);
    out += text(name) + bytes_as(static_cast<uint32_t>(t.rank()));
    for (int k = t.rank(); k-- > 0;) out += bytes_as(static_cast<uint64_t>(t.shape()[static_cast<size_t>(k)]));
    out += bytes_as(uint32_t{0}) + bytes_as(static_cast<uint64_t>(data.size()));
    data += bytes_of_tensor(t);
  }
  pad(out);
  write_bytes(file, out + data);
}

}  // namespace tenon::nn::testing
