// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <string>

namespace tenon::python {

/// str(object); empty where that fails.
std::string text_of(nanobind::handle object);
/// "ValueError: no such axis (rules.py:12)": an exception, and where it was raised.
std::string sentence_of(nanobind::handle error);

}  // namespace tenon::python
