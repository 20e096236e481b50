// SPDX-License-Identifier: Apache-2.0
#include "llm/template/values/loop.h"

#include <algorithm>

#include "llm/template/values/compare.h"

namespace tenon::llm::jinja {

Result<const std::optional<Value>*> Loop::peek() {
  if (next_ahead_ == ahead_.size()) {
    ahead_.clear();
    next_ahead_ = 0;
    ahead_.push_back(source_ ? TRY(source_()) : std::nullopt);
  }
  return &ahead_[next_ahead_];
}

Result<bool> Loop::advance() {
  const std::optional<Value> next = *TRY(peek());
  if (!next) return false;
  ++next_ahead_;
  ++index0_;
  before_ = std::move(current_);
  current_ = *next;
  return true;
}

Result<int64_t> Loop::length() {
  if (length_) return *length_;
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<ptrdiff_t>(next_ahead_));
  next_ahead_ = 0;
  while (ahead_.empty() || ahead_.back()) ahead_.push_back(source_ ? TRY(source_()) : std::nullopt);
  length_ = index0_ + static_cast<int64_t>(ahead_.size());
  return *length_;
}

Result<Value> Loop::attribute(std::string_view name) {
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "index0") return Value::integer(index0_);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(!TRY(peek())->has_value());
  if (name == "length") return Value::integer(TRY(length()));
  if (name == "revindex") return Value::integer(TRY(length()) - index0_);
  if (name == "revindex0") return Value::integer(TRY(length()) - index0_ - 1);
  if (name == "depth") return Value::integer(depth_ + 1);
  if (name == "depth0") return Value::integer(depth_);
  if (name == "previtem") return index0_ == 0 ? Value::undefined("there is no previous item") : before_;
  if (name == "nextitem") {
    const std::optional<Value>& next = *TRY(peek());
    return next ? *next : Value::undefined("there is no next item");
  }
  return Value();
}

bool Loop::changed(std::vector<Value> values) {
  const bool same = last_changed_ && std::ranges::equal(*last_changed_, values, are_equal);
  last_changed_ = std::move(values);
  return !same;
}

std::string Loop::description() {
  const auto count = length();
  return "<LoopContext " + std::to_string(index0_ + 1) + "/" + (count ? std::to_string(*count) : "?") + ">";
}

Value loop_method(const std::shared_ptr<Loop>& loop, std::string_view name) {
  if (name != "cycle" && name != "changed") return {};
  Function method{.name = std::string(name), .type = "method", .call = nullptr, .attributes = {}};
  if (name == "cycle") {
    method.call = [loop](RenderState&, Arguments arguments) -> Result<Value> {
      const auto& items = arguments.positional;
      if (items.empty()) return run_error("loop.cycle has no values").expected("at least one").found("none");
      return items[static_cast<size_t>(std::max<int64_t>(loop->index0(), 0)) % items.size()];
    };
  } else {
    method.call = [loop](RenderState&, Arguments arguments) -> Result<Value> {
      return Value::boolean(loop->changed(std::move(arguments.positional)));
    };
  }
  return Value(Value::Kinds(std::make_shared<const Function>(std::move(method))));
}

}  // namespace tenon::llm::jinja
