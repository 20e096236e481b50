// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx_model.h"

namespace tenon::import {

/// Parses one file, with its counters for the limits. Each message type has a function.
struct OnnxParser {
  SourcePlace place;
  OnnxLimits limits;
  int64_t nodes = 0, values = 0;  ///< read so far
  int depth = 0, graphs = 0;      ///< current nesting of messages, and of graphs

  Result<void> read(OnnxModel& out, std::string_view message);
  Result<void> read(OnnxGraph& out, std::string_view message);
  Result<void> read(OnnxFunction& out, std::string_view message);
  Result<void> read(OnnxNode& out, std::string_view message);
  Result<void> read(OnnxAttribute& out, std::string_view message);
  Result<void> read(Entry& out, std::string_view message);
  Result<void> read(OnnxTensor& out, std::string_view message);
  Result<void> read(OnnxSparse& out, std::string_view message);
  Result<void> read(OnnxValueInfo& out, std::string_view message);
  Result<void> read(OnnxOpset& out, std::string_view message);

  /// Appends the message of the reader's current field to `list`.
  template <class T>
  Result<void> append(std::vector<T>& list, ProtoReader& reader) {
    const std::string_view message = TRY(reader.bytes());
    list.emplace_back();
    return read(list.back(), message);
  }
  /// Reads a name, and checks its length.
  Result<std::string_view> name(ProtoReader& reader) const;
  Result<void> append_dim(std::vector<int64_t>& dims, ProtoReader& reader) const;
  /// Increments a counter. Errors: limit_exceeded.
  Result<void> count(int64_t& used, int64_t limit, std::string_view what, const char* at);
  /// The error of an exceeded limit.
  Error over(std::string_view what, int64_t limit, const char* at) const;

 private:
  Result<void> read_value(OnnxAttribute& out, ProtoReader& reader);
  Result<void> read_type(OnnxType& out, std::string_view message, OnnxType::Kind kind);
  Result<void> read_tensor_type(OnnxType& out, std::string_view message);
  Result<void> read_map_type(OnnxType& out, std::string_view message);
  Result<void> read_shape(OnnxType& out, std::string_view message);
};

/// Increments a depth counter for its lifetime.
struct DepthGuard {
  int& count;
  explicit DepthGuard(int& c) : count(c) { ++count; }
  ~DepthGuard() { --count; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
};

}  // namespace tenon::import
