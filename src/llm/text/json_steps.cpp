// SPDX-License-Identifier: Apache-2.0
#include "llm/text/json_steps.h"

#include <fmt/format.h>

#include "files/printable.h"

namespace tenon::llm {
namespace {

/// {"String": "..."} or {"Regex": "..."}.
Result<Finder> finder_of(std::string_view kind, const Json& step, std::string_view place) {
  const Json* pattern = member(step, "pattern");
  if (pattern) {
    if (auto text = text_member(*pattern, "String")) return find_text(std::move(*text));
    if (const auto regex = text_member(*pattern, "Regex")) return find_regex(TRY(Regex::compile(*regex, place)));
  }
  return incomplete_step(kind, step, "pattern", place);
}

Result<SplitBehavior> behavior_of(const Json& step, std::string_view place) {
  const std::string name = text_member(step, "behavior").value_or("Isolated");
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  return incomplete_step("pre-tokenizer", step, "behavior", place);
}

Result<PrependScheme> prepend_scheme_of(const Json& step, std::string_view place) {
  const bool always = flag_member(step, "add_prefix_space", true);  // of older files
  const std::string name = text_member(step, "prepend_scheme").value_or(always ? "always" : "never");
  if (name == "always") return PrependScheme::always;
  if (name == "first") return PrependScheme::first;
  if (name == "never") return PrependScheme::never;
  return incomplete_step("pre-tokenizer", step, "prepend_scheme", place);
}

Result<Normalizer> normalizer_of(const Json& step, std::string_view place) {
  const std::string type = type_of_step(step);
  if (type == "NFC") return normal_form(NormalForm::nfc);
  if (type == "NFD") return normal_form(NormalForm::nfd);
  if (type == "NFKC") return normal_form(NormalForm::nfkc);
  if (type == "NFKD") return normal_form(NormalForm::nfkd);
  if (type == "Lowercase") return lower_cased();
  if (type == "StripAccents") return without_accents();
  if (type == "ByteLevel") return byte_characters();
  if (type == "Strip") return stripped(flag_member(step, "strip_left", true), flag_member(step, "strip_right", true));
  if (type == "Prepend" || type == "Replace") {
    auto content = text_member(step, type == "Prepend" ? "prepend" : "content");
    if (!content) return incomplete_step("normalizer", step, type == "Prepend" ? "prepend" : "content", place);
    if (type == "Prepend") return prepended(std::move(*content));
    return replaced(TRY(finder_of("normalizer", step, place)), std::move(*content));
  }
  return unsupported_step("normalizer", step, place);
}

Result<PreTokenizer> pre_tokenizer_of(const Json& step, std::string_view place) {
  const std::string type = type_of_step(step);
  if (type == "ByteLevel") return byte_level(flag_member(step, "add_prefix_space", true), flag_member(step, "use_regex", true));
  if (type == "Digits") return digits(flag_member(step, "individual_digits", false));
  if (type == "Punctuation") return punctuation(TRY(behavior_of(step, place)));
  if (type == "Whitespace") return white_space(true);
  if (type == "WhitespaceSplit") return white_space(false);
  if (type == "Split")
    return split_by(TRY(finder_of("pre-tokenizer", step, place)), TRY(behavior_of(step, place)), flag_member(step, "invert", false));
  if (type == "CharDelimiterSplit") {
    auto delimiter = text_member(step, "delimiter");
    if (!delimiter) return incomplete_step("pre-tokenizer", step, "delimiter", place);
    return split_by(find_text(std::move(*delimiter)), SplitBehavior::removed);
  }
  if (type == "Metaspace") {
    auto replacement = text_member(step, "replacement");
    if (!replacement || replacement->empty()) return incomplete_step("pre-tokenizer", step, "replacement", place);
    return metaspace(std::move(*replacement), TRY(prepend_scheme_of(step, place)), flag_member(step, "split", true));
  }
  return unsupported_step("pre-tokenizer", step, place);
}

/// Calls visit(step) for a step, or for those of a Sequence, in order; none is nothing.
template <class Visit>
Result<void> each_step(const Json* step, std::string_view kind, std::string_view list, std::string_view place, const Visit& visit) {
  if (!step) return {};
  if (type_of_step(*step) != "Sequence") return visit(*step);
  const Json* steps = member(*step, list);
  if (!steps || !steps->is_array()) return incomplete_step(kind, *step, list, place);
  for (const Json& inner : *steps) TRY(each_step(&inner, kind, list, place, visit));
  return {};
}

/// The ids of a special token of a template.
Result<std::vector<TokenId>> template_ids(const Json& step, const std::string& name, std::string_view place) {
  const Json* tokens = member(step, "special_tokens");
  const Json* token = tokens ? member(*tokens, name) : nullptr;
  const Json* ids = token ? member(*token, "ids") : nullptr;
  std::vector<TokenId> out;
  if (!ids || !ids->is_array()) return incomplete_step("post-processor", step, "special_tokens", place);
  for (const Json& id : *ids) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= static_cast<uint64_t>(kMostTokens))
      return incomplete_step("post-processor", step, "ids", place);
    out.push_back(id.get<TokenId>());
  }
  return out;
}

