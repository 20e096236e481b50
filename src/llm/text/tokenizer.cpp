// SPDX-License-Identifier: Apache-2.0
#include "llm/text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "files/printable.h"
#include "llm/text/utf8.h"

namespace tenon::llm {

namespace {
constexpr size_t kMostText = size_t{1} << 31;
enum class Kind : uint8_t { plain, added, special };
}  // namespace

struct Tokenizer::Tables {
  TokenizerParts parts;
  AddedTokens raw, normalized;  // found before, and after, the normalizers
  std::vector<Kind> kinds;      // by id

  Kind kind(TokenId id) const { return id >= 0 && static_cast<size_t>(id) < kinds.size() ? kinds[static_cast<size_t>(id)] : Kind::plain; }
  Result<void> add(const AddedToken& token, std::string_view place);
  Result<std::string> normal(std::string text) const;
  Result<void> encode_plain(std::string text, bool at_start, MergeQueue& queue, std::vector<TokenId>& out) const;
  Result<void> encode_part(std::string_view text, bool at_start, bool special, MergeQueue& queue, std::vector<TokenId>& out) const;
};

Result<void> Tokenizer::Tables::add(const AddedToken& token, std::string_view place) {
  Vocabulary& vocabulary = parts.model.vocabulary;
  if (vocabulary.find(token.text) != token.id) TRY(vocabulary.add(token.text, token.id, place));
  const auto index = static_cast<size_t>(token.id);
  if (kinds.size() <= index) kinds.resize(index + 1, Kind::plain);
  if (token.special) {
    auto& reserved = parts.model.reserved;
    if (reserved.size() <= index) reserved.resize(index + 1);
    reserved[index] = true;
  }
  kinds[index] = token.special ? Kind::special : Kind::added;
  if (!token.normalized) return raw.add(token, place);
  AddedToken found = token;
  found.text = TRY(normal(token.text));
  return normalized.add(found, place);
}

Result<std::string> Tokenizer::Tables::normal(std::string text) const {
  for (const Normalizer& normalizer : parts.normalizers) text = TRY(normalizer(std::move(text)));
  return text;
}

/// A text without added tokens, normalized.
Result<void> Tokenizer::Tables::encode_plain(std::string text, bool at_start, MergeQueue& queue, std::vector<TokenId>& out) const {
  if (text.empty()) return {};
  Pieces pieces;
  pieces.ranges = {{0, text.size()}};
  pieces.text = std::move(text);
  pieces.at_start = at_start;
  for (const PreTokenizer& pre_tokenizer : parts.pre_tokenizers) TRY(pre_tokenizer(pieces));
  for (const TextRange& range : pieces.ranges) parts.model.encode(pieces.piece(range), queue, out);
  return {};
}

/// A text between added tokens that are found before the normalizers.
Result<void> Tokenizer::Tables::encode_part(std::string_view text, bool at_start, bool special, MergeQueue& queue,
                                            std::vector<TokenId>& out) const {
  std::string normal_text = TRY(normal(std::string(text)));
  if (normalized.empty()) return encode_plain(std::move(normal_text), at_start, queue, out);
  size_t end = 0;
  for (const auto& [range, id] : normalized.find(normal_text, special)) {
    TRY(encode_plain(normal_text.substr(end, range.begin - end), at_start && end == 0, queue, out));
    out.push_back(id);
    end = range.end;
  }
  return encode_plain(normal_text.substr(end), at_start && end == 0, queue, out);
}

Result<Tokenizer> Tokenizer::make(TokenizerParts parts, std::string_view place) {
  auto tables = std::make_shared<Tables>();
  tables->parts = std::move(parts);
  for (const AddedToken& token : tables->parts.added) TRY(tables->add(token, place));
  tables->parts.model.prepare();
  SpecialTokens& special = tables->parts.special;
  const Vocabulary& vocabulary = tables->parts.model.vocabulary;
  for (const auto& [name, id] :
       {std::pair{"begin", special.begin}, {"end", special.end}, {"unknown", special.unknown}, {"padding", special.padding}})
    if (id && !vocabulary.has(*id))
      return fail(Code::bad_file, std::string(place), fmt::format("the {} token is not in the vocabulary", name))
          .expected(fmt::format("an id below {}", vocabulary.size()))
          .found(fmt::format("{}", *id));
  for (const auto* around : {&tables->parts.prefix, &tables->parts.suffix})
    for (const TokenId id : *around)
      if (!vocabulary.has(id))
        return fail(Code::bad_file, std::string(place), "a token that is put around a text is not in the vocabulary")
            .expected(fmt::format("an id below {}", vocabulary.size()))
            .found(fmt::format("{}", id));
  if (special.end) special.end_of_generation.push_back(*special.end);
  auto& ends = special.end_of_generation;
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return Tokenizer(std::move(tables));
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view given, const EncodeOptions& options) const {
  if (given.size() >= kMostText)
    return fail(Code::limit_exceeded, "tokenizer", "a text is too long")
        .expected(fmt::format("less than {} bytes", kMostText))
        .found(fmt::format("{}", given.size()));
  const std::string text = sound_utf8(given);
  const Tables& t = *tables_;
  std::vector<TokenId> out;
  MergeQueue queue;
  if (options.add_special) out = t.parts.prefix;
  size_t end = 0;
  for (const auto& [range, id] : t.raw.find(text, options.parse_special)) {
    if (range.begin > end)
      TRY(t.encode_part(std::string_view(text).substr(end, range.begin - end), end == 0, options.parse_special, queue, out));
    out.push_back(id);
    end = range.end;
  }
  if (end < text.size()) TRY(t.encode_part(std::string_view(text).substr(end), end == 0, options.parse_special, queue, out));
  if (options.add_special) out.insert(out.end(), t.parts.suffix.begin(), t.parts.suffix.end());
  return out;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, const DecodeOptions& options) const {
  TextStream stream(*this, options);
  std::string out;
  for (const TokenId id : ids) out += stream.push(id);
  return out + stream.finish();
}

int64_t Tokenizer::vocabulary_size() const { return static_cast<int64_t>(tables_->parts.model.vocabulary.size()); }
std::string_view Tokenizer::token_text(TokenId id) const { return tables_->parts.model.vocabulary.text(id); }
const SpecialTokens& Tokenizer::special() const { return tables_->parts.special; }
bool Tokenizer::is_special(TokenId id) const { return tables_->kind(id) == Kind::special; }

std::optional<TokenId> Tokenizer::find_token(std::string_view text) const {
  const TokenId id = tables_->parts.model.vocabulary.find(text);
  return id == kNoToken ? std::nullopt : std::optional(id);
}

bool Tokenizer::ends_generation(TokenId id) const {
  const auto& ends = special().end_of_generation;
  return std::binary_search(ends.begin(), ends.end(), id);
}

Result<void> Tokenizer::check_vocabulary(int64_t rows, std::string_view place) const {
  if (vocabulary_size() <= rows) return {};
  return fail(Code::bad_input, std::string(place), "the tokenizer is of another vocabulary than the model")
      .expected(fmt::format("tokens below {}, as the model has that many rows of embeddings", rows))
      .found(
          fmt::format("token {}, '{}'", vocabulary_size() - 1, files::printable(token_text(static_cast<TokenId>(vocabulary_size() - 1)))))
      .advice("take the tokenizer that the model was trained with");
}

TextStream::TextStream(Tokenizer tokenizer, const DecodeOptions& options) : tokenizer_(std::move(tokenizer)), options_(options) {}

/// The bytes without what the beginning of a text loses.
std::string TextStream::without_prefix(std::string bytes) {
  const Decoding& decoding = tokenizer_.tables_->parts.decoding;
  while (at_beginning_ && !options_.continues && stripped_ < decoding.most_stripped && !bytes.empty()) {
    if (!bytes.starts_with(decoding.stripped)) break;
    bytes.erase(0, decoding.stripped.size());
    ++stripped_;
  }
  if (!bytes.empty()) at_beginning_ = false;
  return bytes;
}

std::string TextStream::push(TokenId id) {
  const auto& parts = tokenizer_.tables_->parts;
  const Kind kind = tokenizer_.tables_->kind(id);
  if (!parts.model.vocabulary.has(id) || (kind == Kind::special && options_.skip_special)) return "";
  const auto byte = parts.decoding.bytes && kind == Kind::plain ? parts.model.byte_of(id) : std::nullopt;
  const bool literal = kind == Kind::special || (kind == Kind::added && parts.added_are_literal);
  std::string bytes = bytes_of_token(parts.decoding, tokenizer_.token_text(id), byte, literal);
  if (parts.decoding.joined_by_spaces && !std::exchange(first_, false)) bytes.insert(0, " ");
  return stream_.push(without_prefix(std::move(bytes)));
}

std::string TextStream::finish() { return stream_.finish(); }

}  // namespace tenon::llm
