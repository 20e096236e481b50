// SPDX-License-Identifier: Apache-2.0
#include "codegen/collect/size_checks.h"

#include <algorithm>

#include "base/expr/linear.h"

namespace tenon::codegen {

namespace {

using Kind = ir::Assumption::Kind;

class Checker {
 public:
  Checker(const Nest& nest, const Plan& plan, const ir::Assumptions& assumed, const std::string& where, ir::Assumptions& checks)
      : plan_(plan), assumed_(assumed), where_(where), checks_(checks) {
    for (const ops::Axis& a : nest.axes) extents_.push_back(a.extent);
  }

  void check_index(const std::vector<Expr>& index, ArrayId array) {
    const DimList& shape = plan_.arrays[array].shape;
    if (index.size() != shape.size()) return;
    for (size_t d = 0; d < index.size(); ++d) {
      if (!is_range_exact(index[d])) continue;
      const ExprRange range = range_of(index[d], extents_);
      if (range.upper) require(shape[d] - 1, *range.upper, "an index exceeds its array");
      if (range.lower) require(*range.lower, 0, "a place lies before the start of its array");
    }
  }

 private:
  /// Whether the index takes the ends of its range: it is a sum of different axes. Ranges of other expressions are only bounds. A factor
  /// that may be 0 is that of a broadcast axis, which inference has checked.
  static bool is_range_exact(const Expr& index) {
    const Linear sum = linear_of(index);
    return !sum.overflowed() && std::ranges::all_of(sum.terms, [](const auto& term) {
      return term.first.op() == ExprOp::axis && (term.second.is_number() || term.second.lower() > 0);
    });
  }

  void require(Dim a, Dim b, const char* what) {
    if (a.is_overflow() || b.is_overflow() || assumed_.implies(Kind::at_least, a, b)) return;
    checks_.add(Kind::at_least, a, b, [&](ir::Assumption& made) {
      made.where = where_;
      made.what = what;
    });
  }

  std::vector<Dim> extents_;
  const Plan& plan_;
  const ir::Assumptions& assumed_;
  const std::string& where_;
  ir::Assumptions& checks_;
};

}  // namespace

void add_size_checks(const Nest& nest, const Plan& plan, const ir::Assumptions& assumed, const std::string& where,
                     ir::Assumptions& checks) {
  Checker check(nest, plan, assumed, where, checks);
  for (const NestAccess& a : nest.accesses)
    if (!a.within) check.check_index(a.index, a.array);
  for (const NestOutput& o : nest.outputs)
    if (!o.within) check.check_index(o.index, o.array);
}

}  // namespace tenon::codegen
