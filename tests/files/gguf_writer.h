// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tenon::files {

/// Writes small GGUF files for tests, sound ones and others: nothing is checked.
class GgufWriter {
 public:
  uint32_t magic = 0x46554747, version = 3;
  uint64_t alignment = 32;
  int64_t more_tensors = 0, more_entries = 0;  ///< added to the counts that the file states

  template <class T>
  static std::string raw(T value) {
    std::string out(sizeof(T), '\0');
    std::memcpy(out.data(), &value, sizeof(T));
    return out;
  }
  static std::string text(const std::string& value) { return raw<uint64_t>(value.size()) + value; }
  /// Array elements are stored one behind the other.
  static std::string array(uint32_t type, uint64_t count, const std::string& elements) { return raw(type) + raw(count) + elements; }

  GgufWriter& add(const std::string& key, uint32_t type, const std::string& value) {
    metadata_ += text(key) + raw(type) + value;
    ++entries_;
    return *this;
  }
  GgufWriter& add_text(const std::string& key, const std::string& value) { return add(key, 8, text(value)); }
  template <class T>
  GgufWriter& add_number(const std::string& key, uint32_t type, T value) {
    return add(key, type, raw(value));
  }
  /// `sizes` in ggml's order; `bytes` are placed behind those before, aligned.
  GgufWriter& add_tensor(const std::string& name, const std::vector<uint64_t>& sizes, uint32_t type, const std::string& bytes) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    const uint64_t offset = data_.size();
    data_ += bytes;
    return add_tensor_at(name, sizes, type, offset);
  }
  GgufWriter& add_tensor_at(const std::string& name, const std::vector<uint64_t>& sizes, uint32_t type, uint64_t offset) {
    infos_ += text(name) + raw(static_cast<uint32_t>(sizes.size()));
    for (uint64_t size : sizes) infos_ += raw(size);
    infos_ += raw(type) + raw(offset);
    ++tensors_;
    return *this;
  }
  std::string file() const {
    std::string out = raw(magic) + raw(version) + raw(tensors_ + more_tensors) + raw(entries_ + more_entries) + metadata_ + infos_;
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    return out + data_;
  }

 private:
  std::string metadata_, infos_, data_;
  int64_t entries_ = 0, tensors_ = 0;
};

}  // namespace tenon::files
