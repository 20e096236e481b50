// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

class Host;

/// One op of a library, in this host's version of the interface. Its functions stay valid until the process ends.
struct Op {
  std::string name_space, name, version;
  tenon_op table = {};  ///< functions, texts and flags; copies of its lists follow:
  std::vector<tenon_port> operands, results;
  std::vector<tenon_field_rule> fields;
  std::vector<std::string> samples;
  std::string library_name;
  std::string file;    ///< path of the library
  std::string sha256;  ///< of the file
  const Host* host = nullptr;
  bool in_process = false;  ///< of a library that the process made itself (functions of Python), which cannot run in other processes

  bool has_definition() const { return table.expression || table.define; }
  /// Whether it has a kernel (`enqueue`).
  bool runs() const { return table.enqueue != nullptr; }
  /// "acme::Swish, version 1"
  std::string key() const { return name_space + "::" + name + ", version " + version; }
  /// "plugin 'acme::Swish' of libacme.so"
  std::string place() const { return "plugin '" + name_space + "::" + name + "' of " + file; }
};

/// Copies and checks what a library declares of an op. Errors: bad_file, with all faults in one error.
Result<Op> read_op(const tenon_op& given);

}  // namespace tenon::plugin
