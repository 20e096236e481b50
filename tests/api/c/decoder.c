/* SPDX-License-Identifier: Apache-2.0 */
/* A step of a decoder, one token at a time, over states in the caller's memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

void decoder_row(int step, float* row) {
  for (int i = 0; i < TENON_TEST_WIDTH; ++i) row[i] = (float)((step * 37 + i * 11) % 23) / 23.0F - 0.5F;
}

/* Runs [from, to) and writes row `step` of y for each. */
static int decode(tenon_context* context, int from, int to, float* y) {
  int failures = 0;
  const int64_t shape[] = {1, 1, TENON_TEST_WIDTH};
  float row[TENON_TEST_WIDTH];
  for (int step = from; step < to; ++step) {
    decoder_row(step, row);
    const tenon_array x = {sizeof x, "x", TENON_DTYPE_F32, 3, shape, row, sizeof row};
    const tenon_array out = {sizeof out, "y", TENON_DTYPE_F32, 3, shape, y + (size_t)step * TENON_TEST_WIDTH, sizeof row};
    CHECK_OK(tenon_context_run(context, NULL, &x, 1, &out, 1, NULL, &error));
  }
  return failures;
}

/* Decodes [half, steps) and compares the rows with those in y. */
static int check_continues(tenon_context* context, int half, int steps, const float* y) {
  int failures = 0;
  const size_t bytes = (size_t)(steps - half) * TENON_TEST_WIDTH * sizeof(float), before = (size_t)half * TENON_TEST_WIDTH;
  float* const again = calloc((size_t)steps * TENON_TEST_WIDTH, sizeof(float));
  CHECK(again != NULL);
  if (again == NULL) return failures;
  failures += decode(context, half, steps, again);
  CHECK(memcmp(again + before, y + before, bytes) == 0);
  free(again);
  return failures;
}

static int check_copies(tenon_context* context, tenon_context* fork, const char* saved, int half, int steps, const float* y) {
  int failures = 0;
  tenon_context* restored = NULL;
  int64_t length = 0;
  failures += check_continues(fork, half, steps, y);
  CHECK_OK(tenon_context_fork(fork, &restored, &error));
  CHECK_OK(tenon_context_restore(restored, saved, &error));
  CHECK_OK(tenon_context_length(restored, "past_key", &length, &error));
  CHECK(length == half);
  failures += check_continues(restored, half, steps, y);
  CHECK_OK(tenon_context_set_length(context, "past_key", half, &error));
  CHECK_OK(tenon_context_set_length(context, "past_value", half, &error));
  failures += check_continues(context, half, steps, y);
  tenon_context_free(restored);
  return failures;
}

static int check_decoder(tenon_context* context, const char* saved, int steps, float* y) {
  int failures = 0;
  const int64_t shape[] = {1, TENON_TEST_CAPACITY, TENON_TEST_WIDTH};
  const size_t count = (size_t)TENON_TEST_CAPACITY * TENON_TEST_WIDTH;
  float* const keys = calloc(count, sizeof(float));
  float* const values = calloc(count, sizeof(float));
  tenon_context* fork = NULL;
  int64_t length = 0;
  CHECK(keys != NULL && values != NULL);
  const tenon_array key_memory = {sizeof key_memory, NULL, TENON_DTYPE_F32, 3, shape, keys, count * sizeof(float)};
  const tenon_array value_memory = {sizeof value_memory, NULL, TENON_DTYPE_F32, 3, shape, values, count * sizeof(float)};
  CHECK_OK(tenon_context_bind_state(context, "past_key", &key_memory, 0, &error));
  CHECK_OK(tenon_context_bind_state(context, "past_value", &value_memory, 0, &error));
  failures += decode(context, 0, steps / 2, y);
  CHECK_OK(tenon_context_fork(context, &fork, &error));
  CHECK_OK(tenon_context_save(context, saved, &error));
  failures += decode(context, steps / 2, steps, y);
  CHECK_OK(tenon_context_length(context, "past_value", &length, &error));
  CHECK(length == steps);
  CHECK(keys[(size_t)steps * TENON_TEST_WIDTH - 1] != 0 && keys[(size_t)steps * TENON_TEST_WIDTH] == 0);
  failures += check_copies(context, fork, saved, steps / 2, steps, y);
  tenon_context_free(fork);
  tenon_context_free(context); /* before the memory of its states */
  free(keys);
  free(values);
  return failures;
}

int test_decoder(const char* path, int steps, float* y, const char* saved) {
  int failures = 0;
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  CHECK_OK(tenon_engine_load(path, NULL, &engine, &error));
  CHECK_OK(tenon_context_create(engine, NULL, &context, &error));
  tenon_engine_free(engine);
  return failures + (context != NULL ? check_decoder(context, saved, steps, y) : 1);
}
