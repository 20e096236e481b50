/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused before anything runs; options; strings; names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

/* Structs of a caller whose header has one field more than the library's. */
typedef struct newer_load_options {
  tenon_load_options known;
  int64_t more;
} newer_load_options;

static int check_load_options(const char* path) {
  int failures = 0;
  tenon_engine* engine = NULL;
  tenon_load_options options = {.struct_size = sizeof options, .verify = 1};
  CHECK_OK(tenon_engine_load(path, &options, &engine, &error));
  tenon_engine_free(engine);
  newer_load_options newer = {.known = options};
  newer.known.struct_size = sizeof newer;
  CHECK_OK(tenon_engine_load(path, &newer.known, &engine, &error));
  tenon_engine_free(engine);
  newer.more = 1;
  CHECK_FAILS(TENON_CODE_NOT_SUPPORTED, "not supported yet", tenon_engine_load(path, &newer.known, &engine, &error));
  const char* const plugins[] = {"nowhere.so", NULL};
  options.plugins = plugins;
  options.plugin_count = 1;
  CHECK_FAILS(TENON_CODE_FILE_MISSING, "nowhere.so", tenon_engine_load(path, &options, &engine, &error));
  options.plugin_count = 2;
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "plugins", tenon_engine_load(path, &options, &engine, &error));
  options.plugins = NULL;
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "plugins", tenon_engine_load(path, &options, &engine, &error));
  options = (tenon_load_options){.struct_size = sizeof options, .plugin_timeout_ms = -1};
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "plugin_timeout_ms", tenon_engine_load(path, &options, &engine, &error));
  options = (tenon_load_options){.struct_size = 4};
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "struct_size", tenon_engine_load(path, &options, &engine, &error));
  return failures;
}

/* The whole file. NULL where it cannot be read. */
static char* bytes_of(const char* path, size_t* size) {
  FILE* const file = fopen(path, "rb");
  if (file == NULL) return NULL;
  (void)fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char* const bytes = malloc(*size);
  const size_t read = bytes != NULL ? fread(bytes, 1, *size, file) : 0;
  (void)fclose(file);
  if (read == *size) return bytes;
  free(bytes);
  return NULL;
}

static int check_bytes(const char* path) {
  int failures = 0;
  size_t size = 0;
  char* const bytes = bytes_of(path, &size);
  tenon_engine* engine = NULL;
  CHECK(bytes != NULL);
  if (bytes == NULL) return failures;
  CHECK_OK(tenon_engine_load_bytes(bytes, size, NULL, &engine, &error));
  const tenon_load_options verify = {.struct_size = sizeof verify, .verify = 1};
  bytes[size / 2] ^= 1;
  tenon_engine* none = NULL;
  CHECK_FAILS(TENON_CODE_BAD_FILE, "", tenon_engine_load_bytes(bytes, size, &verify, &none, &error));
  CHECK_FAILS(TENON_CODE_BAD_FILE, "", tenon_engine_load_bytes(bytes, 10, NULL, &none, &error));
  CHECK_FAILS(TENON_CODE_BAD_FILE, "", tenon_engine_load_bytes(bytes, 0, NULL, &none, &error));
  free(bytes);
  CHECK(none == NULL && tenon_engine_describe(engine)->entry_count == 1);
  tenon_engine_free(engine);
  return failures;
}

