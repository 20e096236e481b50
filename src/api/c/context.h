// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/c/arrays.h"

struct tenon_thread_pool {
  tenon::v1::ThreadPool pool;
};

struct tenon_stop_token {
  tenon::v1::StopToken token;
};

struct tenon_context {
  tenon::v1::Engine engine;
  tenon::v1::Context context;
  int threads = 0;  ///< most threads of its runs
  tenon::v1::ThreadPool pool = {};
  size_t entry = 0;                                     ///< the entry of the last run
  std::vector<tenon::v1::Array> results = {};           ///< of the last run; views
  std::vector<std::vector<tenon_string>> strings = {};  ///< elements of results that are strings
  tenon::v1::Array state = {};                          ///< the state that the caller read last
  std::vector<tenon_string> state_strings = {};         ///< elements of `state` where it is strings
};

namespace tenon::inline v1 {

/// Options of a run, with those of the context where `given` has none. Errors: bad_usage.
base::Result<RunOptions> run_options_of(const tenon_context& context, const tenon_run_options* given);

}  // namespace tenon::inline v1
