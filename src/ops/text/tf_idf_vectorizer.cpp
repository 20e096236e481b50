// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "ops/infer/require.h"

namespace tenon::ops::op_tf_idf_vectorizer {

namespace {

/// An n-gram as the numbers of its words in `words`.
using Gram = std::vector<int64_t>;

/// The n-grams of all lengths with their positions in the result.
struct Pool {
  std::map<std::string, int64_t> words;
  std::map<Gram, int64_t> ngrams;
};

/// Words (strings or integers) as strings, so that one table serves both.
std::vector<std::string> words_of(const Tensor& t, int64_t begin, int64_t end) {
  std::vector<std::string> out;
  for (int64_t i = begin; i < end; ++i)
    out.push_back(t.dtype() == DType::string ? t.strings()[static_cast<size_t>(i)] : std::to_string(t.integer(i)));
  return out;
}

std::vector<std::string> pool_words(const NodeView& view) {
  std::vector<std::string> out;
  if (const ir::Attribute* a = view.attributes->find("pool_strings")) return std::get<ir::Strings>(*a);
  for (int64_t word : view.attributes->ints("pool_int64s")) out.push_back(std::to_string(word));
  return out;
}

/// Reads the pool. `ngram_counts`: the offsets in it of the n-grams of 1, 2, ... words.
Result<Pool> pool_of(const NodeView& view) {
  const std::vector<std::string> words = pool_words(view);
  const Ints begins = view.attributes->ints("ngram_counts"), indexes = view.attributes->ints("ngram_indexes");
  Pool pool;
  size_t gram = 0;
  for (size_t k = 0; k < begins.size(); ++k) {
    const int64_t end = k + 1 < begins.size() ? begins[k + 1] : static_cast<int64_t>(words.size()), length = static_cast<int64_t>(k) + 1;
    if (begins[k] < 0 || end < begins[k] || end > static_cast<int64_t>(words.size()) || (end - begins[k]) % length != 0)
      return refuse(view, Code::bad_attribute, "ngram_counts does not fit the pool").found(std::to_string(begins[k]));
    for (int64_t at = begins[k]; at < end; at += length, ++gram) {
      if (gram >= indexes.size()) return refuse(view, Code::bad_attribute, "ngram_indexes is shorter than the pool");
      Gram numbers;
      for (int64_t w = at; w < at + length; ++w)
        numbers.push_back(pool.words.emplace(words[static_cast<size_t>(w)], static_cast<int64_t>(pool.words.size())).first->second);
      pool.ngrams.emplace(std::move(numbers), static_cast<int64_t>(gram));
    }
  }
  return pool;
}

int64_t width_of(const NodeView& view) {
  const Ints indexes = view.attributes->ints("ngram_indexes");
  return indexes.empty() ? 0 : *std::ranges::max_element(indexes) + 1;
}

/// Counts the n-grams of the pool in a row: words at distances of 1 to max_skip_count + 1; single words at one distance only.
std::vector<int64_t> counts_of(const NodeView& view, const Pool& pool, const std::vector<std::string>& row) {
  Gram words;
  for (const std::string& w : row) {
    const auto at = pool.words.find(w);
    words.push_back(at == pool.words.end() ? -1 : at->second);
  }
  std::vector<int64_t> counts(view.attributes->ints("ngram_indexes").size());
  const auto size = static_cast<int64_t>(words.size());
  const auto longest = std::min(size, static_cast<int64_t>(view.attributes->ints("ngram_counts").size()));
  const int64_t least = view.attributes->integer("min_gram_length", 1),
                most = std::min(longest, view.attributes->integer("max_gram_length", 1));
  for (int64_t length = std::max<int64_t>(least, 1); length <= most; ++length) {
    const int64_t skips = length == 1 ? 0 : std::min(size, view.attributes->integer("max_skip_count", 0));
    for (int64_t step = 1; step <= skips + 1 && (length - 1) * step < size; ++step) {
      for (int64_t begin = 0; begin + (length - 1) * step < size; ++begin) {
        Gram gram;
        for (int64_t w = 0; w < length; ++w) gram.push_back(words[static_cast<size_t>(begin + w * step)]);
        if (const auto at = pool.ngrams.find(gram); at != pool.ngrams.end()) ++counts[static_cast<size_t>(at->second)];
      }
    }
  }
  return counts;
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, [](DType d) { return d == DType::string || is_index(d); }, "string, i32 or i64"));
  TRY(require_rank(view, 0, 1, 2));
  const std::string mode = view.attributes->text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return refuse(view, Code::bad_attribute, "unknown mode").expected("TF, IDF or TFIDF").found(mode);
  const std::string pool = dtype_of(view, 0) == DType::string ? "pool_strings" : "pool_int64s";
  if (dtype_of(view, 0) != DType::none && !view.attributes->has(pool))
    return refuse(view, Code::bad_attribute, "the pool is of another kind than the operand").expected(pool);
  TRY(pool_of(view));
  const Ints indexes = view.attributes->ints("ngram_indexes");
  if (std::ranges::any_of(indexes, [](int64_t p) { return p < 0 || p >= (int64_t{1} << 31); }))
    return refuse(view, Code::bad_attribute, "a place in ngram_indexes is negative or too large");
  const size_t weights = view.attributes->floats("weights").size();
  if (weights != 0 && weights != indexes.size())
    return refuse(view, Code::bad_attribute, "weights and ngram_indexes differ in length")
        .expected(std::to_string(indexes.size()))
        .found(std::to_string(weights));
  Type type(DType::f32);
  if (view.type(0).has_rank())
    type.shape = view.rank(0) == 2 ? DimList{view.type(0).dim(0), Dim(width_of(view))} : DimList{Dim(width_of(view))};
  set_output(view, 0, std::move(type));
  return {};
}

