/* SPDX-License-Identifier: Apache-2.0 */
/* States, on an engine that the program state_engine writes: `append` adds rows to `rows` (f32[..4,2]) and doubles `power` (f32[2],
 * initially 1); `peek` returns `rows`. */
#include <stdio.h>
#include <string.h>

#include "checks.h"

static tenon_context* context_of(const char* path) {
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  if (tenon_engine_load(path, NULL, &engine, NULL) == TENON_CODE_OK) (void)tenon_context_create(engine, NULL, &context, NULL);
  tenon_engine_free(engine);
  return context;
}

static int32_t append(tenon_context* context, float value, tenon_error** error) {
  float row[2] = {value, -value};
  const int64_t shape[] = {1, 2};
  const tenon_array x = {sizeof x, "x", TENON_DTYPE_F32, 2, shape, row, sizeof row};
  return tenon_context_run(context, "append", &x, 1, NULL, 0, NULL, error);
}

/* Whether `rows` are value, -value of each of these. */
static int rows_are(tenon_context* context, int count, const float* values) {
  tenon_array got = {.struct_size = sizeof got};
  if (tenon_context_run(context, "peek", NULL, 0, NULL, 0, NULL, NULL) != TENON_CODE_OK) return 0;
  if (tenon_context_result(context, "rows", &got, NULL) != TENON_CODE_OK || got.rank != 2 || got.shape[0] != count) return 0;
  const float* const rows = got.data;
  for (int i = 0; i < count; ++i)
    if (rows[2 * i] != values[i] || rows[2 * i + 1] != -values[i]) return 0;
  return 1;
}

static float power_of(tenon_context* context) {
  tenon_array got = {.struct_size = sizeof got};
  return tenon_context_state(context, "power", &got, NULL) == TENON_CODE_OK ? ((const float*)got.data)[0] : -1;
}

static int check_copies(tenon_context* context, const char* saved) {
  int failures = 0;
  tenon_context* fork = NULL;
  void* bytes = NULL;
  size_t size = 0;
  CHECK_OK(tenon_context_fork(context, &fork, &error));
  CHECK_OK(tenon_context_save(context, saved, &error));
  CHECK_OK(tenon_context_save_bytes(context, &bytes, &size, &error));
  CHECK_OK(append(fork, 7, &error));
  CHECK(rows_are(fork, 3, (const float[]){1, 2, 7}) && rows_are(context, 2, (const float[]){1, 2}));
  CHECK_OK(tenon_context_restore(fork, saved, &error));
  CHECK(rows_are(fork, 2, (const float[]){1, 2}));
  CHECK_OK(tenon_context_reset(fork, NULL, &error));
  CHECK(rows_are(fork, 0, NULL) && power_of(fork) == 1);
  CHECK_OK(tenon_context_restore_bytes(fork, bytes, size, &error));
  CHECK(rows_are(fork, 2, (const float[]){1, 2}) && power_of(fork) == 4);
  CHECK_FAILS(TENON_CODE_BAD_FILE, "", tenon_context_restore_bytes(fork, bytes, size - 1, &error));
  CHECK(rows_are(fork, 2, (const float[]){1, 2}));
  tenon_bytes_free(bytes);
  tenon_context_free(fork);
  return failures;
}

static int check_bound(tenon_context* context) {
  int failures = 0;
  float rows[8] = {5, -5};
  const int64_t shape[] = {4, 2};
  const tenon_array memory = {sizeof memory, NULL, TENON_DTYPE_F32, 2, shape, rows, sizeof rows};
  CHECK_OK(tenon_context_bind_state(context, "rows", &memory, 1, &error));
  CHECK_OK(append(context, 6, &error));
  CHECK(rows[2] == 6 && rows[3] == -6 && rows_are(context, 2, (const float[]){5, 6}));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "unbind", tenon_context_bind_state(context, "rows", &memory, 0, &error));
  CHECK_OK(tenon_context_unbind_state(context, "rows", &error));
  CHECK(rows_are(context, 0, NULL));
  return failures;
}

int test_states(const char* path, const char* saved) {
  int failures = 0;
  tenon_context* const context = context_of(path);
  int64_t length = -1;
  CHECK(context != NULL);
  CHECK_OK(append(context, 1, &error));
  CHECK_OK(append(context, 2, &error));
  CHECK(rows_are(context, 2, (const float[]){1, 2}) && power_of(context) == 4);
  CHECK_OK(tenon_context_length(context, "rows", &length, &error));
  CHECK(length == 2);
  failures += check_copies(context, saved);
  CHECK_OK(tenon_context_set_length(context, "rows", 1, &error));
  CHECK(rows_are(context, 1, (const float[]){1}));
  CHECK_OK(tenon_context_reset(context, "power", &error));
  CHECK(power_of(context) == 1 && rows_are(context, 1, (const float[]){1}));
  failures += check_bound(context);
  tenon_context_free(context);
  return failures;
}

