// SPDX-License-Identifier: Apache-2.0
#include "ops/contract/einsum_equation.h"

#include <algorithm>
#include <map>

#include "ops/core/refuse.h"

namespace tenon::ops {

namespace {

constexpr char kEllipsis = '.';

/// "b...ij" to "b.ij": one letter or dot a place. Errors: bad_attribute.
Result<std::string> term_of(const NodeView& view, std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      out += c;
    } else if (text.substr(i, 3) == "..." && out.find(kEllipsis) == out.npos) {
      out += kEllipsis;
      i += 2;
    } else {
      return refuse(view, Code::bad_attribute, "the equation does not parse")
          .expected("letters, commas, ... and ->")
          .found("'" + std::string(text) + "'");
    }
  }
  return out;
}

struct Subscripts {
  std::map<char, int> letters;
  std::map<int, int> ellipsis;  ///< axis counted from the right to label
  int count = 0;
  int letter(char c) { return letters.try_emplace(c, count).second ? count++ : letters[c]; }
  int dot(int from_right) { return ellipsis.try_emplace(from_right, count).second ? count++ : ellipsis[from_right]; }
};

std::vector<int> labels_of(const std::string& term, int hidden, Subscripts& labels) {
  std::vector<int> out;
  for (char c : term) {
    if (c != kEllipsis) out.push_back(labels.letter(c));
    for (int k = hidden; c == kEllipsis && k-- > 0;) out.push_back(labels.dot(k));
  }
  return out;
}

}  // namespace

Result<EinsumEquation> parse_einsum(const NodeView& view, std::span<const int> ranks) {
  std::string text = view.attributes->text("equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  std::vector<std::string> terms;
  while (true) {
    const size_t comma = left.find(',');
    terms.push_back(TRY(term_of(view, left.substr(0, comma))));
    if (comma == left.npos) break;
    left.remove_prefix(comma + 1);
  }
  if (terms.size() != ranks.size()) {
    return refuse(view, Code::bad_attribute, "the equation has another number of operands")
        .expected(std::to_string(ranks.size()))
        .found(std::to_string(terms.size()));
  }
  EinsumEquation e;
  Subscripts labels;
  int widest = 0;
  for (size_t k = 0; k < terms.size(); ++k) {
    const bool dots = terms[k].find(kEllipsis) != std::string::npos;
    const int hidden = ranks[k] - static_cast<int>(terms[k].size()) + dots;
    if (hidden < 0 || (!dots && hidden != 0)) {
      return refuse(view, Code::rank_mismatch, "operand " + std::to_string(k) + " does not fit '" + terms[k] + "'")
          .found("rank " + std::to_string(ranks[k]));
    }
    widest = std::max(widest, hidden);
    e.operands.push_back(labels_of(terms[k], hidden, labels));
  }
  std::string output;
  if (arrow != text.npos) {
    output = TRY(term_of(view, std::string_view(text).substr(arrow + 2)));
  } else {
    // Without an arrow: the ellipsis, then every letter that occurs once, in alphabetical order.
    if (widest > 0) output += kEllipsis;
    std::map<char, int> seen;
    for (const std::string& t : terms)
      for (char c : t) seen[c] += c != kEllipsis;
    for (auto [c, times] : seen)
      if (times == 1) output += c;
  }
  e.output = labels_of(output, widest, labels);
  e.labels = labels.count;
  return e;
}

}  // namespace tenon::ops
