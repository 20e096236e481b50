// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>

namespace tenon::files {

/// Makes these whole pages, which hold nothing yet, read-only pages of a file that holds `bytes`, as many: those that are read are in
/// memory, and the system may drop them. The file lies in $TMPDIR, else in /var/tmp, has no name, so that nobody else changes it or cuts it
/// off, and ends with the mapping. False, and nothing is done, where the folder is memory itself, does not promise the room, or takes no
/// such file.
[[nodiscard]] bool map_anonymous_file(std::span<std::byte> pages, std::span<const std::byte> bytes);

}  // namespace tenon::files
