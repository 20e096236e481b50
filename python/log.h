// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace tenon_python {

/// Writes `text` to the logger "tenon" at INFO. Takes the GIL; what a handler raises is not passed on, but for an interrupt from the
/// keyboard, which is raised once Python goes on.
void write_log(const std::string& text);
/// Whether such messages go anywhere. Needs the GIL. Cost: a call of Python.
bool is_logging();
/// Logs the steps of `what` ("compile model.onnx") as they begin; none where nobody reads them. Needs the GIL.
std::function<void(std::string_view)> step_logger(const std::string& what);

}  // namespace tenon_python
