// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "readers/hang/hang_evidence.hpp"
#include "readers/hang/value_tree.hpp"

namespace gradway {

// Readers of one kind of file each. They add what they find to the evidence.

/// A place of a program from a stack. The file loses its folders.
CodePlace code_place(std::string_view path, int line, std::string_view function);

/// Whether a file belongs to Python, PyTorch or another installed package, not to the user's program.
bool is_library(std::string_view path);
/// Whether it belongs to Python or PyTorch.
bool is_python_or_torch(std::string_view path);

/// The place of the user's program in a stack, the innermost frame first: of installed packages, if there is
/// no other. Unknown if there is none.
CodePlace user_place(const StackSample& stack);

/// The whole number that begins a text, with its sign; 0 without one.
std::int64_t number_at(std::string_view text);

/// A dump of PyTorch's flight recorder.
/// @throws ConfigError if its version is unknown or if what is needed is missing
void add_flight_record(HangEvidence& evidence, const ValueDocument& document, const std::string& file,
                       int rank, std::optional<std::int64_t> written);

/// RAS's answer in JSON.
void add_ras(HangEvidence& evidence, const ValueDocument& document, const std::string& file);
/// RAS's answer as text. @return whether it is one
bool add_ras_text(HangEvidence& evidence, std::string_view text, const std::string& file);

/// Stacks of faulthandler or py-spy. @return whether there are any
bool add_stacks(HangEvidence& evidence, std::string_view text, const std::string& file, int rank);
/// `py-spy dump --json`
void add_stacks(HangEvidence& evidence, const ValueDocument& document, const std::string& file, int rank);

/// Messages in the output of a rank, or of several with labels: PyTorch's watchdog, launchers, errors, NCCL's
/// initialisation. @param rank -1 if the file is of no single rank @return whether there are any
bool add_job_output(HangEvidence& evidence, std::string_view text, const std::string& file, int rank);

}  // namespace gradway
