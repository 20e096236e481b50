// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/interpret.h"

#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/scalar.h"
#include "ops/form/loops.h"
#include "ops/reference/indices.h"
#include "ops/reference/integers.h"

namespace tenon::ops {

namespace {

Scalar scalar_of(DType dtype, const Tensor& t, int64_t i) { return is_float(dtype) ? Scalar{t.number(i), 0} : Scalar{0, t.integer(i)}; }

/// The largest or smallest value of a dtype, infinities included.
Scalar bound_of(DType dtype, bool largest) {
  if (is_float(dtype)) return {largest ? INFINITY : -INFINITY, 0};
  if (dtype == DType::boolean) return {0, largest ? 1 : 0};
  const int bits = bits_of(dtype);
  if (!is_signed(dtype)) return {0, largest ? static_cast<int64_t>(~uint64_t{0} >> (64 - bits)) : 0};
  const int64_t top = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
  return {0, largest ? top : -top - 1};
}

/// The neutral element of an operator.
Scalar identity(Combine combine, DType dtype) {
  switch (combine) {
    case Combine::product:
    case Combine::logical_and: return {1, 1};
    case Combine::min: return bound_of(dtype, true);
    case Combine::max: return bound_of(dtype, false);
    default: return {0, 0};
  }
}

Scalar combined(Combine combine, DType dtype, Scalar a, Scalar b) {
  const bool is_unsigned = dtype == DType::u64;
  const bool b_smaller = is_unsigned ? static_cast<uint64_t>(b.integer) < static_cast<uint64_t>(a.integer) : b.integer < a.integer;
  switch (combine) {
    case Combine::none: return b;
    case Combine::sum: return {a.number + b.number, wrap_add(a.integer, b.integer)};
    case Combine::product: return {a.number * b.number, wrap_mul(a.integer, b.integer)};
    case Combine::min: return {minimum(a.number, b.number), b_smaller ? b.integer : a.integer};
    case Combine::max: return {maximum(a.number, b.number), b_smaller ? a.integer : b.integer};
    case Combine::logical_and: return {0, (a.integer != 0) && (b.integer != 0)};
    case Combine::logical_or: return {0, (a.integer != 0) || (b.integer != 0)};
  }
  return b;
}

/// One output while its loop runs.
struct Buffer {
  Sizes shape, strides;
  std::vector<Scalar> values;
  std::vector<bool> is_written;
};

class Interpreter {
 public:
  Interpreter(const LoopForm& form, std::span<const Tensor* const> operands, const std::function<Dim(const DimNode&)>& value_of)
      : form_(form), operands_(operands), value_of_(value_of) {}

  Result<std::vector<Tensor>> run() {
    for (size_t k = 0; k < form_.loops.size(); ++k) TRY(run_loop(k));
    std::vector<Tensor> out;
    for (const Source& s : form_.results) { out.push_back(results_[static_cast<size_t>(s.index)][static_cast<size_t>(s.output)]); }
    return out;
  }

 private:
  int64_t size(Dim d) const {
    const Dim v = substitute(d, value_of_);
    TENON_ASSERT(v.is_number());
    return v.value();
  }
  Sizes sizes(const DimList& dims) const {
    Sizes out;
    for (Dim d : dims) out.push_back(size(d));
    return out;
  }

  ScalarEnvironment environment() {
    ScalarEnvironment env;
    env.axis = [this](int a) { return index_[static_cast<size_t>(a)]; };
    env.dim = [this](Dim d) { return size(d); };
    env.input_number = [this](int i) { return load(i).number; };
    env.input_integer = [this](int i) { return load(i).integer; };
    return env;
  }

  Scalar load(int i) {
    const Access& a = loop_->accesses[static_cast<size_t>(i)];
    const ScalarEnvironment env = environment();
    if (a.within && !evaluate(a.within, env, false).integer) return evaluate(a.fill, env, false);
    const Tensor* t = a.source.kind == Source::Kind::operand
                          ? operands_[static_cast<size_t>(a.source.index)]
                          : &results_[static_cast<size_t>(a.source.index)][static_cast<size_t>(a.source.output)];
    if (!t || static_cast<size_t>(t->rank()) != a.index.size()) return bad("access " + std::to_string(i) + " does not fit its source");
    int64_t position = 0;
    for (size_t d = 0; d < a.index.size(); ++d) {
      const int64_t at = evaluate(a.index[d], env, false).integer;
      if (at < 0 || at >= t->shape()[d]) {
        return bad("access " + std::to_string(i) + ": index " + std::to_string(at) + " outside of " + std::to_string(t->shape()[d]));
      }
      position = position * t->shape()[d] + at;
    }
    return scalar_of(a.dtype, *t, position);
  }

  Scalar bad(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
    return {};
  }

