// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/lexer.h"
#include "ir/text.h"

namespace tenon::ir {

/// Reads types, tensors and attributes of the text form.
class ValueParser {
 public:
  /// structure_only: constants whose bytes the text lacks become Constant::Reference (see parse_structure).
  ValueParser(Lexer& lexer, Symbols& symbols, const TextConstants* big, bool structure_only = false)
      : lexer_(lexer), symbols_(symbols), big_(big), structure_only_(structure_only) {}

  /// A name, bare or quoted. what: names it in errors.
  Result<std::string> name(std::string_view what);
  Result<Type> type();
  /// One symbol of a `symbol` line: "batch", "seq in 1 to 8".
  Result<void> symbol();
  Result<int64_t> integer(std::string_view what);
  /// "[batch, 2*seq + 1]"
  Result<DimList> sizes();
  /// What follows `const name: type =` and `attribute=type =`.
  Result<ConstantRef> constant(const Type& type);
  Result<Attribute> attribute();

 private:
  static constexpr int64_t kByteBudget = int64_t{256} << 20;  ///< for all tensors that one text makes
  static constexpr size_t kMaxRank = 64;
  static constexpr int64_t kMaxElements = int64_t{1} << 56;  ///< of a constant whose bytes the text lacks

  Result<Type> tensor_type();
  Result<Type> map_type();
  Result<DimList> sizes_in(std::string_view text, const Token& near);
  Result<Dim> dim(std::string_view text, const Token& near);
  Result<Tensor> make(const Type& type, const Token& near);
  Result<void> elements(Tensor& out);
  Result<void> elements(Tensor& out, int64_t& count, int depth);
  Result<void> element(Tensor& out, int64_t i);
  Result<void> complex_element(Tensor& out, int64_t i);
  Result<Tensor> splat(DType dtype);
  bool is_without_bytes(const Token& token) const;
  Result<ConstantRef> unread(const Type& type);
  Result<void> float_element(Tensor& out, int64_t i, const Token& token);
  Result<void> integer_element(Tensor& out, int64_t i, const Token& token);
  Result<double> number(const Token& token);
  Result<ConstantRef> by_number(const Type& type);
  Result<Attribute> list();
  Result<Attribute> named_attribute();

  Lexer& lexer_;
  Symbols& symbols_;
  const TextConstants* big_;
  const bool structure_only_;
  int64_t bytes_left_ = kByteBudget;
};

/// Merges an inferred type into the type that the text declares: unknown parts are filled in; where both sizes are symbolic, the declared
/// one stays. False where they contradict.
bool merge_types(Type& declared, const Type& inferred);

}  // namespace tenon::ir
