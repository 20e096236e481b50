/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"

#include <stdio.h>
#include <string.h>

/* Structs as version 1 has them, on 64-bit machines: fields may follow, and none may move. */
_Static_assert(sizeof(void*) != 8 || sizeof(tenon_array) == 48, "tenon_array");
_Static_assert(sizeof(void*) != 8 || offsetof(tenon_array, bytes) == 40, "tenon_array.bytes");
_Static_assert(sizeof(void*) != 8 || sizeof(tenon_value_info) == 56, "tenon_value_info");
_Static_assert(sizeof(void*) != 8 || offsetof(tenon_value_info, upper) == 48, "tenon_value_info.upper");
_Static_assert(sizeof(void*) != 8 || sizeof(tenon_entry_info) == 48, "tenon_entry_info");
_Static_assert(sizeof(void*) != 8 || sizeof(tenon_state_info) == 40, "tenon_state_info");
_Static_assert(sizeof(void*) != 8 || offsetof(tenon_state_info, growing_axis) == 32, "tenon_state_info.growing_axis");
_Static_assert(sizeof(void*) != 8 || sizeof(tenon_engine_info) == 64, "tenon_engine_info");
_Static_assert(sizeof(void*) != 8 || sizeof(tenon_load_options) == 56, "tenon_load_options");
_Static_assert(sizeof(void*) != 8 || offsetof(tenon_load_options, plugin_memory) == 48, "tenon_load_options.plugin_memory");
_Static_assert(sizeof(void*) != 8 || sizeof(tenon_run_options) == 48, "tenon_run_options");
_Static_assert(sizeof(void*) != 8 || offsetof(tenon_run_options, seed) == 40, "tenon_run_options.seed");
_Static_assert(sizeof(void*) != 8 || sizeof(tenon_context_options) == 24, "tenon_context_options");

int check_failure(int32_t expected, const char* words, int32_t code, tenon_error* error, const char* file, int line) {
  const char* const text = tenon_error_text(error);
  const int whole = error != NULL && tenon_error_code(error) == code && strstr(text, tenon_error_what(error)) != NULL &&
                    strlen(tenon_error_what(error)) > 0 && strlen(tenon_error_advice(error)) > 0;
  const int good = whole && code == expected && strstr(text, words) != NULL;
  if (!good)
    fprintf(stderr, "%s:%d: expected %s with '%s', found %s: %s\n", file, line, tenon_code_name(expected), words, tenon_code_name(code),
            text);
  tenon_error_free(error);
  return good ? 0 : 1;
}