int test_refused_loads(const char* path, const char* missing) {
  int failures = 0;
  tenon_engine* engine = NULL;
  CHECK_FAILS(TENON_CODE_FILE_MISSING, missing, tenon_engine_load(missing, NULL, &engine, &error));
  CHECK(tenon_engine_load(missing, NULL, &engine, NULL) == TENON_CODE_FILE_MISSING && engine == NULL);
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "path", tenon_engine_load(NULL, NULL, &engine, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "engine", tenon_engine_load(path, NULL, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "bytes", tenon_engine_load_bytes(NULL, 100, NULL, &engine, &error));
  failures += check_load_options(path) + check_bytes(path);
  CHECK(strcmp(tenon_code_name(TENON_CODE_BAD_INPUT), "bad_input") == 0 && strcmp(tenon_code_name(0), "ok") == 0);
  CHECK(strcmp(tenon_code_name(12345), "unknown") == 0 && strcmp(tenon_code_name(-1), "unknown") == 0);
  CHECK(strcmp(tenon_dtype_name(TENON_DTYPE_BF16), "bf16") == 0 && strcmp(tenon_dtype_name(TENON_DTYPE_I2), "i2") == 0);
  CHECK(strcmp(tenon_dtype_name(27), "unknown") == 0 && strcmp(tenon_dtype_name(-1), "unknown") == 0);
  CHECK(tenon_runtime_version() == TENON_RUNTIME_VERSION && strncmp(tenon_release(), "tenon ", 6) == 0);
  CHECK(tenon_error_code(NULL) == TENON_CODE_OK && tenon_error_text(NULL)[0] == '\0' && tenon_error_found(NULL)[0] == '\0');
  tenon_engine_free(NULL);
  tenon_error_free(NULL);
  tenon_bytes_free(NULL);
  return failures;
}

static int check_pool(const tenon_engine* engine, const tenon_array* inputs) {
  int failures = 0;
  tenon_thread_pool* pool = NULL;
  tenon_context* context = NULL;
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "", tenon_thread_pool_create(-1, NULL, 0, &pool, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "cpus", tenon_thread_pool_create(1, NULL, 1, &pool, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "pool", tenon_thread_pool_create(1, NULL, 0, NULL, &error));
  CHECK_OK(tenon_thread_pool_create(2, NULL, 0, &pool, &error));
  const tenon_context_options options = {.struct_size = sizeof options, .threads = 2, .pool = pool};
  CHECK_OK(tenon_context_create(engine, &options, &context, &error));
  tenon_thread_pool_free(pool);
  tenon_thread_pool_free(NULL);
  CHECK_OK(tenon_context_run(context, NULL, inputs, 2, NULL, 0, NULL, &error));
  tenon_context_free(context);
  const tenon_context_options negative = {.struct_size = sizeof negative, .threads = -1};
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "threads", tenon_context_create(engine, &negative, &context, &error));
  return failures;
}

int test_options(const char* path) {
  int failures = 0;
  const int64_t shapes[] = {1, 4};
  float numbers[4] = {1, 2, 3, 4};
  const tenon_array inputs[2] = {{sizeof inputs[0], "x", TENON_DTYPE_F32, 2, shapes, numbers, sizeof numbers},
                                 {sizeof inputs[0], "k", TENON_DTYPE_F32, 1, shapes + 1, numbers, sizeof numbers}};
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  tenon_stop_token* token = NULL;
  CHECK_OK(tenon_engine_load(path, NULL, &engine, &error));
  failures += check_pool(engine, inputs);
  CHECK_OK(tenon_context_create(engine, NULL, &context, &error));
  CHECK_OK(tenon_stop_token_create(&token, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "token", tenon_stop_token_create(NULL, &error));
  tenon_run_options options = {.struct_size = sizeof options, .threads = 1, .check_memory = 1, .timeout_ns = INT64_MAX, .stop = token};
  options.has_seed = 1;
  CHECK_OK(tenon_context_run(context, NULL, inputs, 2, NULL, 0, &options, &error));
  tenon_stop_token_stop(token);
  CHECK_FAILS(TENON_CODE_CANCELLED, "", tenon_context_run(context, NULL, inputs, 2, NULL, 0, &options, &error));
  tenon_stop_token_reset(token);
  CHECK_OK(tenon_context_run(context, NULL, inputs, 2, NULL, 0, &options, &error));
  options.timeout_ns = -1;
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "timeout_ns", tenon_context_run(context, NULL, inputs, 2, NULL, 0, &options, &error));
  options = (tenon_run_options){.struct_size = sizeof options, .timeout_ns = 1};
  CHECK_FAILS(TENON_CODE_DEADLINE, "", tenon_context_run(context, NULL, inputs, 2, NULL, 0, &options, &error));
  options = (tenon_run_options){.struct_size = sizeof options, .threads = -3};
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "threads", tenon_context_run(context, NULL, inputs, 2, NULL, 0, &options, &error));
  options = (tenon_run_options){.struct_size = 0};
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "struct_size", tenon_context_run(context, NULL, inputs, 2, NULL, 0, &options, &error));
  tenon_stop_token_stop(NULL);
  tenon_stop_token_reset(NULL);
  tenon_stop_token_free(token);
  tenon_stop_token_free(NULL);
  tenon_context_free(context);
  tenon_engine_free(engine);
  return failures;
}

int test_strings(const char* path) {
  int failures = 0;
  const int64_t shape[] = {3};
  tenon_string texts[3] = {{"one", 3}, {"", 0}, {"th\0ree", 6}};
  tenon_array input = {sizeof input, "text", TENON_DTYPE_STRING, 1, shape, texts, sizeof texts};
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  CHECK_OK(tenon_engine_load(path, NULL, &engine, &error));
  CHECK_OK(tenon_context_create(engine, NULL, &context, &error));
  CHECK_OK(tenon_context_run(context, NULL, &input, 1, NULL, 0, NULL, &error));
  tenon_array got = {.struct_size = sizeof got};
  CHECK_OK(tenon_context_result_at(context, 0, &got, &error));
  const tenon_string* const same = got.data;
  CHECK(got.dtype == TENON_DTYPE_STRING && got.shape[0] == 3 && got.bytes == sizeof texts && same != texts);
  for (int i = 0; same != NULL && i < 3; ++i)
    CHECK(same[i].size == texts[i].size && memcmp(same[i].data, texts[i].data, texts[i].size) == 0);
  const tenon_array output = {sizeof output, NULL, TENON_DTYPE_STRING, 1, shape, texts, sizeof texts};
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "not supported yet", tenon_context_run(context, NULL, &input, 1, &output, 1, NULL, &error));
  texts[1] = (tenon_string){NULL, 1};
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "text is missing", tenon_context_run(context, NULL, &input, 1, NULL, 0, NULL, &error));
  input.bytes -= 1;
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "47 bytes", tenon_context_run(context, NULL, &input, 1, NULL, 0, NULL, &error));
  tenon_context_free(context);
  tenon_engine_free(engine);
  return failures;
}
