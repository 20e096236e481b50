// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/gguf_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "files/gguf.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;
using files::Gguf;
using files::GgufType;
using files::GgufValue;

constexpr uint64_t kShownElements = 8;
constexpr size_t kShownText = 200;

/// The text cut to kShownText bytes; invalid UTF-8 becomes U+FFFD.
std::string shortened(std::string_view text) {
  size_t end = std::min(text.size(), kShownText);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  const std::string quoted = Json(std::string(text.substr(0, end))).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>() + (end < text.size() ? "..." : "");
}

/// JSON has no NaN and no infinity: their names. An f32 has the digits that it needs, not those of its double.
Json json_of_float(GgufType type, double number) {
  if (!std::isfinite(number)) return fmt::format("{}", number);
  return type == GgufType::f32 ? Json::parse(fmt::format("{}", static_cast<float>(number))) : Json(number);
}

Json json_of(const GgufValue& value) {
  if (const auto text = value.text()) return shortened(*text);
  if (const auto boolean = value.boolean()) return *boolean;
  if (const auto integer = value.integer()) return *integer;
  if (const auto number = value.number()) return json_of_float(value.type, *number);
  Json out = Json::array();
  for (const GgufValue& element : value.elements(kShownElements)) out.push_back(json_of(element));
  return out;
}

std::string type_text(const GgufValue& value) {
  if (value.type != GgufType::array) return std::string(name_of(value.type));
  return fmt::format("{}[{}]", name_of(value.element), value.count);
}

/// One line; of a text with several the escapes.
std::string value_text(const GgufValue& value) {
  std::string out = json_of(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (value.type == GgufType::array && value.count > kShownElements) out.insert(out.size() - 1, ",...");
  return out;
}

struct TypeCount {
  std::string_view type;
  int64_t tensors = 0, elements = 0;
  uint64_t bytes = 0;
};

/// The tensors by type, sorted by their bytes, largest first.
std::vector<TypeCount> types_of(const Gguf& file) {
  std::vector<TypeCount> out;
  for (const Gguf::Tensor& tensor : file.tensors) {
    auto at = std::ranges::find(out, tensor.format->name, &TypeCount::type);
    if (at == out.end()) at = out.insert(out.end(), {.type = tensor.format->name});
    ++at->tensors;
    at->elements += tensor.count();
    at->bytes += tensor.bytes.size();
  }
  std::ranges::sort(out, [](const TypeCount& a, const TypeCount& b) { return std::tuple(b.bytes, a.type) < std::tuple(a.bytes, b.type); });
  return out;
}

/// null where the file lacks the key or it is of another kind.
Json integer_at(const Gguf& file, const std::string& key) {
  const GgufValue* value = file.find(key);
  const auto number = value == nullptr ? std::nullopt : value->integer();
  return number ? Json(*number) : Json(nullptr);
}
Json text_at(const Gguf& file, const std::string& key) {
  const GgufValue* value = file.find(key);
  return value == nullptr || !value->text() ? Json(nullptr) : Json(shortened(*value->text()));
}

Json tokenizer_of(const Gguf& file) {
  const GgufValue* tokens = file.find("tokenizer.ggml.tokens");
  const bool listed = tokens != nullptr && tokens->type == GgufType::array;
  return {{"kind", text_at(file, "tokenizer.ggml.model")},
          {"pre", text_at(file, "tokenizer.ggml.pre")},
          {"tokens", listed ? Json(tokens->count) : Json(nullptr)},
          {"chat_template", file.find("tokenizer.chat_template") != nullptr}};
}

Json report(const std::string& path, const Gguf& file) {
  const std::string architecture(file.architecture());
  Json out = {{"file", path}, {"format", "gguf"}, {"version", file.version}, {"files", file.files}};
  out["architecture"] = architecture.empty() ? Json(nullptr) : Json(shortened(architecture));
  out["name"] = text_at(file, "general.name");
  int64_t parameters = 0;
  out["parameters"] = nullptr;
  out["context_length"] = integer_at(file, architecture + ".context_length");
  out["tokenizer"] = tokenizer_of(file);
  out["types"] = Json::array();
  for (const TypeCount& t : types_of(file)) {
    parameters += t.elements;
    out["types"].push_back({{"type", t.type}, {"tensors", t.tensors}, {"elements", t.elements}, {"bytes", t.bytes}});
  }
  out["parameters"] = parameters;
  out["tensors"] = Json::array();
  for (const Gguf::Tensor& t : file.tensors)
    out["tensors"].push_back({{"name", shortened(t.name)}, {"type", t.format->name}, {"shape", t.shape}, {"bytes", t.bytes.size()}});
  out["metadata"] = Json::array();
  for (const Gguf::Entry& e : file.metadata)
    out["metadata"].push_back({{"key", shortened(e.key)}, {"type", type_text(e.value)}, {"value", json_of(e.value)}});
  return out;
}

std::string or_unknown(const Json& value) { return value.is_null() ? "?" : value.is_string() ? value.get<std::string>() : value.dump(); }

void print_facts(const Json& report, const Gguf& file, Console& console) {
  const Json& tokenizer = report["tokenizer"];
  uint64_t bytes = 0;
  for (const Json& t : report["types"]) bytes += t["bytes"].get<uint64_t>();
  console.line(fmt::format("{}: GGUF version {}{}, {} tensors of {:.1f} MB", report["file"].get<std::string>(), file.version,
                           file.files.size() > 1 ? fmt::format(" in {} files", file.files.size()) : "", file.tensors.size(),
                           static_cast<double>(bytes) / 1e6));
  console.line();
  const std::string pre = tokenizer["pre"].is_null() ? "" : fmt::format(" ({})", tokenizer["pre"].get<std::string>());
  console.table({{"fact", "value"},
                 {"architecture", or_unknown(report["architecture"])},
                 {"name", or_unknown(report["name"])},
                 {"parameters", report["parameters"].dump()},
                 {"context length", or_unknown(report["context_length"])},
                 {"tokenizer", fmt::format("{}{}, {} tokens", or_unknown(tokenizer["kind"]), pre, or_unknown(tokenizer["tokens"]))},
                 {"chat template", tokenizer["chat_template"].get<bool>() ? "yes" : "no"}});
}

}  // namespace

Result<void> inspect_gguf(const std::string& path, Console& console) {
  const Gguf file = TRY(files::read_gguf(std::filesystem::path(path)));
  const Json facts = report(path, file);
  print_facts(facts, file, console);
  console.line();
  std::vector<std::vector<std::string>> rows = {{"type", "tensors", "elements", "bytes"}};
  for (const TypeCount& t : types_of(file))
    rows.push_back({std::string(t.type), std::to_string(t.tensors), std::to_string(t.elements), std::to_string(t.bytes)});
  console.table(rows);
  console.line();
  rows = {{"key", "type", "value"}};
  for (const Gguf::Entry& e : file.metadata) rows.push_back({shortened(e.key), type_text(e.value), value_text(e.value)});
  console.table(rows);
  console.object(facts);
  return {};
}

}  // namespace tenon::cli
