// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "engine/writer.h"
#include "ir/constant.h"

namespace tenon::compiler {

/// The constants of an engine without code: an index of JSON entries, and the bytes of tensors. An entry has dtype and shape, and then
///     {"offset": N}                              a tensor, N bytes into the weights
///     {"blocks": "Q4_1", "at": N}                blocks of that format; programs that read tensors alone find no offset
///     {"step": "permute", "order": [1, 0], "of": ENTRY}, likewise slice (axis, begin, end, by), reshape, cast, and concat (axis) of a list
/// The last two are used where the tensors that they are made of have fewer bytes than the constant: matrices in blocks and narrow types.
class StoredConstants {
 public:
  /// The entry of a constant. compares: also searches the constants so far for an equal one, whose bytes it then shares.
  nlohmann::ordered_json add(const ir::ConstantRef& constant, bool compares);
  /// Bytes of all tensors so far, each aligned.
  int64_t bytes() const { return end_; }
  /// Writes these bytes. Errors: those of ConstantStream::next and of `append`.
  Result<void> write(engine::Append append) const;

 private:
  int64_t place(const ir::ConstantRef& bytes, bool compares);
  nlohmann::ordered_json entry_of(const ir::ConstantRef& constant);

  std::vector<ir::ConstantRef> written_;
  std::vector<int64_t> offsets_;                    ///< of `written_`
  std::map<const std::byte*, size_t> first_bytes_;  ///< numbers of tensors in `written_`, by where their bytes are
  int64_t end_ = 0;
};

/// The constant of entry number k. The entry is not trusted: each field is checked. weights: where the tensors are, without a copy, kept
/// alive by `keeper`. Errors: bad_file.
Result<ir::ConstantRef> read_constant(const nlohmann::ordered_json& entry, size_t k, std::span<const std::byte> weights,
                                      const std::shared_ptr<const void>& keeper, std::string_view place);

}  // namespace tenon::compiler
