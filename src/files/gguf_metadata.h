// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "files/gguf.h"

namespace tenon::files {

/// The bytes of a GGUF file (version 3) without tensors, with the metadata whose keys begin with one of the prefixes, in the order of
/// `file`.
std::string metadata_file(const Gguf& file, std::initializer_list<std::string_view> prefixes);

}  // namespace tenon::files