  Buffer initial_buffer(size_t k, size_t o) const {
    const Output& out = loop_->outputs[o];
    Buffer b;
    b.shape = sizes(out.shape);
    b.strides = strides_of(b.shape);
    const size_t n = static_cast<size_t>(count_of(b.shape));
    b.values.assign(n, identity(out.combine, out.dtype));
    b.is_written.assign(n, false);
    // A partial output starts with what the loop before it wrote.
    if (!out.partial || k == 0 || o >= results_[k - 1].size() || results_[k - 1][o].shape() != b.shape) return b;
    for (size_t i = 0; i < n; ++i) b.values[i] = scalar_of(out.dtype, results_[k - 1][o], static_cast<int64_t>(i));
    if (out.combine != Combine::none) b.is_written.assign(n, true);
    return b;
  }

  Result<void> run_loop(size_t k) {
    loop_ = &form_.loops[k];
    std::vector<Buffer> buffers;
    for (size_t o = 0; o < loop_->outputs.size(); ++o) buffers.push_back(initial_buffer(k, o));
    Sizes extents;
    for (const Axis& a : loop_->axes) extents.push_back(size(a.extent));
    index_.assign(extents.size(), 0);
    scans_.clear();
    if (count_of(extents) > 0) {
      Sizes step = index_;
      do {
        index_ = step;
        for (size_t a = 0; a < index_.size(); ++a) {
          if (loop_->reverse && loop_->axes[a].kind == Axis::Kind::scanned) index_[a] = extents[a] - 1 - step[a];
        }
        for (size_t o = 0; o < buffers.size(); ++o) write(o, buffers[o], extents);
        if (!problem_.empty()) return fail(Code::index_out_of_range, "loop " + std::to_string(k), problem_);
      } while (next_index(step, extents));
    }
    std::vector<Tensor> done;
    for (size_t o = 0; o < buffers.size(); ++o) done.push_back(TRY(tensor_of(loop_->outputs[o].dtype, buffers[o])));
    results_.push_back(std::move(done));
    return {};
  }

  static Result<Tensor> tensor_of(DType dtype, const Buffer& b) {
    Tensor t = TRY(Tensor::make(dtype, b.shape));
    for (int64_t i = 0; i < t.count(); ++i) {
      const Scalar& s = b.values[static_cast<size_t>(i)];
      if (is_float(dtype)) t.set_number(i, s.number);
      else t.set_integer(i, s.integer);
    }
    return t;
  }

  void write(size_t o, Buffer& b, const Sizes& extents) {
    const Output& out = loop_->outputs[o];
    const ScalarEnvironment env = environment();
    if (out.within && !evaluate(out.within, env, false).integer) return;
    Scalar value = evaluate(out.value, env, false);
    const int64_t position = output_position(out, b, env);
    if (position < 0) return;
    bool scanned = false;
    int64_t key = 0;
    for (size_t a = 0; a < index_.size(); ++a) {
      const bool is_scanned = loop_->axes[a].kind == Axis::Kind::scanned;
      scanned |= is_scanned;
      if (!is_scanned) key = key * extents[a] + index_[a];
    }
    const size_t p = static_cast<size_t>(position);
    if (scanned) {
      b.values[p] = scan(out, o, key, value);
    } else {
      b.values[p] = out.combine != Combine::none && b.is_written[p] ? combined(out.combine, out.dtype, b.values[p], value) : value;
    }
    b.is_written[p] = true;
  }

  Scalar scan(const Output& out, size_t o, int64_t key, Scalar value) {
    auto [at, fresh] = scans_.try_emplace(key * 16 + static_cast<int64_t>(o), identity(out.combine, out.dtype));
    const Scalar before = at->second;
    at->second = fresh ? value : combined(out.combine, out.dtype, before, value);
    return loop_->exclusive ? before : at->second;
  }

  int64_t output_position(const Output& out, const Buffer& b, const ScalarEnvironment& env) {
    Sizes index;
    if (out.index.empty()) {
      for (size_t a = 0; a < index_.size(); ++a) {
        if (loop_->axes[a].kind != Axis::Kind::reduced) index.push_back(index_[a]);
      }
    }
    for (const Expr& e : out.index) index.push_back(evaluate(e, env, false).integer);
    if (index.size() != b.shape.size()) return bad("an output's index does not fit its rank"), -1;
    for (size_t d = 0; d < index.size(); ++d) {
      if (index[d] < 0 || index[d] >= b.shape[d])
        return bad("output index " + std::to_string(index[d]) + " outside of " + std::to_string(b.shape[d])), -1;
    }
    return offset_of(index, b.strides);
  }

  const LoopForm& form_;
  std::span<const Tensor* const> operands_;
  const std::function<Dim(const DimNode&)>& value_of_;
  const Loop* loop_ = nullptr;
  Sizes index_;
  std::unordered_map<int64_t, Scalar> scans_;
  std::vector<std::vector<Tensor>> results_;
  std::string problem_;
};

}  // namespace

Result<std::vector<Tensor>> interpret(const LoopForm& form, std::span<const Tensor* const> operands,
                                      const std::function<Dim(const DimNode& symbol)>& value_of) {
  return Interpreter(form, operands, value_of).run();
}

}  // namespace tenon::ops
