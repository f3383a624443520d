// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/model_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/config/read/read.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/text_table.hpp"
#include "sim/workload/profile_words.hpp"

namespace gradway::config {
namespace {

constexpr double shortest_us = 1e-3;
constexpr double longest_us = 1e12;
constexpr double most_giga = 1e15;
constexpr std::int64_t most_blocks = std::int64_t{1} << 62;
constexpr int most_a_multiprocessor = 64;
constexpr int most_streams = 1024;

void read_flag(const Cell& flag, Launch& launch) {
  if (flag.word() == profile_words::waits) {
    launch.host_waits = true;
  } else if (flag.word() == profile_words::fixed) {
    launch.grows = false;
  } else if (flag.word().starts_with(profile_words::stream)) {
    launch.stream =
        static_cast<int>(whole_number(flag.part(profile_words::stream.size(), std::string_view::npos),
                                      "a stream's number", 1, most_streams));
  } else if (flag.word().starts_with(profile_words::tiles)) {
    launch.tiles = whole_number(flag.part(profile_words::tiles.size(), std::string_view::npos),
                                "a number of tiles", 1, most_blocks);
  } else {
    fail(flag.where(), invalid_word("a flag", flag.word()), "expected waits, fixed, stream=N, tiles=N, or -");
  }
}

void read_flags(const Cell& flags, Launch& launch) {
  if (flags.word() == profile_words::no_flags) return;
  for (std::size_t start = 0; start <= flags.word().size();) {
    const auto end = std::min(flags.word().find(',', start), flags.word().size());
    read_flag(flags.part(start, end - start), launch);
    start = end + 1;
  }
}

Launch read_launch(Row row) {
  Launch launch;
  launch.phase = static_cast<ProfiledPhase>(index_among(row.next("phase"), "a phase", profile_words::phases));
  launch.kind =
      static_cast<KernelClass>(index_among(row.next("class"), "a kernel class", profile_words::classes));
  launch.cpu = Seconds{number(row.next("cpu_us"), "a CPU time in microseconds", 0, longest_us) / 1e6};
  launch.gpu =
      Seconds{number(row.next("gpu_us"), "a GPU time in microseconds", shortest_us, longest_us) / 1e6};
  launch.blocks = whole_number(row.next("blocks"), "a number of blocks", 0, most_blocks);
  launch.blocks_per_sm = static_cast<int>(
      whole_number(row.next("per_sm"), "a number of blocks per multiprocessor", 0, most_a_multiprocessor));
  launch.precision =
      static_cast<Precision>(index_among(row.next("precision"), "a precision", profile_words::precisions));
  launch.flops = Flops{number(row.next("gflop"), "a number of 10^9 operations", 0, most_giga) * 1e9};
  launch.bytes = Bytes{number(row.next("mbyte"), "an amount in MB", 0, most_giga) * 1e6};
  read_flags(row.next("flags"), launch);
  launch.name = row.rest("name").word();
  return launch;
}

std::vector<Launch> read_launches(const Node& node, Problems& problems) {
  std::vector<Launch> launches;
  TextTable{node}.for_each_row(problems, [&](const Row& row) { launches.push_back(read_launch(row)); });
  return launches;
}

int read_element_bytes(Row& row) {
  const auto cell = row.next("dtype");
  const auto type =
      std::ranges::find(profile_words::element_types, cell.word(), &profile_words::ElementType::name);
  if (type == profile_words::element_types.end())
    fail(cell.where(), invalid_word("an element type", cell.word()),
         "expected fp32, bf16, fp16, fp64 or int64");
  return type->bytes;
}

std::vector<std::int64_t> read_shape(Row& row) {
  const auto cell = row.next("shape");
  if (cell.word() == profile_words::scalar) return {};
  return joined_numbers(cell, "a dimension, as in 1000x1024");
}

std::vector<ProfiledGradient> read_gradients(const Node& node, std::size_t launches, Problems& problems) {
  std::vector<ProfiledGradient> gradients;
  TextTable{node}.for_each_row(problems, [&](Row row) {
    ProfiledGradient gradient;
    const auto after = row.next("after");
    gradient.after =
        static_cast<std::size_t>(whole_number(after, "a number of launches", 0, std::int64_t{1} << 40));
    gradient.element_bytes = read_element_bytes(row);
    gradient.shape = read_shape(row);
    row.finish();
    if (gradient.after > launches)
      fail(after.where(), fmt::format("a gradient is ready after {} launches, but the profile has {}",
                                      gradient.after, launches));
    if (!gradients.empty() && gradient.after < gradients.back().after)
      fail(after.where(),
           fmt::format("a gradient is ready after {} launches, but the one above it after {}", gradient.after,
                       gradients.back().after),
           "sort the rows by 'after'");
    gradients.push_back(std::move(gradient));
  });
  return gradients;
}

std::vector<ProfiledBuffer> read_buffers(const Node& node, Problems& problems) {
  std::vector<ProfiledBuffer> buffers;
  TextTable{node}.for_each_row(problems, [&](Row row) {
    ProfiledBuffer buffer;
    buffer.element_bytes = read_element_bytes(row);
    buffer.shape = read_shape(row);
    row.finish();
    buffers.push_back(std::move(buffer));
  });
  return buffers;
}

/// Reads a list of names that are separated by ", ".
std::vector<std::string> read_names(const Node& node) {
  std::vector<std::string> names;
  const auto list = text(node);
  for (std::size_t start = 0; start <= list.size();) {
    const auto end = std::min(list.find(", ", start), list.size());
    names.push_back(list.substr(start, end - start));
    start = end + 2;
  }
  return names;
}

std::vector<ProfiledMoment> read_memory(const Node& node, Problems& problems) {
  std::vector<ProfiledMoment> moments;
  TextTable{node}.for_each_row(problems, [&](Row row) {
    ProfiledMoment moment;
    const auto phase = row.next("phase");
    moment.phase =
        static_cast<ProfiledPhase>(index_among(phase, "a phase", std::span{profile_words::phases}.first(2)));
    const auto megabytes = [&](std::string_view column) {
      return Bytes{number(row.next(column), "an amount in MB", 0, most_giga) * 1e6};
    };
    moment.grows = megabytes("grows");
    moment.fixed = megabytes("fixed");
    moment.gradients = megabytes("gradients");
    moment.output = megabytes("output");
    row.finish();
    if (!moments.empty() && moment.phase < moments.back().phase)
      fail(phase.where(), "a row of the forward pass follows one of the backward pass",
           "write the forward pass first");
    moments.push_back(moment);
  });
  return moments;
}

/// Reads 'memory' and 'memory_from', which require each other.
void read_memory_of(Reader& file, Profile& profile) {
  auto& problems = file.problems();
  profile.memory_from =
      file.optional("memory_from", one_of<MemorySource>("a memory source", profile_words::memory_sources),
                    MemorySource::none);
  const auto moments = file.maybe("memory", [&](const Node& node) { return read_memory(node, problems); });
  profile.memory_lacks = file.maybe("memory_lacks", read_names).value_or(std::vector<std::string>{});
  profile.keeps_gradients = file.maybe("keeps_gradients", boolean);
  if (!file.is_valid()) return;
  profile.memory = moments.value_or(std::vector<ProfiledMoment>{});
  const bool has_source = profile.memory_from != MemorySource::none;
  if (has_source == !profile.memory.empty()) return;
  if (has_source) {
    file.error(file.key_place("memory_from"), "'memory_from' requires 'memory'",
               "add 'memory', or leave it out");
  } else {
    file.error(file.key_place("memory"), "'memory' requires 'memory_from'",
               "add 'memory_from: shapes' or 'memory_from: recorded'");
  }
}

void check_phases(Reader& file, const Profile& profile) {
  for (const auto phase : {ProfiledPhase::forward, ProfiledPhase::backward}) {
    if (std::ranges::find(profile.launches, phase, &Launch::phase) != profile.launches.end()) continue;
    file.error(file.key_place("launches"),
               fmt::format("the profile has no launches of the phase '{}'",
                           profile_words::word(profile_words::phases, phase)),
               "a profile covers a whole training step");
  }
  if (profile.gradients.empty())
    file.error(file.key_place("gradients"), "a profile requires at least one gradient");
}

std::vector<Layer> layers_of(const std::vector<ProfiledGradient>& gradients) {
  std::vector<Layer> layers;
  layers.reserve(gradients.size());
  Work none;
  none.kernels = 0;
  for (auto index = gradients.size(); index > 0; --index) {
    layers.push_back(Layer{.name = fmt::format("gradient {}", index),
                           .parameters = {{"weight", gradients[index - 1].shape}},
                           .forward = none,
                           .backward = none});
  }
  return layers;
}

}  // namespace

void read_profile(Reader& file, Model& model) {
  Profile profile;
  profile.gpu = file.required("gpu", named).name;
  read_fields(file, profile);
  model.input_per_sample = file.required("input_per_sample", bytes_or_zero);
  model.tokens_per_sample = file.optional("sequence", integer(1, 1 << 24), 0);
  auto& problems = file.problems();
  profile.launches =
      file.required("launches", [&](const Node& node) { return read_launches(node, problems); });
  if (!file.is_valid()) {  // gradients refer to launches
    file.maybe("gradients", text);
    file.maybe("buffers", text);
    for (const auto* key : {"memory_from", "memory", "memory_lacks", "keeps_gradients"})
      file.maybe(key, text);
    return;
  }
  profile.gradients = file.required(
      "gradients", [&](const Node& node) { return read_gradients(node, profile.launches.size(), problems); });
  const auto buffers = file.maybe("buffers", [&](const Node& node) { return read_buffers(node, problems); });
  profile.buffers = buffers.value_or(std::vector<ProfiledBuffer>{});
  read_memory_of(file, profile);
  if (!file.is_valid()) return;
  check_phases(file, profile);
  model.layers = layers_of(profile.gradients);
  model.profile = std::make_shared<const Profile>(std::move(profile));
}

}  // namespace gradway::config
