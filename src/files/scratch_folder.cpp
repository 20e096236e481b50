// SPDX-License-Identifier: Apache-2.0
#include "files/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tenon::files {

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code error;
  const std::filesystem::path base = std::filesystem::temp_directory_path(error);
  std::string path = (base / "tenon-XXXXXX").string();
  if (error || !mkdtemp(path.data()))
    return fail(Code::write_failed, base.string(), "cannot make a temporary folder")
        .expected("a folder in $TMPDIR that may be written")
        .found(error ? error.message() : std::strerror(errno));
  return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace tenon::files
