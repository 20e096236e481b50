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

/// What an engine keeps of a node that a plugin runs: whose it is, and what its object is made from when the engine is loaded.
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

/// Those of an engine, in the order of its blobs. Errors of decode: bad_file.
std::string encode_all(std::span<const std::string_view> encoded);
Result<std::vector<Saved>> decode_all(std::string_view bytes);

/// Whether a plugin of another build than the engine's will do.
enum class Build : uint8_t { same, any };

/// The op that each of these needs. Errors: not_supported, one for all that is missing or is of another build, by name, with what to do.
Result<std::vector<const Op*>> find_all(const Registry& plugins, std::span<const Saved> saved, Build build, const std::string& place);

}  // namespace tenon::plugin
