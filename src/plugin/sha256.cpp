// SPDX-License-Identifier: Apache-2.0
// The functions of SHA-256 alone: EVP, and SHA256() which calls it, pull in 4 MB.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "plugin/library.h"

namespace tenon::plugin {

namespace {

std::string digest_of(SHA256_CTX& state) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256_Final(digest.data(), &state);
  std::string out;
  for (const unsigned char byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace

std::string sha256_of_text(std::string_view text) {
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, text.data(), text.size());
  return digest_of(state);
}

Result<std::string> sha256_of(const std::filesystem::path& file) {
  const std::unique_ptr<FILE, decltype([](FILE* f) { std::fclose(f); })> from(std::fopen(file.c_str(), "rb"));
  const auto unread = [&] {
    return fail(Code::file_missing, file.string(), "the plugin library cannot be read")
        .expected("a shared library")
        .found(std::strerror(errno))
        .advice("give the path of the library");
  };
  if (!from) return unread();
  SHA256_CTX state;
  SHA256_Init(&state);
  std::array<unsigned char, 65536> block;
  while (const size_t count = std::fread(block.data(), 1, block.size(), from.get())) SHA256_Update(&state, block.data(), count);
  if (std::ferror(from.get())) return unread();
  return digest_of(state);
}

}  // namespace tenon::plugin
