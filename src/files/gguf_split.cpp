// SPDX-License-Identifier: Apache-2.0
// Checkpoints in several GGUF files, as llama.cpp's gguf-split writes them: NAME-00001-of-00003.gguf, with split.no (from 0), split.count
// and split.tensors.count in their metadata.
#include <fmt/format.h>

#include <iterator>

#include "files/gguf.h"
#include "files/mapped_file.h"
#include "files/printable.h"

namespace tenon::files {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxParts = 65'535;
constexpr size_t kMaxListedParts = 16;  ///< missing parts in one error

Error malformed_split(const std::string& file, std::string_view key, std::string what) {
  return fail(Code::bad_file, fmt::format("{}:{}", file, key), "not a sound part of a split GGUF checkpoint: " + what);
}

/// The number under a split.* key; 0 where the file has no such key.
Result<int64_t> split_number(const Gguf& part, std::string_view key) {
  const GgufValue* value = part.find(key);
  if (value == nullptr) return 0;
  const auto number = value->integer();
  if (!number || *number < 0 || (key != "split.tensors.count" && *number > kMaxParts))
    return malformed_split(part.files[0], key, "a number is not valid")
        .expected(fmt::format("an integer of 0 to {}", kMaxParts))
        .found(number ? std::to_string(*number) : std::string(name_of(value->type)))
        .advice("split the checkpoint again");
  return *number;
}

/// How the file name of part `part` (from 0) ends: "-00001-of-00003.gguf".
std::string suffix(int64_t part, int64_t count) { return fmt::format("-{:05}-of-{:05}.gguf", part + 1, count); }

Result<Gguf> read_part(const fs::path& path) {
  const auto file = TRY(MappedFile::open(path));
  return read_gguf(file->bytes(), file, path.string());
}

/// The paths of all parts, from the name of the first. Errors: bad_file, file_missing.
Result<std::vector<fs::path>> find_parts(const Gguf& first, const fs::path& path, int64_t count) {
  const std::string name = path.filename().string(), own_suffix = suffix(TRY(split_number(first, "split.no")), count);
  if (!name.ends_with(own_suffix))
    return malformed_split(path.string(), "split.no", "its name is not that of its part")
        .expected("a name that ends in " + own_suffix)
        .found(name)
        .advice("give the files the names again that they were split into");
  const std::string stem = name.substr(0, name.size() - own_suffix.size());
  if (own_suffix != suffix(0, count))
    return malformed_split(path.string(), "split.no", "not the first part")
        .expected("part 1")
        .found(own_suffix)
        .advice("open " + path.parent_path().append(stem + suffix(0, count)).string());
  std::vector<fs::path> out;
  std::string missing_names;
  size_t missing_count = 0;
  for (int64_t k = 0; k < count; ++k) {
    out.push_back(path.parent_path() / (stem + suffix(k, count)));
    std::error_code ignored;
    if (fs::exists(out.back(), ignored)) continue;
    if (++missing_count <= kMaxListedParts) missing_names += (missing_names.empty() ? "" : ", ") + out.back().filename().string();
  }
  if (missing_count > 0)
    return fail(Code::file_missing, path.string(), fmt::format("{} of {} parts of the checkpoint are missing", missing_count, count))
        .expected("beside the first: " + missing_names + (missing_count > kMaxListedParts ? ", ..." : ""))
        .found(fmt::format("{} parts", static_cast<size_t>(count) - missing_count))
        .advice("put all parts into one folder");
  return out;
}

/// Adds the tensors of part `number` (from 0) of `count` to `out`.
Result<void> append(Gguf& out, Gguf part, int64_t number, int64_t count) {
  const int64_t part_number = TRY(split_number(part, "split.no")), part_count = TRY(split_number(part, "split.count"));
  if (part_number != number || part_count != count)
    return malformed_split(part.files[0], "split.no", "a part of another checkpoint")
        .expected(fmt::format("part {} of {}", number + 1, count))
        .found(fmt::format("part {} of {}", part_number + 1, part_count))
        .advice("put the parts of one checkpoint into a folder of their own");
  for (Gguf::Tensor& tensor : part.tensors) {
    if (!out.tensor_index.emplace(tensor.name, out.tensors.size()).second)
      return fail(Code::bad_file, part.files[0] + ":" + printable(tensor.name), "two parts hold a tensor of the same name")
          .expected("each name once")
          .found("another in " + out.files[out.find_tensor(tensor.name)->part])
          .advice("put the parts of one checkpoint into a folder of their own");
    tensor.part = static_cast<uint32_t>(number);
    out.tensors.push_back(std::move(tensor));
  }
  out.files.push_back(part.files[0]);
  out.keepers.insert(out.keepers.end(), part.keepers.begin(), part.keepers.end());
  return {};
}

}  // namespace

Result<Gguf> read_gguf(const fs::path& path) {
  Gguf out = TRY(read_part(path));
  const int64_t count = TRY(split_number(out, "split.count"));
  if (count <= 1) return out;
  const auto paths = TRY(find_parts(out, path, count));
  for (int64_t k = 1; k < count; ++k) TRY(append(out, TRY(read_part(paths[static_cast<size_t>(k)])), k, count));
  const int64_t tensors = TRY(split_number(out, "split.tensors.count"));
  if (out.find("split.tensors.count") != nullptr && tensors != std::ssize(out.tensors))
    return malformed_split(path.string(), "split.tensors.count", "the parts do not hold all tensors")
        .expected(fmt::format("{} tensors", tensors))
        .found(std::to_string(out.tensors.size()))
        .advice("split the checkpoint again");
  return out;
}

}  // namespace tenon::files
