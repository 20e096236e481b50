// SPDX-License-Identifier: Apache-2.0
#include "base/expr/expr.h"

#include <bit>
#include <unordered_map>
#include <unordered_set>

#include "base/expr/text.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/scalar.h"

namespace tenon::inline base {

bool gives_bool(ExprOp op) {
  switch (op) {
    case ExprOp::is_nan:
    case ExprOp::is_inf:
    case ExprOp::logical_not:
    case ExprOp::logical_and:
    case ExprOp::logical_or:
    case ExprOp::logical_xor:
    case ExprOp::equal:
    case ExprOp::less:
    case ExprOp::less_equal: return true;
    default: return false;
  }
}

bool takes_bools(ExprOp op) {
  return op == ExprOp::logical_not || op == ExprOp::logical_and || op == ExprOp::logical_or || op == ExprOp::logical_xor;
}

namespace {

size_t hash_node(const ExprNode& node) {
  size_t h = mix(static_cast<size_t>(node.op) + 1, static_cast<size_t>(node.dtype));
  h = mix(h, static_cast<size_t>(static_cast<uint32_t>(node.index)));
  h = mix(h, std::bit_cast<uint64_t>(node.float_value));
  h = mix(h, static_cast<size_t>(node.int_value));
  h = mix(h, node.size.hash());
  for (const Expr& arg : node.args) h = mix(h, arg->hash);
  return h;
}

std::shared_ptr<const ExprNode> sealed(ExprNode node) {
  node.hash = hash_node(node);
  return std::make_shared<const ExprNode>(std::move(node));
}

/// An untyped expression with its bare integers as bare floats.
Expr bare_float(const Expr& e) {
  if (e.op() == ExprOp::constant) return Expr(e->float_value);
  std::vector<Expr> args(e.args().begin(), e.args().end());
  for (size_t i = e.op() == ExprOp::select ? 1 : 0; i < args.size(); ++i) args[i] = bare_float(args[i]);
  return Expr::make(e.op(), DType::f32, std::move(args));
}

/// Gives both operands one dtype: a bare number takes that of the other operand; of two bare numbers with f32 and i64 both become f32.
void unify(Expr& a, Expr& b) {
  if (a->untyped && b->untyped) {
    if (a.dtype() == b.dtype()) return;
    a = bare_float(a);
    b = bare_float(b);
    return;
  }
  if (a->untyped) a = with_dtype(a, b.dtype());
  if (b->untyped) b = with_dtype(b, a.dtype());
  TENON_ASSERT(a.dtype() == b.dtype());
}

}  // namespace

Expr::Expr(double number) {
  node_ = sealed({.op = ExprOp::constant,
                  .dtype = DType::f32,
                  .untyped = true,
                  .index = 0,
                  .float_value = number,
                  .int_value = wrap_number(DType::i64, number),
                  .size = 0,
                  .args = {}});
}

Expr::Expr(int number) {
  node_ = sealed({.op = ExprOp::constant,
                  .dtype = DType::i64,
                  .untyped = true,
                  .index = 0,
                  .float_value = static_cast<double>(number),
                  .int_value = number,
                  .size = 0,
                  .args = {}});
}

Expr Expr::constant(DType dtype, double number) {
  if (!is_float(dtype)) return integer(dtype, wrap_number(dtype, number));
  Expr e;
  e.node_ = sealed(
      {.op = ExprOp::constant, .dtype = dtype, .untyped = false, .index = 0, .float_value = number, .int_value = 0, .size = 0, .args = {}});
  return e;
}

Expr Expr::integer(DType dtype, int64_t value) {
  if (is_float(dtype)) return constant(dtype, static_cast<double>(value));
  Expr e;
  e.node_ = sealed({.op = ExprOp::constant,
                    .dtype = dtype,
                    .untyped = false,
                    .index = 0,
                    .float_value = 0,
                    .int_value = wrap_integer(dtype, value),
                    .size = 0,
                    .args = {}});
  return e;
}

Expr Expr::input(int index, DType dtype) {
  Expr e;
  e.node_ = sealed(
      {.op = ExprOp::input, .dtype = dtype, .untyped = false, .index = index, .float_value = 0, .int_value = 0, .size = 0, .args = {}});
  return e;
}

Expr Expr::axis(int index) {
  Expr e;
  e.node_ = sealed(
      {.op = ExprOp::axis, .dtype = DType::i64, .untyped = false, .index = index, .float_value = 0, .int_value = 0, .size = 0, .args = {}});
  return e;
}

Expr Expr::dim(Dim size) {
  if (size.is_number()) return integer(DType::i64, size.value());
  Expr e;
  e.node_ = sealed(
      {.op = ExprOp::dim, .dtype = DType::i64, .untyped = false, .index = 0, .float_value = 0, .int_value = 0, .size = size, .args = {}});
  return e;
}

Expr Expr::make(ExprOp op, DType dtype, std::vector<Expr> args) {
  bool untyped = !args.empty() && op != ExprOp::cast && !gives_bool(op);
  for (size_t i = op == ExprOp::select ? 1 : 0; i < args.size(); ++i) untyped &= args[i]->untyped;
  Expr e;
  e.node_ = sealed(
      {.op = op, .dtype = dtype, .untyped = untyped, .index = 0, .float_value = 0, .int_value = 0, .size = 0, .args = std::move(args)});
  return e;
}

DType Expr::dtype() const { return node_->dtype; }
ExprOp Expr::op() const { return node_->op; }
std::span<const Expr> Expr::args() const { return node_->args; }

Expr with_dtype(const Expr& e, DType dtype) {
  if (!e->untyped) return e;
  if (e.op() == ExprOp::constant) {
    return is_float(dtype) ? Expr::constant(dtype, e->float_value)
                           : Expr::integer(dtype, dtype == DType::boolean ? e->float_value != 0 : e->int_value);
  }
  std::vector<Expr> args(e.args().begin(), e.args().end());
  for (size_t i = e.op() == ExprOp::select ? 1 : 0; i < args.size(); ++i) args[i] = with_dtype(args[i], dtype);
  return Expr::make(e.op(), dtype, std::move(args));
}

Expr unary(ExprOp op, Expr a) {
  if (takes_bools(op)) a = with_dtype(a, DType::boolean);
  const DType dtype = gives_bool(op) ? DType::boolean : a.dtype();
  return Expr::make(op, dtype, {std::move(a)});
}

Expr binary(ExprOp op, Expr a, Expr b) {
  if (takes_bools(op)) {
    a = with_dtype(a, DType::boolean);
    b = with_dtype(b, DType::boolean);
  }
  unify(a, b);
  const DType dtype = gives_bool(op) ? DType::boolean : a.dtype();
  return Expr::make(op, dtype, {std::move(a), std::move(b)});
}

Expr operator+(Expr a, Expr b) { return binary(ExprOp::add, std::move(a), std::move(b)); }
Expr operator-(Expr a, Expr b) { return binary(ExprOp::sub, std::move(a), std::move(b)); }
Expr operator*(Expr a, Expr b) { return binary(ExprOp::mul, std::move(a), std::move(b)); }
Expr operator/(Expr a, Expr b) { return binary(ExprOp::div, std::move(a), std::move(b)); }
Expr operator-(Expr a) { return unary(ExprOp::neg, std::move(a)); }
Expr operator<(Expr a, Expr b) { return binary(ExprOp::less, std::move(a), std::move(b)); }
Expr operator<=(Expr a, Expr b) { return binary(ExprOp::less_equal, std::move(a), std::move(b)); }
Expr operator>(Expr a, Expr b) { return binary(ExprOp::less, std::move(b), std::move(a)); }
Expr operator>=(Expr a, Expr b) { return binary(ExprOp::less_equal, std::move(b), std::move(a)); }
Expr logical_and(Expr a, Expr b) { return binary(ExprOp::logical_and, std::move(a), std::move(b)); }
Expr logical_or(Expr a, Expr b) { return binary(ExprOp::logical_or, std::move(a), std::move(b)); }
Expr logical_not(Expr a) { return unary(ExprOp::logical_not, std::move(a)); }
Expr equal(Expr a, Expr b) { return binary(ExprOp::equal, std::move(a), std::move(b)); }

Expr select(Expr condition, Expr then, Expr otherwise) {
  condition = with_dtype(condition, DType::boolean);
  TENON_ASSERT(condition.dtype() == DType::boolean);
  unify(then, otherwise);
  const DType dtype = then.dtype();
  return Expr::make(ExprOp::select, dtype, {std::move(condition), std::move(then), std::move(otherwise)});
}

Expr cast(Expr a, DType dtype) {
  if (a->untyped) return with_dtype(a, dtype);
  return a.dtype() == dtype ? a : Expr::make(ExprOp::cast, dtype, {std::move(a)});
}

bool is_zero(const Expr& e) {
  if (!e || e.op() != ExprOp::constant) return false;
  return is_float(e.dtype()) ? e->float_value == 0 : e->int_value == 0;
}

namespace {

bool is_leaf(ExprOp op) { return op == ExprOp::input || op == ExprOp::axis || op == ExprOp::dim; }

struct ExprSubstitution {
  const std::function<Expr(const ExprNode&)>& leaf;
  std::unordered_map<const ExprNode*, Expr> done;

