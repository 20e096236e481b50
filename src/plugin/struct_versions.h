// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstring>

namespace tenon::plugin {

/// A struct of a library, which may be of another version of the interface, as this host's version: fields that the library does not have
/// are 0, fields that only the library has are dropped.
template <class Struct>
Struct adapted(const Struct& given) {
  Struct out{};
  std::memcpy(&out, &given, std::min(given.struct_size, sizeof out));
  out.struct_size = sizeof out;
  return out;
}

/// A struct of this host's version, with all fields 0 but struct_size.
template <class Struct>
Struct blank() {
  Struct out{};
  out.struct_size = sizeof out;
  return out;
}

}  // namespace tenon::plugin
