// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::inline base {

class Symbols;
struct DimNode;

/// A size: a number, or an interned polynomial over named symbols, with floor division, min and max.
/// Equal polynomials have equal handles: `seq*64 == 64*seq`. Eight bytes, cheap to copy.
/// Symbolic values live as long as the Symbols that made their symbols; two Symbols never mix in one operation.
class Dim {
 public:
  constexpr Dim() = default;
  constexpr Dim(int64_t value) : bits_((static_cast<uint64_t>(value) << 1) | 1) {}  // NOLINT: numbers are dims
  constexpr Dim(int value) : Dim(static_cast<int64_t>(value)) {}                    // NOLINT

  bool is_number() const { return bits_ & 1; }
  /// The number; only where is_number().
  int64_t value() const { return static_cast<int64_t>(bits_) >> 1; }
  std::optional<int64_t> number() const { return is_number() ? std::optional(value()) : std::nullopt; }
  /// Arithmetic left 62 bits, or the value outgrew 512 terms or 4096 parts: no size, compares unequal to all sizes, and every operation on
  /// it gives it again.
  bool is_overflow() const;

  /// Bounds that hold for every legal value of the symbols; saturated at +-2^62.
  int64_t lower() const;
  int64_t upper() const;
  /// Settled by intervals and polynomial difference; nullopt where it depends on the symbols.
  std::optional<bool> equals(Dim other) const;
  std::optional<bool> less(Dim other) const;
  bool known_equal(Dim other) const { return equals(other).value_or(false); }

  /// The polynomial: "seq", "64*seq + 1", "floordiv(seq + 1, 2)".
  std::string text() const;
  /// The dim that an interned node stands for.
  static Dim of(const DimNode* node) { return Dim(node); }
  /// Node of a symbolic dim; nullptr for a number.
  const DimNode* node() const { return is_number() ? nullptr : reinterpret_cast<const DimNode*>(bits_); }
  size_t hash() const { return std::hash<uint64_t>{}(bits_); }
  friend bool operator==(Dim a, Dim b) { return a.bits_ == b.bits_; }

 private:
  friend class Symbols;
  friend struct DimAlgebra;
  explicit Dim(const DimNode* node) : bits_(reinterpret_cast<uint64_t>(node)) {}
  uint64_t bits_ = 1;
};

Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
/// Rounds towards minus infinity. A division by the number 0 overflows; by a symbol that may be 0 is kept.
Dim floor_div(Dim a, Dim b);
Dim ceil_div(Dim a, Dim b);
Dim mod(Dim a, Dim b);
/// The polynomial q with q * b == a, whatever values the symbols take (so a symbol in `b` cancels even where it may be 0);
/// nullopt where there is none. This is what the -1 of a Reshape needs.
std::optional<Dim> exact_quotient(Dim a, Dim b);
Dim min(Dim a, Dim b);
Dim max(Dim a, Dim b);
/// a where `condition` != 0, else b.
Dim select(Dim condition, Dim a, Dim b);
/// 1 where a < b (a == b), else 0.
Dim less_than(Dim a, Dim b);
Dim equal_to(Dim a, Dim b);

using DimList = std::vector<Dim>;
/// "[batch, seq, 768]"
std::string text_of(const DimList& dims);
/// Product of all; 1 for none.
Dim product(const DimList& dims);

/// One symbolic dim taken apart. Interned: compare by address.
struct DimNode {
  enum class Kind : uint8_t { symbol, polynomial, floor_div, min, max, select, less, equal, overflow };
  /// coefficient * product of factors (each a symbol, floor_div, min, ...; a power is a repeated factor).
  struct Term {
    int64_t coefficient;
    std::vector<const DimNode*> factors;
  };
  Kind kind;
  Symbols* symbols;
  uint32_t id;  ///< order of creation; also the order of terms
  int64_t lower, upper;
  uint32_t weight = 1;        ///< how many parts it has when written out; bounded
  std::string name;           ///< symbol
  std::vector<Term> terms;    ///< polynomial, sorted; a term without factors is the constant
  std::vector<Dim> operands;  ///< floor_div, min, max, less, equal: two; select: three
};

/// Owns the symbols and the interned polynomials of one graph (and of its bodies). Not thread-safe.
class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// The symbol of that name; made with the bounds given when new, narrowed to them otherwise.
  Dim symbol(std::string_view name, int64_t lower = 0, int64_t upper = int64_t{1} << 40);
  /// A new symbol that no other name equals ("u0", "u1", ...): a size that depends on data.
  Dim fresh(std::string_view prefix = "u", int64_t lower = 0, int64_t upper = int64_t{1} << 40);
  const std::vector<Dim>& all() const;
  /// Reads what Dim::text() writes; nullopt where it is none.
  std::optional<Dim> parse(std::string_view text);

 private:
  friend struct DimAlgebra;
  struct State;
  std::unique_ptr<State> state_;
};

/// Rebuilds `dim` with each symbol replaced by what `value_of` answers (a number or another dim, also of other Symbols).
Dim substitute(Dim dim, const std::function<Dim(const DimNode& symbol)>& value_of);
/// Calls `visit` once for each symbol that `dim` contains.
void each_symbol(Dim dim, const std::function<void(const DimNode& symbol)>& visit);

}  // namespace tenon::inline base

template <>
struct std::hash<tenon::base::Dim> {
  size_t operator()(tenon::base::Dim d) const { return d.hash(); }
};
