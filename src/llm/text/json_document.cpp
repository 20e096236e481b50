// SPDX-License-Identifier: Apache-2.0
#include "llm/text/json_document.h"

#include <fmt/format.h>

#include "files/printable.h"

namespace tenon::llm {
namespace {

constexpr int kMostDepth = 64;

Error no_json(std::string_view place, std::string expected, std::string found) {
  return fail(Code::bad_file, std::string(place), "not a sound tokenizer file").expected(std::move(expected)).found(std::move(found));
}

/// Takes vocabulary and merges out of the document while it is read.
class Collector {
 public:
  explicit Collector(TokenizerDocument& out) : out_(out) {}

  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (depth > kMostDepth) problem_ = "values nested over 64 deep";
    if (!problem_.empty()) return false;
    if (event == Event::key && depth == 1) in_model_ = value.get_ref<const std::string&>() == "model";
    if (event == Event::key && depth == 2 && in_model_) {
      const auto& key = value.get_ref<const std::string&>();
      part_ = key == "vocab" ? Part::vocabulary : key == "merges" ? Part::merges : Part::other;
    }
    if (depth <= 2 && event != Event::key && event != Event::object_start && event != Event::array_start) part_ = Part::other;
    if (depth == 2 && event == Event::array_start && part_ == Part::vocabulary) part_ = Part::other;  // of models that are no BPE
    if (depth < 3 || !in_model_ || part_ == Part::other) return true;
    return part_ == Part::vocabulary ? take_token(depth, event, value) : take_merge(depth, event, value);
  }
  const std::string& problem() const { return problem_; }

 private:
  enum class Part : uint8_t { other, vocabulary, merges };

  bool take_token(int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key) {
      out_.vocabulary.emplace_back(value.get_ref<const std::string&>(), -1);
      return false;
    }
    if (depth != 3 || event != Json::parse_event_t::value || !value.is_number_unsigned() || value.get<uint64_t>() > INT32_MAX ||
        out_.vocabulary.empty())
      problem_ = "a vocabulary with something else than ids of tokens";
    else out_.vocabulary.back().second = value.get<int64_t>();
    return true;
  }

  bool take_merge(int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::array_start && depth == 3) {
      parts_ = 0;
      return true;
    }
    if (event == Event::array_end && depth == 3) {
      if (parts_ != 2) problem_ = "a merge that is no pair";
      return false;
    }
    if (event != Event::value || !value.is_string()) {
      problem_ = "merges with something else than texts";
      return false;
    }
    const auto& text = value.get_ref<const std::string&>();
    if (depth == 4) {
      if (++parts_ == 1) out_.merges.emplace_back(text, "");
      else out_.merges.back().second = text;
      return false;
    }
    const size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) problem_ = "a merge that is no pair";
    else out_.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    return false;
  }

  TokenizerDocument& out_;
  std::string problem_;
  bool in_model_ = false;
  Part part_ = Part::other;
  int parts_ = 0;  // of the merge that is being read
};

}  // namespace

Result<TokenizerDocument> read_tokenizer_document(std::string_view text, std::string_view place) {
  TokenizerDocument out;
  Collector collector(out);
  out.rest = Json::parse(text.begin(), text.end(), std::ref(collector), false);
  if (!collector.problem().empty()) return no_json(place, "the format of tokenizer.json", collector.problem());
  if (!out.rest.is_object()) return no_json(place, "an object in JSON", out.rest.is_discarded() ? "no JSON" : out.rest.type_name());
  return out;
}

Result<Json> read_json_object(std::string_view text, std::string_view place) {
  bool deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) { return !(deep |= depth > kMostDepth); };
  Json out = Json::parse(text.begin(), text.end(), watch, false);
  if (deep || !out.is_object())
    return no_json(place, "an object in JSON, nested at most 64 deep", out.is_discarded() ? "no JSON" : out.type_name());
  return out;
}

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() || found->is_discarded() ? nullptr : &*found;
}

std::optional<std::string> text_member(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  return value && value->is_string() ? std::optional(value->get<std::string>()) : std::nullopt;
}

std::optional<int64_t> integer_member(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (!value || !value->is_number_integer() || (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX)) return std::nullopt;
  return value->get<int64_t>();
}

bool flag_member(const Json& object, std::string_view key, bool otherwise) {
  const Json* value = member(object, key);
  return value && value->is_boolean() ? value->get<bool>() : otherwise;
}

}  // namespace tenon::llm
