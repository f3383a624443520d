// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gradway::cli {

/// What the Python package starts the program with. No option: nobody types it.
inline constexpr std::string_view serve_mark = "--serve";

/// Runs command lines that another program asks for, one after the other: questions come on
/// standard input until it ends, answers go to standard output. Commands find both empty.
///
/// A question is a line "ARGUMENTS TEXTS" with two numbers; then so many arguments, as behind "gradway", and
/// so many pairs of a name and the text that it stands for in place of a file, each ended by a NUL. The
/// answer is a line "STATUS RESULTS MESSAGES PROBLEMS": the exit status, and the numbers of bytes that follow
/// of what the program would have printed, of what it would have said on standard error, and of the problems
/// of the input as JSON (`report::write_json`).
void serve();

}  // namespace gradway::cli
