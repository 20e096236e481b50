// SPDX-License-Identifier: Apache-2.0
// An op of a plugin whose functions are Python functions.
#pragma once
#include <nanobind/nanobind.h>

#include <deque>
#include <string>
#include <vector>

#include "plugins/arrays.h"
#include "tenon/plugin.h"

namespace tenon::python {

namespace nb = nanobind;

/// The description given to @tenon.plugin, as the tables of tenon/plugin.h. Made once, never destroyed: libraries stay.
struct PythonOp {
  ArrayKind arrays = ArrayKind::numpy;
  nb::object function;
  nb::object shape;             ///< function from operands' shapes to results'; null: results have operand 0's
  nb::object define;            ///< from operands and fields to a definition; null: there is none, or it is a text
  std::vector<int32_t> dtypes;  ///< of results; TENON_NO_DTYPE: that of operand 0
  std::vector<bool> are_bools;  ///< of fields
  bool takes_out = false;       ///< the function writes its results to arrays that it gets

  std::deque<std::string> texts;  ///< strings that the tables point to
  std::vector<tenon_port> operands, results;
  std::vector<tenon_field_rule> fields;
  std::vector<const tenon_port*> operand_list, result_list;
  std::vector<const tenon_field_rule*> field_list;
  std::vector<const char*> sample_list;
  std::deque<std::vector<const char*>> choice_lists;  ///< each with null after the last
  tenon_op op = {};
  const tenon_op* op_list = nullptr;
  tenon_library library = {};

  const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
  /// Fills the tables of the C interface, after ports and fields are listed. infers: results are inferred by `shape` or like operand 0;
  /// false: by the definition.
  void fill_tables(bool infers);
  /// Sets the host under which its functions are called from now on.
  void known_as(const tenon_host* host);
};

}  // namespace tenon::python
