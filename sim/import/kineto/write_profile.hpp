// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/workload/profile.hpp"

namespace gradway {

/// What a model file says beside its profile.
struct ProfileNotes {
  std::string source;        ///< where the numbers come from: no path, no date
  Bytes input_per_sample{};  ///< what the input copy moves
  int sequence = 0;          ///< tokens a sample of a model of text; 0: of none
};

/// A model file of kind `profile` as YAML text, which `load_model` reads back to the same profile: times keep
/// nanoseconds, amounts are exact; names lose control characters and what is not ASCII.
std::string profile_yaml(const Profile& profile, const ProfileNotes& notes);

}  // namespace gradway
