// SPDX-License-Identifier: Apache-2.0
#include "base/advice.h"

namespace tenon::inline base {

std::string_view advice_of(Code code) {
  switch (code) {
    case Code::bad_file: return "copy or write the file again: it is damaged, cut off, or of another format than its name says";
    case Code::file_missing: return "check the path and its permissions";
    case Code::file_unsafe: return "put the data beside the model, as a file of its own";
    case Code::limit_exceeded: return "use a smaller model or file; if this size is meant, raise the limit where the file is read";
    case Code::size_overflow: return "check the shapes: no memory holds a tensor of this size";
    case Code::bad_graph:
    case Code::bad_attribute:
    case Code::shape_mismatch:
    case Code::dtype_mismatch:
    case Code::rank_mismatch:
    case Code::axis_out_of_range:
    case Code::index_out_of_range:
      return "look at the named place in the model (onnx.checker.check_model with full_check=True may say more), or export it again";
    case Code::bad_input: return "`tenon inspect MODEL` shows the inputs with their names, dtypes and shapes";
    case Code::bad_rule: return "check the rule against the rules in src/rules";
    case Code::write_failed: return "check that the folder exists, may be written and has room";
    case Code::out_of_memory: return "give smaller inputs, use fewer threads, or free memory";
    case Code::wrong_target: return "build the engine again on this machine, or with --portable";
    case Code::cancelled: return "run it again: nothing is broken";
    case Code::deadline: return "run it again with a later deadline";
    case Code::device_failed: return "check what this system allows a process to do";
    case Code::bad_usage: return "tenon --help, or tenon VERB --help";
    case Code::not_supported: return "docs/ops.md lists the ops and element types that there are";
    case Code::internal: return "this is a bug of Tenon: report it with the command and the model";
  }
  return "report this as a bug of Tenon";
}

Diagnostic advised(Diagnostic d) {
  if (d.advice.empty()) d.advice = advice_of(d.code);
  return d;
}

}  // namespace tenon::inline base
