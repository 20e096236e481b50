// SPDX-License-Identifier: Apache-2.0
#include "cli/console/command_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "files/atomic_write.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

/// One file, by whatever names. False where either does not exist.
bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

/// Names of what is not there yet: equal once links of folders are resolved.
bool is_same_name(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(a, error), error) == fs::weakly_canonical(fs::absolute(b, error), error) && !error;
}

Error overwrites(const std::string& option, const fs::path& output, const std::string& other, const fs::path& path) {
  return fail(Code::bad_usage, option + " " + output.string(), "the output would overwrite " + other)
      .expected("a file that the command does not read or write otherwise")
      .found("the file of " + other + (path == output ? "" : ", " + path.string()))
      .advice("choose another name for the output");
}

Result<void> check_folder_writable(const std::string& option, const fs::path& folder) {
  const auto refused = [&](const fs::path& at, const char* reason) {
    return fail(Code::write_failed, option + " " + folder.string(), "the folder cannot be written")
        .expected("a folder, or a name for one in a folder that may be written")
        .found(at.string() + ": " + reason)
        .advice("choose another folder");
  };
  std::error_code error;
  fs::path at = fs::absolute(folder, error);
  while (!fs::exists(fs::symlink_status(at, error)) && at.has_relative_path()) at = at.parent_path();
  if (!fs::is_directory(at, error)) return refused(at, error ? std::strerror(error.value()) : std::strerror(ENOTDIR));
  if (::access(at.c_str(), W_OK | X_OK) != 0) return refused(at, std::strerror(errno));
  return {};
}

}  // namespace

Result<void> CommandFiles::check() const {
  for (const auto& [option, path] : outputs_) TRY(check_output(option, path));
  for (const auto& [option, path] : folders_) TRY(check_folder_writable(option, path));
  return check_distinct();
}

Result<void> CommandFiles::check_output(const std::string& option, const fs::path& path) const {
  for (const NamedFile& input : inputs_)
    if (is_same_file(input.path, path)) return overwrites(option, path, input.option, input.path);
  TRY(files::AtomicFile::create(path));  // without a commit it leaves nothing
  return {};
}

Result<void> CommandFiles::check_distinct() const {
  for (size_t i = 0; i < outputs_.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (is_same_file(outputs_[i].path, outputs_[k].path) || is_same_name(outputs_[i].path, outputs_[k].path))
        return overwrites(outputs_[i].option, outputs_[i].path, outputs_[k].option, outputs_[k].path);
  return {};
}

Result<void> CommandFiles::check_folder(const std::string& option, const fs::path& folder,
                                        const std::function<bool(const std::string& name)>& may_write) const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!may_write(entry.path().filename().string())) continue;
    for (const NamedFile& input : inputs_)
      if (is_same_file(input.path, entry.path())) return overwrites(option, entry.path(), input.option, input.path);
  }
  return {};
}

}  // namespace tenon::cli
