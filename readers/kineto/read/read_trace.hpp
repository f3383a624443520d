// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "readers/kineto/read/raw_event.hpp"
#include "readers/kineto/read/trace.hpp"
#include "sim/base/problem.hpp"
#include "sim/files/compressed_file.hpp"

namespace gradway {

/// Reads a trace of the PyTorch profiler (Chrome trace JSON, plain or gzip). Keeps only what the import
/// needs, about 50 bytes per event.
/// @param shown the file's name in messages.
/// @param may_be_cut whether the events before the end of a truncated file are read
/// @throws ConfigError if the file cannot be read or is not such a trace.
Trace read_trace(const std::filesystem::path& file, const std::string& shown, bool may_be_cut = false);

/// Keeps what the import needs of the events that `read` passes to the sink. @param file names the trace in
/// messages
/// @throws ConfigError for events with invalid times
Trace collect_trace(const Where& file, const std::function<void(TraceSink&)>& read);

/// The sink for the events of a process.
using SinkOfProcess = std::function<TraceSink&(std::int64_t process)>;

/// The same for a file with several processes: their traces in the order of their numbers.
std::vector<Trace> collect_traces(const Where& file, const std::function<void(const SinkOfProcess&)>& read);

/// Reads the JSON of a Chrome trace event by event and never holds more than one event.
/// @throws ConfigError if the file is empty, truncated, not JSON (with line and column) or not a trace of the
/// PyTorch profiler.
void parse_trace(CompressedFile& file, TraceSink& sink);

/// Problems that make a trace unusable, each with what to record instead: no GPU or no CPU activity,
/// several GPUs or processes, other distributed training, kernels without duration, or kernels that overlap
/// on a stream without a programmatic launch.
std::vector<Problem> check_trace(Trace& trace, const Where& file);

/// Shortens activities so that the durations of each stream add up to the time the stream is busy: a kernel
/// that begins before its predecessor ends counts from the predecessor's end.
void count_overlaps_once(Trace& trace);

}  // namespace gradway
