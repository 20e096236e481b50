// SPDX-License-Identifier: Apache-2.0
#include <sodium/crypto_hash_sha256.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

#include "plugin/library.h"

namespace tenon::plugin {

namespace {

std::string hexadecimal(std::span<const unsigned char> digest) {
  std::string out;
  for (const unsigned char byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace

std::string sha256_of_text(std::string_view text) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return hexadecimal(digest);
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
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::array<unsigned char, 65536> block;
  while (const size_t count = std::fread(block.data(), 1, block.size(), from.get())) crypto_hash_sha256_update(&state, block.data(), count);
  if (std::ferror(from.get())) return unread();
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest;
  crypto_hash_sha256_final(&state, digest.data());
  return hexadecimal(digest);
}

}  // namespace tenon::plugin
