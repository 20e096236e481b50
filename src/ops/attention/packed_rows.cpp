// SPDX-License-Identifier: Apache-2.0
// Compaction of padded sequences: the rows that are computed, one after the other.
#include "ops/infer/require.h"

namespace tenon::ops::op_packed_rows {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_bool, "bool"));
  TRY(require_rank(view, 0, 2));
  set_output(view, 0, Type(DType::i64, {view.symbols->fresh()}));
  Type places(DType::i64), starts(DType::i64);
  if (ranks_known(view, {0})) {
    places.shape = view.type(0).shape;
    starts.shape = DimList{view.type(0).dim(0) + Dim(1)};
  }
  set_output(view, 1, std::move(places));
  set_output(view, 2, std::move(starts));
  return {};
}

Result<void> evaluate(Call& call) {
  const Tensor& keep = *call.in[0];
  const int64_t sequences = keep.shape()[0], length = keep.shape()[1];
  std::vector<int64_t> kept;
  Tensor* places = TRY(call.make(1, {sequences, length}));
  Tensor* starts = TRY(call.make(2, {sequences + 1}));
  starts->set_integer(0, 0);
  for (int64_t s = 0; s < sequences; ++s) {
    for (int64_t at = s * length; at < (s + 1) * length; ++at) {
      const bool is_kept = keep.integer(at) != 0;
      places->set_integer(at, is_kept ? static_cast<int64_t>(kept.size()) : 0);
      if (is_kept) kept.push_back(at);
    }
    starts->set_integer(s + 1, static_cast<int64_t>(kept.size()));
  }
  Tensor* rows = TRY(call.make(0, {static_cast<int64_t>(kept.size())}));
  for (size_t k = 0; k < kept.size(); ++k) rows->set_integer(static_cast<int64_t>(k), kept[k]);
  return {};
}

}  // namespace

/// keep: bool[sequences, length]. rows: the element numbers of those that are true, ascending; places: the position of each in rows, 0
/// for the others; starts: how many precede each sequence, and how many there are.
OP(packed_rows) {
    .name = "PackedRows",
    .domain = "tenon",
    .inputs = {{"keep"}},
    .outputs = {{"rows", "places", "starts"}},
    .kernel_family = KernelFamily::packed_rows,
    .infer = infer,
    .reference = evaluate,
    .first_opset = 1,
    .samples = {{"bool[2,3] = [1, 0, 1, 0, 1, 0]; outputs=3", "bool[3,4]; outputs=3", "bool[0,4]; outputs=3", "bool[2,0]; outputs=3",
                 "bool[1,2] = [0, 0]; outputs=3"}},
};

}  // namespace tenon::ops::op_packed_rows
