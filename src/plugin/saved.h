// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "plugin/field.h"

namespace tenon::plugin {

class Registry;
struct Op;

/// What an engine stores of a node that a plugin runs: the op and its library, and the arguments that its object is created with when the
/// engine is loaded.
struct Saved {
  std::string name_space, name, version;
  std::string library;     ///< its name
  std::string sha256;      ///< of the file that the engine was built with
  uint32_t interface = 0;  ///< TENON_PLUGIN_VERSION of the build
  std::string node;        ///< for messages
  std::vector<Field> fields;
  std::vector<DType> results;     ///< of the node
  std::vector<int32_t> operands;  ///< of the node: which operand of the segment each is; kMissing; kWeights - w for weight w of the blob
  std::vector<int32_t> places;    ///< of each result: which of the segment; kMissing: not requested
  int32_t tactic = 0;
  std::string tactic_name = {};       ///< as the plugin calls it
  std::vector<int32_t> layouts = {};  ///< tenon_layout of each operand, then of each result; empty: all row-major
  uint32_t graphs = 0;                ///< that it runs: runtime::Blob::graphs says which

  static constexpr int32_t kMissing = -1, kWeights = -2;
  std::string key() const { return name_space + "::" + name + ", version " + version; }
};

/// Numbered fields for ever; unknown ones are skipped. Errors of decode: bad_file.
std::string encode(const Saved& saved);
Result<Saved> decode_saved(std::string_view bytes);

/// A list of encoded Saved, of all plugin blobs of an engine in their order. Errors of decode: bad_file.
std::string encode_all(std::span<const std::string_view> encoded);
Result<std::vector<Saved>> decode_all(std::string_view bytes);

/// Which builds of a plugin may run an engine's nodes: the one that the engine was built with, or any.
enum class Build : uint8_t { same, any };

/// The op of each node. Errors: not_supported: one error that names all ops that are missing or are of another build.
Result<std::vector<const Op*>> find_all(const Registry& plugins, std::span<const Saved> saved, Build build, const std::string& place);

}  // namespace tenon::plugin
