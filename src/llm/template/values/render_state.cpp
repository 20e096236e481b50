// SPDX-License-Identifier: Apache-2.0
#include "llm/template/values/render_state.h"

#include <string>

namespace tenon::llm::jinja {

Result<void> RenderState::step(uint64_t count) {
  steps += count;
  if (steps <= limits.steps) return {};
  return fail(Code::limit_exceeded, "", "the template does not end")
      .expected("at most " + std::to_string(limits.steps) + " steps")
      .found("more");
}

Result<void> RenderState::take(uint64_t count, uint64_t size) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(count, size, &product)) product = UINT64_MAX;
  return take(product);
}

Result<void> RenderState::take(uint64_t more) {
  if (__builtin_add_overflow(bytes, more, &bytes)) bytes = UINT64_MAX;
  if (bytes <= limits.bytes) return {};
  return fail(Code::limit_exceeded, "", "the template's values grow without bound")
      .expected("at most " + std::to_string(limits.bytes) + " bytes")
      .found("more");
}

Result<Value> RenderState::admit(Value value) {
  if (const std::string* text = value.text()) {
    TRY(take(text->size()));
  } else if (const Sequence* sequence = value.sequence()) {
    TRY(take(sequence->items.size(), sizeof(Value)));
  } else if (const Dictionary* dictionary = value.dictionary()) {
    TRY(take(dictionary->entries().size(), 4 * sizeof(Value)));
  }
  if (const int height = height_of(value); height > kHighestValue)
    return fail(Code::limit_exceeded, "", "a value is nested too deeply")
        .expected("at most " + std::to_string(kHighestValue) + " levels of lists and dicts")
        .found(std::to_string(height));
  return value;
}

}  // namespace tenon::llm::jinja
