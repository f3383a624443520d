// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/kineto/read/trace.hpp"
#include "readers/kineto/write_profile.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Settings of the user, which override the trace.
struct ImportOptions {
  std::optional<Seconds> step_time;  ///< Measured without the profiler.
  std::optional<std::string> gpu;
  std::optional<Precision> precision;
  std::optional<int> batch;
  std::optional<double> parameters;     ///< Of the model, if the trace has no shapes.
  std::vector<std::string> known_gpus;  ///< Names of the GPUs that gradway has descriptions of.
};

struct ImportedProfile {
  Profile profile;
  ProfileNotes notes;
  int steps_found = 0;  ///< Complete steps.
  std::vector<std::string> warnings;
};

/// Imports a trace of the PyTorch profiler (kineto) of one GPU, alone or of a job under DDP or FSDP, as a
/// profile. Without shapes, names say what kernels do, and gradients have equal parts of the parameters.
/// @param shown the file's name in messages.
/// @throws ConfigError with everything that makes the trace unusable, and what to record instead.
ImportedProfile import_kineto(const std::filesystem::path& file, const std::string& shown,
                              const ImportOptions& options);

/// The same for a trace in memory. @param kind of the file, for the profile's source: "PyTorch profiler
/// trace"
ImportedProfile import_trace(Trace trace, std::string_view kind, const std::filesystem::path& file,
                             const std::string& shown, const ImportOptions& options);

/// Time of all launches on the GPU.
Seconds gpu_time(const Profile& profile);
/// Time of the CPU to issue all launches.
Seconds cpu_time(const Profile& profile);

}  // namespace gradway
