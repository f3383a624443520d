// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/kineto/read/trace.hpp"
#include "sim/import/kineto/write_profile.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// What the user knows better than the trace.
struct ImportOptions {
  std::optional<Seconds> step_time;  ///< without the profiler
  std::optional<std::string> gpu;
  std::optional<Precision> precision;
  std::optional<int> batch;
  std::vector<std::string> known_gpus;  ///< names of GPUs that are described
};

struct ImportedProfile {
  Profile profile;
  ProfileNotes notes;
  int steps_found = 0;  ///< complete ones
  std::vector<std::string> warnings;
};

/// A trace of the PyTorch profiler (kineto) of training steps on one GPU without DDP, as a profile. What
/// stands in it and how it is found: see the folder's other files; `steps`, `average`, `cpu_time`,
/// `launch_work`, `batch` and `state` each hold one part of it.
/// @param shown the file's name in messages.
/// @throws ConfigError with all that makes the trace unfit, and what to record instead.
ImportedProfile import_kineto(const std::filesystem::path& file, const std::string& shown,
                              const ImportOptions& options);

/// The same of a trace that was read already. @param kind of the file, for the profile's source: "PyTorch
/// profiler trace"
ImportedProfile import_trace(Trace trace, std::string_view kind, const std::filesystem::path& file,
                             const std::string& shown, const ImportOptions& options);

/// Time of all launches on the GPU, and of the CPU to issue them.
Seconds gpu_time(const Profile& profile);
Seconds cpu_time(const Profile& profile);

}  // namespace gradway
