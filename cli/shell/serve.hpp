// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gradway::cli {

/// The argument with which the Python package and `gradway ui` start the program. It is not an option for
/// users. A second argument, `progress_mark`, asks for progress.
inline constexpr std::string_view serve_mark = "--serve";
inline constexpr std::string_view progress_mark = "progress";
enum class ServedProgress : char { silent, lines };

/// Runs command lines for another program, one after the other. Requests are read from standard input until
/// it ends, and answers are written to standard output. Commands find both streams empty.
///
/// A request is a line "ARGUMENTS TEXTS" with two numbers, then that number of arguments, as they would
/// follow "gradway", then that number of pairs of a file name and the text to use instead of the file. Each
/// is terminated by NUL. The answer is a line "STATUS RESULTS MESSAGES PROBLEMS" with the exit status and
/// three numbers of bytes, then the bytes of standard output, of standard error, and of the problems of the
/// input as JSON (`report::write_json`).
/// @param progress lines: while a command runs, each line "progress SHARE WORDS" on standard error says how
/// far it is; SHARE is a fraction, or "-" if it is unknown
void serve(ServedProgress progress);

}  // namespace gradway::cli
