// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

class Host;

/// One op of a library, in this host's version of the interface; its functions are there for the rest of the process.
struct Op {
  std::string name_space, name, version;
  tenon_op table = {};  ///< functions, texts and flags; its lists are these:
  std::vector<tenon_port> operands, results;
  std::vector<tenon_field_rule> fields;
  std::vector<std::string> samples;
  std::string library;  ///< its name
  std::string file;     ///< where it was opened
  std::string sha256;   ///< of the file
  const Host* host = nullptr;
  bool in_process = false;  ///< of a library that the process made itself: no other process has it

  bool has_definition() const { return table.expression || table.define; }
  /// Its functions compute it.
  bool runs() const { return table.enqueue != nullptr; }
  /// "acme::Swish, version 1"
  std::string key() const { return name_space + "::" + name + ", version " + version; }
  /// "plugin 'acme::Swish' of libacme.so"
  std::string place() const { return "plugin '" + name_space + "::" + name + "' of " + file; }
};

/// What a library says of an op, copied and checked whole. Errors: bad_file, with everything that is wrong.
Result<Op> read_op(const tenon_op& given);

}  // namespace tenon::plugin
