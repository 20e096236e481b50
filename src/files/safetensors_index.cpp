// SPDX-License-Identifier: Apache-2.0
#include "files/safetensors_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "files/mapped_file.h"
#include "files/printable.h"

namespace tenon::files {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kMaxIndexBytes = 100'000'000;
constexpr size_t kMaxListedNames = 16;  ///< of each kind in one error

Error bad(const fs::path& index, std::string what, std::string expected, std::string found) {
  return fail(Code::bad_file, index.string(), "not a sound safetensors index: " + std::move(what))
      .expected(std::move(expected))
      .found(std::move(found))
      .advice("copy or download the checkpoint again");
}

/// Parses the index; nullopt where a key appears twice, or objects are nested deeply.
std::optional<Json> parse_index(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  bool sound = true;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    sound &= depth <= 4;
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) sound &= keys.back().insert(value.get_ref<const std::string&>()).second;
    return sound;
  };
  Json out = Json::parse(text.begin(), text.end(), watch, false);
  if (!sound || !out.is_object()) return std::nullopt;
  return out;
}

using WeightMap = std::map<std::string, std::set<std::string>>;  ///< tensors by shard

Result<WeightMap> read_weight_map(const fs::path& index) {
  const auto file = TRY(MappedFile::open(index));
  if (file->size() > kMaxIndexBytes)
    return fail(Code::limit_exceeded, index.string(), "the safetensors index is too long")
        .expected(fmt::format("at most {} bytes", kMaxIndexBytes))
        .found(std::to_string(file->size()))
        .advice("split the checkpoint into fewer tensors");
  const auto json = parse_index({reinterpret_cast<const char*>(file->bytes().data()), file->size()});
  if (!json) return bad(index, "it does not parse", "a JSON object, each key once", "something else");
  const auto map = json->find("weight_map");
  if (map == json->end() || !map->is_object()) return bad(index, "it has no weight_map", "an object of tensor names and files", "none");
  WeightMap out;
  for (const auto& [name, shard] : map->items()) {
    if (!shard.is_string()) return bad(index, "weight_map names no file for '" + printable(name) + "'", "a text", shard.type_name());
    const auto& location = shard.get_ref<const std::string&>();
    if (location.empty() || location == "." || location == ".." || location.find_first_of(std::string("/\\\0", 3)) != std::string::npos)
      return fail(Code::file_unsafe, index.string(), "a shard must lie in the folder of its index")
          .expected("the name of a file, without a folder")
          .found(printable(location))
          .advice("put all shards beside the index");
    out[location].insert(name);
  }
  return out;
}

/// Collects shards and tensors that are in only one of index and files, for one error.
class Differences {
 public:
  void add(const std::string& kind, std::string_view name) {
    auto& [count, names] = kinds_[kind];
    if (++count <= kMaxListedNames) names += (names.empty() ? "" : ", ") + printable(name);
  }
  bool empty() const { return kinds_.empty(); }
  std::string text() const {
    std::string out;
    for (const auto& [kind, found] : kinds_)
      out += fmt::format("{}{} {}: {}{}", out.empty() ? "" : "; ", found.first, kind, found.second,
                         found.first > kMaxListedNames ? ", ..." : "");
    return out;
  }

 private:
  std::map<std::string, std::pair<size_t, std::string>> kinds_;
};

/// "model" of model.safetensors.index.json.
std::string stem_of(const fs::path& index) {
  const std::string name = index.filename().string();
  return name.substr(0, name.find(".safetensors"));
}

void add_unlisted_shards(const fs::path& index, const WeightMap& map, Differences& differences) {
  const std::string stem = stem_of(index) + "-";
  std::error_code ignored;
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(index.parent_path().empty() ? "." : index.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(stem) && name.ends_with(".safetensors") && name.find("-of-") != std::string::npos && !map.contains(name))
      found.insert(name);
  }
  for (const std::string& name : found) differences.add("left-over shards", name);
}

void add_tensors(const SafeTensors& shard, const std::string& file, const std::set<std::string>& listed, Differences& differences) {
  std::set<std::string_view> held;
  for (const SafeTensors::Entry& entry : shard.entries) {
    held.insert(entry.name);
    if (!listed.contains(entry.name)) differences.add("left-over tensors", fmt::format("{} in {}", entry.name, file));
  }
  for (const std::string& name : listed) {
    if (!held.contains(name)) differences.add("missing tensors", fmt::format("{} in {}", name, file));
  }
}

void index_by_name(SafeTensorsCheckpoint& out) {
  for (const SafeTensors::Entry* entry : out.entries()) out.tensor_index.emplace(entry->name, &entry->tensor);
}

}  // namespace

const Tensor* SafeTensorsCheckpoint::find(std::string_view name) const {
  const auto at = tensor_index.find(name);
  return at == tensor_index.end() ? nullptr : at->second;
}

std::vector<const SafeTensors::Entry*> SafeTensorsCheckpoint::entries() const {
  std::vector<const SafeTensors::Entry*> out;
  for (const SafeTensors& shard : shards) {
    for (const SafeTensors::Entry& entry : shard.entries) out.push_back(&entry);
  }
  return out;
}

Result<SafeTensorsCheckpoint> read_safetensors_index(const fs::path& index) {
  const WeightMap map = TRY(read_weight_map(index));
  SafeTensorsCheckpoint out;
  Differences differences;
  for (const auto& [name, tensors] : map) {
    const fs::path path = index.parent_path() / name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
      differences.add("missing shards", name);
      continue;
    }
    out.shards.push_back(TRY(read_safetensors(path)));
    out.files.push_back(path);
    add_tensors(out.shards.back(), name, tensors, differences);
  }
  add_unlisted_shards(index, map, differences);
  if (!differences.empty())
    return fail(Code::bad_file, index.string(), "the shards do not hold what their index lists")
        .expected("every listed tensor in its shard, and no other")
        .found(differences.text())
        .advice("copy or download the checkpoint again, into an empty folder");
  index_by_name(out);
  return out;
}

Result<SafeTensorsCheckpoint> read_safetensors_folder(const fs::path& folder) {
  const fs::path whole = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
  std::error_code ignored;
  const bool has_whole = fs::exists(whole, ignored), has_index = fs::exists(index, ignored);
  if (has_whole && has_index)
    return fail(Code::bad_file, folder.string(), "the folder holds two checkpoints")
        .expected("model.safetensors or model.safetensors.index.json")
        .found("both")
        .advice("remove the one that is not wanted");
  if (has_index) return read_safetensors_index(index);
  if (!has_whole)
    return fail(Code::file_missing, folder.string(), "the folder holds no safetensors checkpoint")
        .expected("model.safetensors or model.safetensors.index.json")
        .found("neither")
        .advice("name the folder that the model was saved into");
  SafeTensorsCheckpoint out;
  out.shards.push_back(TRY(read_safetensors(whole)));
  out.files.push_back(whole);
  index_by_name(out);
  return out;
}

}  // namespace tenon::files
