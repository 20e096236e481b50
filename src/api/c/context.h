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
  int threads = 0;  ///< of its runs, at most
  tenon::v1::ThreadPool pool = {};
  size_t entry = 0;                            ///< that ran last
  std::vector<tenon::v1::Array> results = {};  ///< of the last run; views
  std::vector<std::vector<tenon_string>> strings = {};
  tenon::v1::Array state = {};  ///< that the caller looked at last
  std::vector<tenon_string> state_strings = {};
};

namespace tenon::inline v1 {

/// Options of a run, with what the context has for those that say nothing. Errors: bad_usage.
base::Result<RunOptions> run_options_of(const tenon_context& context, const tenon_run_options* given);

}  // namespace tenon::inline v1
