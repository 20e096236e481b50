// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>

namespace tenon::files {

/// Writes `bytes` to a file without a name and maps it read-only at `pages` (page-aligned, unused, of the same size). The system loads a
/// page when it is read, and may drop it again. The file is in $TMPDIR, else in /var/tmp; nobody else can change or truncate it, and it is
/// deleted with the mapping. False, with `pages` unchanged, where the folder is on a RAM disk, cannot reserve the space, or supports no
/// files without names.
[[nodiscard]] bool map_anonymous_file(std::span<std::byte> pages, std::span<const std::byte> bytes);

}  // namespace tenon::files
