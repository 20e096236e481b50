// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/template/values/limits.h"

namespace tenon::llm {

/// A chat template: Jinja2 as transformers runs it (ImmutableSandboxedEnvironment with trim_blocks, lstrip_blocks, loop controls, its
/// tojson, raise_exception, strftime_now and {% generation %}). Immutable after parse(); may be rendered by several threads.
class Template {
 public:
  /// name: in the places of errors, NAME:LINE:COLUMN. Errors: bad_file (syntax, unknown filters and tests), not_supported (import,
  /// include, extends, block, recursive loops, ...), limit_exceeded (nesting).
  static Result<Template> parse(std::string_view text, std::string name = "chat template");

  /// How to render, besides the context.
  struct Options {
    Limits limits = {};
    std::optional<std::time_t> now = {};  ///< for strftime_now, in local time; empty: the clock's
  };
  /// The text for a context: an object, whose values are the template's variables (messages, tools, add_generation_prompt, ...). The order
  /// of keys is kept. Errors: bad_input (what the template refuses by raise_exception, undefined values that are used, types that do not
  /// fit), not_supported, limit_exceeded (a template that does not end, or grows without bound), each at NAME:LINE:COLUMN.
  Result<std::string> render(const nlohmann::ordered_json& context) const { return render(context, Options{}); }
  Result<std::string> render(const nlohmann::ordered_json& context, const Options& options) const;

  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

 private:
  struct Parts;
  explicit Template(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace tenon::llm
