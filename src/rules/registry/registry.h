// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

#include "rewrite/compile/compiled_rule.h"
#include "rewrite/rule.h"

namespace tenon::rules {

/// One file of src/rules.
struct RuleFile {
  std::string_view name;    ///< stage and file: "clean/cast"
  std::string_view source;  ///< "src/rules/clean/types/cast.cpp"
  rewrite::Stage stage;     ///< of all its rules: the folder below src/rules
  const rewrite::RuleList* list;
};

/// All files, sorted by name without the folder. The folder listing is the registration.
std::span<const RuleFile> all_files();
/// A rule of the library, with the stage and the sets that it has from its file.
struct Entry {
  const rewrite::Rule* rule;  ///< as written in its file; compile() parses its equation
  rewrite::Stage stage;
  std::string_view sets;          ///< separated by blanks
  std::string_view file, source;  ///< name ("clean/cast") and text of its RuleFile
};
/// Every rule in registration order (file name, then order in the file).
std::span<const Entry> all_rules();
/// Rules by an expression: names of sets, files, rules or covered patterns joined with `+` or `,`; `-` takes away:
/// "default+onnxruntime-bias_gelu". In registration order, each once. Errors: bad_usage for an unknown name, with the nearest known one.
Result<std::vector<Entry>> select(std::string_view expression);
/// Errors: those of rewrite::compile.
Result<rewrite::RulePtr> compile(const Entry& entry, const ir::OpTable& ops);
/// Rules of the file of that name ("clean/cast"), or the one rule of that name; empty where neither is known.
std::vector<const rewrite::Rule*> rules_named(std::string_view name);

}  // namespace tenon::rules
