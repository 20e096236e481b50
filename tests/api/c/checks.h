/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of tenon/runtime.h in C share. Each test is a function that returns how many of its checks failed, and prints those. */
#ifndef TENON_TESTS_API_C_CHECKS_H
#define TENON_TESTS_API_C_CHECKS_H

#include <tenon/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Width of a row of examples/attention.onnx, and the capacity of its states. */
#define TENON_TEST_WIDTH 16
#define TENON_TEST_CAPACITY 4096

/* Input `step` of the decoder: a row of TENON_TEST_WIDTH numbers. */
void decoder_row(int step, float* row);

/* engine: of examples/attention.onnx with states. y: receives `steps` rows. saved: a file for states. */
int test_decoder(const char* engine, int steps, float* y, const char* saved);
/* engine: (x: f32[n,4], k: f32[4]) -> (product: f32[n,4], places: i64[2,nonzero]). */
int test_runs(const char* engine);
int test_descriptions(const char* engine);
int test_refused_runs(const char* engine);
int test_refused_loads(const char* engine, const char* missing);
int test_options(const char* engine);
/* engine: (x: f32[2], w: f32[2] = [1, 2]) -> (y: f32[2], x: f32[2]): y is x * w, x is the input. */
int test_defaults(const char* engine);
/* engine: (x: f32[2]) -> (list: seq(f32[2]), y: f32[2]). taker: (s: seq(f32[*])) -> (n: i64[]). */
int test_containers(const char* engine, const char* taker);
/* engine: (text: string[n]) -> (same: string[n]). */
int test_strings(const char* engine);
/* engine: of the program state_engine. saved: a file for states. */
int test_states(const char* engine, const char* saved);
int test_refused_states(const char* engine, const char* other_engine, const char* saved);
/* One load and run of the engine of test_runs(). Returns the code; the error must have its text. */
int32_t load_and_run(const char* engine);

/* 0 where the call failed with that code and its error is whole, else 1. Frees the error. */
int check_failure(int32_t expected, const char* words, int32_t code, tenon_error* error, const char* file, int line);

#ifdef __cplusplus
}
#endif

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      ++failures;                                                     \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                 \
  } while (0)

/* call: takes &error last. */
#define CHECK_OK(call)                                                             \
  do {                                                                             \
    tenon_error* error = NULL;                                                     \
    if ((call) != TENON_CODE_OK) {                                                 \
      ++failures;                                                                  \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, tenon_error_text(error)); \
      tenon_error_free(error);                                                     \
    }                                                                              \
  } while (0)

/* The call fails with that code, and the error's text contains `words`. */
#define CHECK_FAILS(code, words, call)                                               \
  do {                                                                               \
    tenon_error* error = NULL;                                                       \
    const int32_t code_of_call = (call);                                             \
    failures += check_failure(code, words, code_of_call, error, __FILE__, __LINE__); \
  } while (0)

#endif
