// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/write_profile.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "sim/workload/profile_words.hpp"

namespace gradway {
namespace {

/// At most `digits` decimals, without zeros at the end.
std::string decimal(double value, int digits) {
  auto text = fmt::format("{:.{}f}", value, digits);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// The last digits are a nanosecond, an operation and a byte.
std::string microseconds(Seconds time) {
  return decimal(time.value() * 1e6, 3);
}
std::string milliseconds(Seconds time) {
  return decimal(time.value() * 1e3, 6);
}
std::string gigaflop(Flops work) {
  return decimal(work.value() / 1e9, 9);
}
std::string megabytes(Bytes amount) {
  return decimal(amount.value() / 1e6, 6);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? std::string{profile_words::scalar} : fmt::format("{}", fmt::join(shape, "x"));
}

std::string_view element_type(int bytes, Precision precision) {
  if (bytes == 2) return precision == Precision::fp16 ? "fp16" : "bf16";
  const auto type =
      std::ranges::find(profile_words::element_types, bytes, &profile_words::ElementType::bytes);
  expects(type != profile_words::element_types.end(), "elements of a known size");
  return type->name;
}

std::string flags_text(const Launch& launch) {
  std::vector<std::string> flags;
  if (launch.host_waits) flags.emplace_back(profile_words::waits);
  if (!launch.grows) flags.emplace_back(profile_words::fixed);
  if (launch.stream != 0) flags.push_back(fmt::format("{}{}", profile_words::stream, launch.stream));
  if (launch.tiles > launch.blocks) flags.push_back(fmt::format("{}{}", profile_words::tiles, launch.tiles));
  return flags.empty() ? std::string{profile_words::no_flags} : fmt::format("{}", fmt::join(flags, ","));
}

/// Names are for people and may be cut in the middle of a character: plain ASCII only.
std::string plain(std::string text) {
  for (auto& c : text) {
    if (static_cast<unsigned char>(c) >= 0x7F) c = '?';
  }
  return text;
}

std::string one_line(std::string text) {
  for (auto& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text.find_first_not_of(' ') == std::string::npos ? "?" : text;
}

void append_launch(std::string& text, const Launch& launch) {
  fmt::format_to(std::back_inserter(text),
                 "  {:<9} {:<9} {:>9} {:>9} {:>7} {:>2} {} {:>10} {:>10} {:<5} {}\n",
                 profile_words::word(profile_words::phases, launch.phase),
                 profile_words::word(profile_words::classes, launch.kind), microseconds(launch.cpu),
                 microseconds(launch.gpu), launch.blocks, launch.blocks_per_sm,
                 profile_words::word(profile_words::precisions, launch.precision), gigaflop(launch.flops),
                 megabytes(launch.bytes), flags_text(launch), plain(one_line(launch.name)));
}

void append_memory(std::string& text, const Profile& profile) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "memory_from: {}\n",
                 profile_words::word(profile_words::memory_sources, profile.memory_from));
  if (!profile.memory_lacks.empty())
    fmt::format_to(out, "memory_lacks: >-\n  {}\n",
                   plain(one_line(fmt::format("{}", fmt::join(profile.memory_lacks, ", ")))));
  if (profile.keeps_gradients) fmt::format_to(out, "keeps_gradients: {}\n", *profile.keeps_gradients);
  text += "memory: |\n  # phase grows_mbyte fixed_mbyte gradients_mbyte output_mbyte\n";
  for (const auto& moment : profile.memory) {
    fmt::format_to(out, "  {:<8} {:>13} {:>11} {:>11} {:>11}\n",
                   profile_words::word(profile_words::phases, moment.phase), megabytes(moment.grows),
                   megabytes(moment.fixed), megabytes(moment.gradients), megabytes(moment.output));
  }
}

}  // namespace

std::string profile_yaml(const Profile& profile, const ProfileNotes& notes) {
  std::string text = fmt::format(
      "schema: 1\nkind: profile\nsource: >-\n  {}\ngpu: {}\nprecision: {}\nbatch: {}\noptimizer: {}\n"
      "steps: {}\ntraced_step: {} ms\n",
      one_line(notes.source), profile.gpu, profile_words::word(profile_words::precisions, profile.precision),
      profile.batch, profile_words::word(profile_words::optimizers, profile.optimizer), profile.steps,
      milliseconds(profile.traced_step));
  const auto out = std::back_inserter(text);
  if (profile.step_time) fmt::format_to(out, "step_time: {} ms\n", milliseconds(*profile.step_time));
  if (profile.accumulate_grad)
    fmt::format_to(out, "accumulate_grad: {} us\n", microseconds(*profile.accumulate_grad));
  fmt::format_to(out, "gap: {} us\ninput_per_sample: {} B\n", microseconds(profile.gap),
                 decimal(notes.input_per_sample.value(), 3));
  if (notes.sequence > 0) fmt::format_to(out, "sequence: {}\n", notes.sequence);
  text += "gradients: |\n  # after dtype shape\n";
  for (const auto& gradient : profile.gradients) {
    fmt::format_to(out, "  {:>7} {:<5} {}\n", gradient.after,
                   element_type(gradient.element_bytes, profile.precision), shape_text(gradient.shape));
  }
  if (!profile.buffers.empty()) {
    text += "buffers: |\n  # dtype shape\n";
    for (const auto& buffer : profile.buffers) {
      const auto type = buffer.element_bytes == 8 ? std::string_view{"int64"}
                                                  : element_type(buffer.element_bytes, profile.precision);
      fmt::format_to(out, "  {:<7} {}\n", type, shape_text(buffer.shape));
    }
  }
  if (profile.memory_from != MemorySource::none) append_memory(text, profile);
  text += "launches: |\n  # phase class cpu_us gpu_us blocks per_sm precision gflop mbyte flags name\n";
  for (const auto& launch : profile.launches) append_launch(text, launch);
  return text;
}

}  // namespace gradway