static int check_refused_memory(tenon_context* context) {
  int failures = 0;
  float rows[8] = {0};
  const int64_t shape[] = {4, 2}, other[] = {2, 4};
  tenon_array memory = {sizeof memory, NULL, TENON_DTYPE_F32, 2, shape, rows, sizeof rows};
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "null pointer", tenon_context_bind_state(context, "rows", NULL, 0, &error));
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "0 .. 4", tenon_context_bind_state(context, "rows", &memory, 5, &error));
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "", tenon_context_bind_state(context, "rows", &memory, -1, &error));
  memory.shape = other;
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "f32[..4,2]", tenon_context_bind_state(context, "rows", &memory, 0, &error));
  memory.shape = NULL;
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "no shape", tenon_context_bind_state(context, "rows", &memory, 0, &error));
  memory.shape = shape;
  memory.bytes = 28;
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "28 bytes", tenon_context_bind_state(context, "rows", &memory, 0, &error));
  memory.bytes = sizeof rows;
  memory.dtype = TENON_DTYPE_I32;
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "f32[..4,2]", tenon_context_bind_state(context, "rows", &memory, 0, &error));
  memory.dtype = 77;
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "77", tenon_context_bind_state(context, "rows", &memory, 0, &error));
  memory.dtype = TENON_DTYPE_F32;
  memory.data = NULL;
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "a null pointer", tenon_context_bind_state(context, "rows", &memory, 0, &error));
  memory.struct_size = 3;
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "struct_size", tenon_context_bind_state(context, "rows", &memory, 0, &error));
  return failures;
}

static int check_nulls(tenon_context* context) {
  int failures = 0;
  int64_t length = 0;
  void* bytes = NULL;
  size_t size = 0;
  tenon_array got = {.struct_size = sizeof got};
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "context", tenon_context_bind_state(NULL, "rows", &got, 0, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "name", tenon_context_unbind_state(context, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "context", tenon_context_reset(NULL, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "length", tenon_context_length(context, "rows", NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "name", tenon_context_length(context, NULL, &length, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "name", tenon_context_set_length(context, NULL, 0, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "value", tenon_context_state(context, "rows", NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "fork", tenon_context_fork(context, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "path", tenon_context_save(context, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "bytes", tenon_context_save_bytes(context, NULL, &size, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "size", tenon_context_save_bytes(context, &bytes, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "path", tenon_context_restore(context, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "bytes", tenon_context_restore_bytes(context, NULL, 0, &error));
  CHECK(bytes == NULL);
  return failures;
}

int test_refused_states(const char* path, const char* other_path, const char* saved) {
  int failures = 0;
  tenon_context* const context = context_of(path);
  tenon_context* const other = context_of(other_path);
  tenon_array got = {.struct_size = sizeof got};
  int64_t length = 0;
  CHECK(context != NULL && other != NULL);
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "did you mean 'rows'", tenon_context_reset(context, "row", &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "did you mean 'power'", tenon_context_state(context, "powre", &got, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "growing", tenon_context_length(context, "power", &length, &error));
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "", tenon_context_set_length(context, "rows", 1, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "did you mean 'append'", tenon_context_run(context, "apend", NULL, 0, NULL, 0, NULL, &error));
  for (int i = 0; i < 4; ++i) CHECK_OK(append(context, 1, &error));
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "0 .. 4", append(context, 1, &error));
  CHECK(power_of(context) == 16);
  failures += check_refused_memory(context) + check_nulls(context);
  CHECK_OK(tenon_context_save(context, saved, &error));
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "", tenon_context_restore(other, saved, &error));
  CHECK_FAILS(TENON_CODE_BAD_FILE, "", tenon_context_restore(context, path, &error));
  CHECK_FAILS(TENON_CODE_FILE_MISSING, "", tenon_context_restore(context, "nowhere/at.all", &error));
  CHECK_FAILS(TENON_CODE_WRITE_FAILED, "", tenon_context_save(context, "nowhere/at.all", &error));
  CHECK(power_of(context) == 16);
  tenon_context_free(other);
  tenon_context_free(context);
  return failures;
}
