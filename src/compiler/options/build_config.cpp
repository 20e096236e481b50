// SPDX-License-Identifier: Apache-2.0
#include "compiler/options/build_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/options/build_config_json.h"
#include "files/mapped_file.h"

namespace tenon::compiler {
namespace {

constexpr std::string_view kPlugins = "plugin_config";

Error unsupported(const BuildConfigJson& json, const BuildConfigField& field, std::string_view how, std::string_view why) {
  const nlohmann::json value = json.value(field);
  return fail(Code::not_supported, json.place_of(field.object, field.name), fmt::format("{}: {}", how, why))
      .expected(fmt::format("{}, the standard value", field.standard))
      .found(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 60));
}

/// Whether the value asks for nothing: null, false, an empty one.
bool is_nothing(const nlohmann::json& value) { return value.empty() || value == false || value == ""; }

/// A member of an object that is a field's value; null where it is missing.
nlohmann::json member_of(const nlohmann::json& object, const char* name) {
  return object.is_object() && object.contains(name) ? object[name] : nlohmann::json();
}

/// Errors: not_supported for a value of a field that is refused.
Result<void> check_supported(const BuildConfigJson& json, const BuildConfigField& field) {
  const bool is_later = field.use == FieldUse::not_yet;
  if (!is_later && field.use != FieldUse::refused) return {};
  nlohmann::json value = json.value(field);
  if (field.name == "lora_config") value = member_of(value, "lora_dir");
  if (field.name == "auto_parallel_config") {
    value = member_of(value, "world_size");
    if (value.is_number() && value.get<double>() <= 1) return {};
  }
  const std::string standard = nlohmann::json::parse(field.standard).dump();
  if (is_nothing(value) || value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) == standard) return {};
  if (value == "MEDUSA" || value == "LOOKAHEAD_DECODING" || value == "EAGLE")
    return unsupported(json, field, "not supported", "checkpoints with heads for drafts are not read");
  return unsupported(json, field, is_later ? "not supported yet" : "not supported", field.meaning);
}

Result<void> check_types_of_plugins(const BuildConfigJson& json, const BuildConfigField& field) {
  const nlohmann::json value = json.value(field);
  if (field.object == kPlugins && (value == "fp8" || value == "nvfp4"))
    return unsupported(json, field, "not supported", "products of FP8 and NVFP4: CPUs have none");
  return {};
}

/// The type of cache, by kv_cache_type and paged_kv_cache. Errors: not_supported (pages); bad_input where the two contradict each other.
Result<bool> has_cache(const BuildConfigJson& json) {
  const nlohmann::json type = json.value("kv_cache_type"), paged = json.value("paged_kv_cache", kPlugins);
  const std::string name = type.is_null() ? "" : type.get<std::string>();
  if (!name.empty() && paged.is_boolean() && paged.get<bool>() != (name == "PAGED"))
    return fail(Code::bad_input, json.place_of(kPlugins, "paged_kv_cache"), "it contradicts kv_cache_type")
        .expected(fmt::format("{} or null for {}", name == "PAGED", name))
        .found(paged.dump());
  if (name == "PAGED" || paged == true)
    return unsupported(json, *find_build_config_field(name.empty() ? kPlugins : "", name.empty() ? "paged_kv_cache" : "kv_cache_type"),
                       "not supported yet", "caches in pages")
        .expected("CONTINUOUS, DISABLED or null")
        .advice("CONTINUOUS gives the same answers");
  return name != "DISABLED";
}

int64_t integer_or_0(const nlohmann::json& value) { return value.is_null() ? 0 : value.get<int64_t>(); }

}  // namespace

std::string BuildConfig::session_limits() const {
  nlohmann::json out = nlohmann::json::object();
  if (most_input > 0) out["max_input_len"] = most_input;
  if (chunk > 0) out["opt_num_tokens"] = chunk;
  return out.empty() ? "" : out.dump();
}

std::string BuildConfig::identity() const {
  return fmt::format("{} {} {} {} {} {} {}", context, most_input, most_tokens, chunk, has_cache, all_logits, plain_attention);
}

Result<BuildConfig> parse_build_config(std::string_view text, std::string place) {
  const BuildConfigJson json = TRY(BuildConfigJson::parse(text, place));
  for (const BuildConfigField& field : build_config_fields()) {
    TRY(check_supported(json, field));
    TRY(check_types_of_plugins(json, field));
  }
  BuildConfig out{.place = std::move(place), .max_seq_len = json.place_of("", "max_seq_len")};
  out.has_cache = TRY(has_cache(json));
  out.context = integer_or_0(json.value("max_seq_len"));
  out.most_input = integer_or_0(json.value("max_input_len"));
  out.most_tokens = integer_or_0(json.value("max_num_tokens"));
  out.chunk = integer_or_0(json.value("opt_num_tokens"));
  if (out.chunk > out.most_tokens)
    return fail(Code::bad_input, json.place_of("", "opt_num_tokens"), "a chunk has more tokens than a run may have")
        .expected(fmt::format("at most max_num_tokens, {}", out.most_tokens))
        .found(std::to_string(out.chunk));
  out.all_logits = json.value("gather_context_logits").get<bool>();
  out.plain_attention = json.value("gpt_attention_plugin", kPlugins).is_null();
  out.dry_run = json.value("dry_run").get<bool>();
  return out;
}

Result<BuildConfig> read_build_config(const std::filesystem::path& file) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 20;
  const auto mapped = TRY(files::MappedFile::open(file));
  if (mapped->size() > kMostBytes)
    return fail(Code::limit_exceeded, file.string(), "the file is too large for a BuildConfig")
        .expected("at most 1 MB")
        .found(fmt::format("{} bytes", mapped->size()));
  return parse_build_config({reinterpret_cast<const char*>(mapped->bytes().data()), mapped->size()}, file.string());
}

Result<BuildConfig> build_config_of(const std::filesystem::path& file, std::string_view text) {
  if (!text.empty()) return parse_build_config(text, "BuildConfig");
  return file.empty() ? BuildConfig() : read_build_config(file);
}

Result<void> refuse_dry_run(const BuildConfig& config) {
  if (!config.dry_run) return {};
  return fail(Code::not_supported, config.place + ", dry_run", "a dry run makes no engine")
      .expected("false")
      .found("true")
      .advice("`tenon build --build-config` plans and prints the sizes");
}

}  // namespace tenon::compiler
