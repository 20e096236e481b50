// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/percent_format.h"

#include <cmath>

#include "llm/template/builtins/markup.h"
#include "llm/template/builtins/number_format.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {
namespace {

class PercentFormat {
 public:
  PercentFormat(RenderState& state, const Value& format, const Value& arguments)
      : state_(state), rest_(*format.text()), is_safe_(format.is_safe()), arguments_(arguments) {
    const Sequence* sequence = arguments.sequence();
    is_tuple_ = sequence && sequence->kind == SequenceKind::tuple;
  }

  Result<Value> run() {
    std::string out;
    while (!rest_.empty()) {
      const size_t percent = std::min(rest_.find('%'), rest_.size());
      out += rest_.substr(0, percent);
      rest_.remove_prefix(percent);
      if (rest_.empty()) break;
      rest_.remove_prefix(1);
      out += TRY(conversion());
      TRY(state_.take(out.size() / 16));
    }
    const size_t count = is_tuple_ ? arguments_.sequence()->items.size()
                         : arguments_.dictionary() || arguments_.sequence() || arguments_.is_undefined() ? next_
                                                                                                         : 1;
    if (next_ < count)
      return run_error("% has more values than its text has places").expected(std::to_string(next_)).found(std::to_string(count));
    return Value::text(std::move(out), is_safe_);
  }

 private:
  char take() {
    const char c = rest_.empty() ? '\0' : rest_[0];
    if (!rest_.empty()) rest_.remove_prefix(1);
    return c;
  }

  Result<Value> next_argument() {
    const size_t count = is_tuple_ ? arguments_.sequence()->items.size() : 1;
    if (next_ >= count) return run_error("% has fewer values than its text has places").found(std::to_string(count));
    ++next_;
    return is_tuple_ ? arguments_.sequence()->items[next_ - 1] : arguments_;
  }

  Result<int64_t> number() {
    if (rest_.starts_with('*')) {
      take();
      return integer_of_argument();
    }
    int64_t out = 0;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') out = std::min<int64_t>(out * 10 + (take() - '0'), int64_t{1} << 40);
    return out;
  }

  Result<int64_t> integer_of_argument() {
    int64_t out = 0;
    if (!integer_of(TRY(next_argument()), out)) return run_error("* of a format needs an int");
    return out;
  }

  Result<Value> named_argument() {
    const size_t end = rest_.find(')');
    if (end == std::string_view::npos) return run_error("a name in a format does not end").expected("')'");
    const std::string name(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    const Dictionary* dictionary = arguments_.dictionary();
    if (!dictionary) return run_error("a format with names needs a dict").found(std::string(type_name(arguments_)));
    const Value* value = dictionary->find(name);
    if (!value) return run_error("a format's name has no value").found("'" + name + "'");
    return *value;
  }

  Result<std::string> conversion() {
    Value value;
    if (rest_.starts_with('(')) value = TRY(named_argument());
    FormatStyle style;
    bool zero = false;
    for (; !rest_.empty() && std::string_view("#0- +").find(rest_[0]) != std::string_view::npos; take()) {
      if (rest_[0] == '#') style.alternate = true;
      if (rest_[0] == '0') zero = true;
      if (rest_[0] == '-') style.align = '<';
      if (rest_[0] == '+' || (rest_[0] == ' ' && style.sign != '+')) style.sign = rest_[0];
    }
    style.width = TRY(number());
    if (rest_.starts_with('.')) {
      take();
      style.precision = TRY(number());
    }
    while (!rest_.empty() && (rest_[0] == 'h' || rest_[0] == 'l' || rest_[0] == 'L')) take();
    const char type = take();
    if (type == '%') return std::string("%");
    if (value.is_absent()) value = TRY(next_argument());
    if (style.align == 0) style.align = '>';
    return write(value, type, style, zero && style.align != '<');
  }

  Result<std::string> write(const Value& value, char type, FormatStyle style, bool zero) {
    const auto pad_zeros = [&] {
      if (!zero) return;
      style.fill = "0";
      style.align = '=';
    };
    style.type = type == 'i' || type == 'u' ? 'd' : type;
    int64_t integer = 0;
    switch (type) {
      case 's':
      case 'r': {
        const std::string text = type == 'r' ? TRY(repr_of(state_, value)) : TRY(text_of(state_, value));
        return format_text(state_, is_safe_ && !value.is_safe() ? escaped(text) : text, style);
      }
      case 'd':
      case 'i':
      case 'u':
        if (value.is<double>() && std::fabs(number_of(value)) < 9e18) {
          integer = static_cast<int64_t>(number_of(value));
        } else if (!integer_of(value, integer)) {
          return run_error("%d needs a number").found(std::string(type_name(value)));
        }
        pad_zeros();
        return format_integer(state_, integer, style);
      case 'x':
      case 'X':
      case 'o':
        if (!integer_of(value, integer)) return run_error("%x needs an int").found(std::string(type_name(value)));
        pad_zeros();
        return format_integer(state_, integer, style);
      case 'c':
        if (const std::string* text = value.text()) return format_text(state_, *text, style);
        if (!integer_of(value, integer)) return run_error("%c needs a character").found(std::string(type_name(value)));
        return format_integer(state_, integer, style);
      default: break;
    }
    if (std::string_view("eEfFgG").find(type) == std::string_view::npos || type == '\0')
      return run_error("unknown conversion of %").expected("d, s, r, f, e, g, x, o, c or %").found("'" + std::string(1, type) + "'");
    if (!is_number(value)) return run_error("%f needs a number").found(std::string(type_name(value)));
    pad_zeros();
    return format_float(state_, number_of(value), style);
  }

  RenderState& state_;
  std::string_view rest_;
  bool is_safe_, is_tuple_ = false;
  const Value& arguments_;
  size_t next_ = 0;
};

}  // namespace

Result<Value> percent_format(RenderState& state, const Value& format, const Value& arguments) {
  return PercentFormat(state, format, arguments).run();
}

}  // namespace tenon::llm::jinja