  Expr of(const Expr& e) {
    if (e.op() == ExprOp::constant) return e;
    if (is_leaf(e.op())) {
      Expr answer = leaf(*e);
      return answer ? with_dtype(answer, e.dtype()) : e;
    }
    if (const auto found = done.find(e.get()); found != done.end()) return found->second;
    std::vector<Expr> args;
    bool changed = false;
    for (const Expr& arg : e.args()) {
      args.push_back(of(arg));
      changed |= args.back().get() != arg.get();
    }
    Expr result = changed ? Expr::make(e.op(), e.dtype(), std::move(args)) : e;
    done.emplace(e.get(), result);
    return result;
  }
};

bool same_node(const ExprNode& a, const ExprNode& b) {
  return a.op == b.op && a.dtype == b.dtype && a.index == b.index && a.int_value == b.int_value && a.size == b.size &&
         std::bit_cast<uint64_t>(a.float_value) == std::bit_cast<uint64_t>(b.float_value) && a.args.size() == b.args.size();
}

struct PairHash {
  size_t operator()(const std::pair<const ExprNode*, const ExprNode*>& p) const {
    return mix(std::hash<const void*>{}(p.first), std::hash<const void*>{}(p.second));
  }
};
using SeenPairs = std::unordered_set<std::pair<const ExprNode*, const ExprNode*>, PairHash>;

bool same_tree(const Expr& a, const Expr& b, SeenPairs& seen) {
  if (a.get() == b.get()) return true;
  if (a->hash != b->hash || !same_node(*a, *b)) return false;
  if (!a->args.empty() && !seen.emplace(a.get(), b.get()).second) return true;  // being compared, or found alike before
  for (size_t i = 0; i < a->args.size(); ++i) {
    if (!same_tree(a->args[i], b->args[i], seen)) return false;
  }
  return true;
}

}  // namespace

Expr substitute(const Expr& e, const std::function<Expr(const ExprNode& leaf)>& leaf) { return ExprSubstitution{leaf, {}}.of(e); }

bool same(const Expr& a, const Expr& b) {
  if (a.get() == nullptr || b.get() == nullptr) return a.get() == b.get();
  SeenPairs seen;
  return same_tree(a, b, seen);
}

size_t hash_of(const Expr& e) { return e.get() ? e->hash : 0; }

}  // namespace tenon::inline base
