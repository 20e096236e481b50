// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/layer.h"

#include <algorithm>

#include "ops/infer/require.h"

namespace tenon::ops {

namespace {

/// Checks that an optional operand, where present, may have that shape.
Result<void> require_shape(const NodeView& view, size_t input, const DimList& shape) {
  TRY(require_rank(view, input, static_cast<int>(shape.size())));
  if (!view.has(input) || !view.type(input).has_rank()) return {};
  for (size_t k = 0; k < shape.size(); ++k)
    TRY(require_equal(view, view.type(input).dim(static_cast<int>(k)), shape[k], "sizes of operand " + std::to_string(input)));
  return {};
}

/// Checks the shape of an operand of the call. Errors: shape_mismatch.
Result<void> require_sizes(const Call& call, size_t input, const Sizes& shape) {
  if (!call.has(input) || call.in[input]->shape() == shape) return {};
  return refuse(call.view, Code::shape_mismatch, "operand " + std::to_string(input) + " has a wrong shape")
      .expected(type_text(call.in[input]->dtype(), shape))
      .found(type_text(call.in[input]->dtype(), call.in[input]->shape()));
}

}  // namespace

Result<void> infer_recurrent(NodeView& view, int64_t gates, size_t states) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  for (size_t k : {0, 1, 2}) TRY(require_rank(view, k, 3));
  const std::string direction = view.attributes->text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return refuse(view, Code::bad_attribute, "direction has an unknown value")
        .expected("forward, reverse or bidirectional")
        .found(direction);
  }
  Type y(dtype_of(view, 0)), last(dtype_of(view, 0));
  if (ranks_known(view, {0, 1, 2})) {
    const Type &x = view.type(0), &w = view.type(1), &r = view.type(2);
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    TRY(require_equal(view, w.dim(0), directions, "first size of W and number of directions"));
    TRY(require_equal(view, w.dim(1), r.dim(2) * gates, "rows of W and gates times hidden size"));
    TRY(require_shape(view, 2, {directions, r.dim(2) * gates, r.dim(2)}));
    TRY(require_equal(view, w.dim(2), x.dim(2), "columns of W and input size"));
    const bool batch_first = view.attributes->integer("layout", 0) != 0;
    const Dim steps = x.dim(batch_first ? 1 : 0), batch = x.dim(batch_first ? 0 : 1);
    TRY(require_shape(view, 3, {directions, r.dim(2) * (2 * gates)}));
    TRY(require_shape(view, 4, {batch}));
    const DimList state = batch_first ? DimList{batch, directions, r.dim(2)} : DimList{directions, batch, r.dim(2)};
    for (size_t k = 5; k < 5 + states; ++k) TRY(require_shape(view, k, state));
    TRY(require_shape(view, 7, {directions, r.dim(2) * 3}));
    if (batch_first) y.shape = DimList{batch, steps, directions, r.dim(2)};
    else y.shape = DimList{steps, directions, batch, r.dim(2)};
    last.shape = state;
  }
  set_output(view, 0, std::move(y));
  for (size_t k = 1; k <= states; ++k) set_output(view, k, last);
  return {};
}

Result<RecurrentLayer> RecurrentLayer::of(const Call& call, int64_t gates) {
  RecurrentLayer l;
  const Tensor &x = *call.in[0], &w = *call.in[1], &r = *call.in[2];
  l.batch_first = call.view.attributes->integer("layout", 0) != 0;
  l.steps = x.shape()[l.batch_first ? 1 : 0];
  l.batch = x.shape()[l.batch_first ? 0 : 1];
  l.input = x.shape()[2];
  l.directions = w.shape()[0];
  l.hidden = r.shape()[2];
  l.gates = gates;
  if (w.shape()[1] != gates * l.hidden || r.shape()[1] != gates * l.hidden || w.shape()[2] != l.input) {
    return refuse(call.view, Code::shape_mismatch, "X, W and R do not fit");
  }
  TRY(require_sizes(call, 3, {l.directions, 2 * gates * l.hidden}));
  TRY(require_sizes(call, 4, {l.batch}));
  for (size_t k : {5, 6})
    TRY(require_sizes(call, k, l.batch_first ? Sizes{l.batch, l.directions, l.hidden} : Sizes{l.directions, l.batch, l.hidden}));
  TRY(require_sizes(call, 7, {l.directions, 3 * l.hidden}));
  l.x = numbers_of(x);
  l.w = numbers_of(w);
  l.r = numbers_of(r);
  l.b = call.has(3) ? numbers_of(*call.in[3]) : std::vector<double>(l.directions * 2 * gates * l.hidden);
  l.lengths = call.has(4) ? integers_of(*call.in[4]) : std::vector<int64_t>(l.batch, l.steps);
  for (int64_t n : l.lengths)
    if (n < 0 || n > l.steps)
      return refuse(call.view, Code::index_out_of_range, "sequence_lens has a value out of range").found(std::to_string(n));
  return l;
}

double RecurrentLayer::from_input(int64_t d, int64_t gate, int64_t unit, const double* row) const {
  const double* weights = w.data() + ((d * gates + gate) * hidden + unit) * input;
  double sum = 0;
  for (int64_t k = 0; k < input; ++k) sum += weights[k] * row[k];
  return sum;
}

double RecurrentLayer::from_state(int64_t d, int64_t gate, int64_t unit, const std::vector<double>& h) const {
  const double* weights = r.data() + ((d * gates + gate) * hidden + unit) * hidden;
  double sum = 0;
  for (int64_t k = 0; k < hidden; ++k) sum += weights[k] * h[k];
  return sum;
}

Result<void> RecurrentLayer::run(Call& call, size_t initial_c, const Step& step) const {
  const std::string direction = call.view.attributes->text("direction", "forward");
  std::vector<double> y(steps * directions * batch * hidden), last[2];
  for (auto& l : last) l.resize(directions * batch * hidden);
  auto initial = [&](size_t input, int64_t at) {
    std::vector<double> state(hidden);
    for (int64_t k = 0; k < hidden && call.has(input); ++k) state[k] = call.in[input]->number(at * hidden + k);
    return state;
  };
  for (int64_t d = 0; d < directions; ++d) {
    const bool backwards = direction == "reverse" || d == 1;
    for (int64_t n = 0; n < batch; ++n) {
      const int64_t at = batch_first ? n * directions + d : d * batch + n;
      std::vector<double> h = initial(5, at), c = initial(initial_c, at);
      for (int64_t s = 0; s < lengths[n]; ++s) {
        const int64_t t = backwards ? lengths[n] - 1 - s : s;
        step(d, x.data() + (batch_first ? n * steps + t : t * batch + n) * input, h, c);
        std::copy(h.begin(), h.end(),
                  y.begin() + (batch_first ? (n * steps + t) * directions + d : (t * directions + d) * batch + n) * hidden);
      }
      std::copy(h.begin(), h.end(), last[0].begin() + at * hidden);
      std::copy(c.begin(), c.end(), last[1].begin() + at * hidden);
    }
  }
  const Sizes whole = batch_first ? Sizes{batch, steps, directions, hidden} : Sizes{steps, directions, batch, hidden};
  const Sizes state = batch_first ? Sizes{batch, directions, hidden} : Sizes{directions, batch, hidden};
  store_numbers(*TRY(call.make(0, whole)), y);
  for (size_t k = 1; k < call.out.size(); ++k) store_numbers(*TRY(call.make(k, state)), last[k - 1]);
  return {};
}

}  // namespace tenon::ops
