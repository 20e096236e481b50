// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "runtime/device.h"

namespace tenon::tests {

/// What `far` does, of what backends do: the reference on a device with a memory of its own. It takes the time that it states.
struct FarBehaviour {
  /// What happens instead of an answer. The last four are lies of a run: its first result has another shape, element type or number in it,
  /// or there is none.
  enum class Deed : uint8_t { answers, fails, crashes, leaves, hangs, shape, dtype, number, count };

  backend::Overheads overheads{.launch_ns = 2000, .own_memory = true, .copy_ns = 1000, .copy_ns_per_byte = 0.1};
  double faster = 8;                                 ///< than what cpu guesses of its kernels
  std::set<std::string, std::less<>> refuses = {};   ///< ops
  std::map<std::string, Deed, std::less<>> at = {};  ///< library, supports, compile, open, make, run

  /// "launch=500 copy=1000 copy_per_byte=0.1 faster=4 refuses=Exp,Neg run=crashes", in any order. Errors: bad_usage.
  static Result<FarBehaviour> parse(std::string_view text);
  /// What TENON_FAR says; ends the process where that says nothing.
  static FarBehaviour of_environment();

  /// Does what it is to do there; where that is to lie, says which lie. Errors: device_failed where it is to fail.
  Result<Deed> act(std::string_view call) const;
};

std::unique_ptr<const backend::Backend> far_backend(FarBehaviour behaviour);
std::shared_ptr<const runtime::Device> far_device(FarBehaviour behaviour);

}  // namespace tenon::tests