/// Source: tokenizers' TemplateProcessing, of which `single` counts.
Result<void> read_template(const Json& step, TokenizerParts& parts, std::string_view place) {
  const Json* single = member(step, "single");
  if (!single || !single->is_array()) return incomplete_step("post-processor", step, "single", place);
  std::vector<TokenId> prefix, suffix;
  int texts = 0;
  for (const Json& item : *single) {
    if (member(item, "Sequence")) {
      ++texts;
      continue;
    }
    const Json* special = member(item, "SpecialToken");
    const auto name = special ? text_member(*special, "id") : std::nullopt;
    if (!name) return incomplete_step("post-processor", step, "single", place);
    for (const TokenId id : TRY(template_ids(step, *name, place))) (texts ? suffix : prefix).push_back(id);
  }
  if (texts != 1) return incomplete_step("post-processor", step, "single", place);
  parts.prefix.insert(parts.prefix.begin(), prefix.begin(), prefix.end());
  parts.suffix.insert(parts.suffix.end(), suffix.begin(), suffix.end());
  return {};
}

}  // namespace

std::string type_of_step(const Json& step) { return text_member(step, "type").value_or(""); }

Error unsupported_step(std::string_view kind, const Json& step, std::string_view place) {
  const std::string type = type_of_step(step);
  if (type.empty())
    return fail(Code::bad_file, std::string(place), fmt::format("a {} has no type", kind))
        .expected("an object with \"type\"")
        .found(step.type_name());
  return fail(Code::not_supported, std::string(place), fmt::format("not supported yet: the {} {}", kind, files::printable(type)))
      .expected("steps of byte pair encodings")
      .found(files::printable(type));
}

Error incomplete_step(std::string_view kind, const Json& step, std::string_view field, std::string_view place) {
  return fail(Code::bad_file, std::string(place),
              fmt::format("the {} {} lacks a sound '{}'", kind, files::printable(type_of_step(step)), field))
      .expected("the format of tokenizer.json")
      .found("another value, or none");
}

Result<std::vector<Normalizer>> json_normalizers(const Json* step, std::string_view place) {
  std::vector<Normalizer> out;
  TRY(each_step(step, "normalizer", "normalizers", place, [&](const Json& inner) -> Result<void> {
    out.push_back(TRY(normalizer_of(inner, place)));
    return {};
  }));
  return out;
}

Result<std::vector<PreTokenizer>> json_pre_tokenizers(const Json* step, std::string_view place) {
  std::vector<PreTokenizer> out;
  TRY(each_step(step, "pre-tokenizer", "pretokenizers", place, [&](const Json& inner) -> Result<void> {
    out.push_back(TRY(pre_tokenizer_of(inner, place)));
    return {};
  }));
  return out;
}

Result<void> read_post_processor(const Json* step, TokenizerParts& parts, std::string_view place) {
  return each_step(step, "post-processor", "processors", place, [&](const Json& inner) -> Result<void> {
    const std::string type = type_of_step(inner);
    if (type == "ByteLevel") return {};  // of places in the text, which are not given
    if (type == "TemplateProcessing") return read_template(inner, parts, place);
    return unsupported_step("post-processor", inner, place);
  });
}

}  // namespace tenon::llm
