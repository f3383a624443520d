// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/workload/profile.hpp"

namespace gradway {

/// Contents of a model file in addition to its profile.
struct ProfileNotes {
  std::string source;        ///< Source of the numbers, without path and date.
  Bytes input_per_sample{};  ///< Amount of the copy of the input.
  int sequence = 0;          ///< Tokens per sample of a language model; 0 for other models.
};

/// A model file of kind `profile` as YAML text, which `load_model` reads back to the same profile. Times keep
/// nanoseconds and amounts are exact; control and non-ASCII characters of names are replaced.
std::string profile_yaml(const Profile& profile, const ProfileNotes& notes);

}  // namespace gradway