Result<void> evaluate(Call& call) {
  const Tensor& x = *call.in[0];
  const Pool pool = TRY(pool_of(call.view));
  const std::string mode = call.view.attributes->text("mode", "TF");
  const Ints indexes = call.view.attributes->ints("ngram_indexes");
  const ir::Floats weights = call.view.attributes->floats("weights");
  const int64_t columns = x.shape().back(), rows = x.rank() == 2 ? x.shape()[0] : 1, width = width_of(call.view);
  Tensor& y = *TRY(call.make(0, x.rank() == 2 ? Sizes{rows, width} : Sizes{width}));
  for (int64_t n = 0; n < rows; ++n) {
    const std::vector<int64_t> counts = counts_of(call.view, pool, words_of(x, n * columns, (n + 1) * columns));
    for (size_t gram = 0; gram < counts.size(); ++gram) {
      if (counts[gram] == 0) continue;
      const double weight = weights.empty() || mode == "TF" ? 1 : double{weights[gram]};
      y.set_number(n * width + indexes[gram], mode == "IDF" ? weight : weight * static_cast<double>(counts[gram]));
    }
  }
  return {};
}

}  // namespace

/// Counts the n-grams of a pool in each row of words, weighted.
OP(tf_idf_vectorizer) {
    .name = "TfIdfVectorizer",
    .since_version = 9,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"max_gram_length: int!", "max_skip_count: int!", "min_gram_length: int!", "mode: string!", "ngram_counts: ints!",
                    "ngram_indexes: ints!", "pool_int64s: ints", "pool_strings: strings", "weights: floats"}},
    .infer = infer,
    .reference = evaluate,
    .first_opset = 9,
    .samples =
        {{"i64[2,6] = [1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8]; min_gram_length=1, max_gram_length=2, max_skip_count=1, mode=TFIDF, "
          "ngram_counts=[0,4], ngram_indexes=[0,1,2,3,4,5,6], pool_int64s=[2,3,5,4,5,6,7,8,6,7], weights=[1.0,2.0,3.0,4.0,5.0,6.0,7.0]",
          "i32[6] = [1, 1, 3, 3, 3, 7]; min_gram_length=2, max_gram_length=2, max_skip_count=0, mode=TF, ngram_counts=[0,0], "
          "ngram_indexes=[0,2], pool_int64s=[3,3,3,7]"}},
};

}  // namespace tenon::ops::op_tf_idf_vectorizer
