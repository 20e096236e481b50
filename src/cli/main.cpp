// SPDX-License-Identifier: Apache-2.0
#include "cli/console/verb.h"

int main(int argc, char** argv) { return tenon::cli::run(argc, argv); }
