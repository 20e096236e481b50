// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plugin/host.h"
#include "plugin/op.h"
#include "plugin/struct_versions.h"

namespace tenon::plugin {

/// What is needed of an op, in memory.
class MadeOp {
 public:
  MadeOp() {
    for (tenon_port* port : {&x_, &y_}) {
      *port = blank<tenon_port>();
      port->name = port == &x_ ? "x" : "y";
    }
    table = blank<tenon_op>();
    table.name_space = "made";
    table.name = "Op";
    table.version = "1";
    table.operand_count = table.result_count = 1;
    table.operands = &operand_;
    table.results = &result_;
    table.create = [](const tenon_host*, const tenon_node*, void**) -> int32_t { return TENON_OK; };
    table.infer = [](void*, tenon_inference*) -> int32_t { return TENON_OK; };
    table.enqueue = [](void*, const tenon_call*) -> int32_t { return TENON_OK; };
  }
  MadeOp(const MadeOp&) = delete;

  Op read() const {
    Op op = read_op(table).value();
    op.host = &host_;
    return op;
  }
  tenon_op table;

 private:
  tenon_port x_, y_;
  const tenon_port *operand_ = &x_, *result_ = &y_;
  static inline const Host& host_ = Host::permanent("made", nullptr);
};

}  // namespace tenon::plugin
