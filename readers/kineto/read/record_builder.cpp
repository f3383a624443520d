// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/record_builder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace gradway {
namespace {

/// A key of the file and its meaning.
template <class Meaning>
struct KnownName {
  std::string_view name;
  Meaning meaning;
};

template <class Meaning, std::size_t size>
Meaning meaning_of(std::string_view name, const std::array<KnownName<Meaning>, size>& words,
                   Meaning otherwise) {
  for (const auto& [known, meaning] : words) {
    if (known == name) return meaning;
  }
  return otherwise;
}

constexpr std::int64_t longest_event = 86'400'000'000'000;         // nanoseconds: a day
constexpr std::int64_t most_microseconds = 4'000'000'000'000'000;  // since 1970 until 2096

/// Converts microseconds to nanoseconds; empty if not a number. "4377009848817.126" is read as text: a double
/// would lose the last digit.
std::optional<std::int64_t> nanoseconds(const JsonValue& value) {
  if (!value.is_number) return std::nullopt;
  const auto* const end = value.text.data() + value.text.size();
  std::int64_t microseconds = value.number;
  std::int64_t thousandths = 0;
  if (!value.text.empty()) {
    const auto [point, error] = std::from_chars(value.text.data(), end, microseconds);
    if (error != std::errc{} || (point != end && *point != '.') || has_exponent(value.text)) {
      double number = 0;
      std::from_chars(value.text.data(), end, number);
      if (!(std::abs(number) <= static_cast<double>(most_microseconds))) return std::nullopt;
      return std::llround(number * 1e3);
    }
    const auto* digit = point == end ? end : point + 1;
    for (int place = 0; place < 3; ++place) {
      thousandths = thousandths * 10 + (digit < end ? *digit++ - '0' : 0);
    }
  }
  if (microseconds < -most_microseconds || microseconds > most_microseconds) return std::nullopt;
  return microseconds * 1000 + (value.text.starts_with('-') ? -thousandths : thousandths);
}

/// Id of a thread or a process, which may have a name instead.
std::int64_t identity(const JsonValue& value) {
  if (!value.is_string || value.number != 0) return value.number;
  return -1 - static_cast<std::int64_t>(std::hash<std::string_view>{}(value.text) >> 2);
}

}  // namespace

void RawEvent::clear() {
  is_complete = false;
  has_shapes = false;
  for (auto* time : {&start, &duration}) time->reset();
  invalid_time.reset();
  for (auto* text :
       {&category, &name, &shapes, &types, &values, &collective, &element_type, &group, &group_members})
    text->clear();
  for (auto* number :
       {&process, &thread, &external, &sequence, &correlation, &device, &stream, &bytes, &allocated, &address,
        &device_type, &registers, &shared, &blocks, &threads, &elements, &elements_out, &group_size})
    *number = 0;
}

void EventBuilder::begin() {
  event_.clear();
  event_.at = text_of_trace_->last_position();
  seen_ = 0;
}

std::optional<std::int64_t> EventBuilder::time(std::string_view key, const JsonValue& value,
                                               std::int64_t most) {
  const auto read = nanoseconds(value);
  if (read && *read >= 0 && *read <= most) return read;
  auto shown = value.is_number && value.text.empty() ? std::to_string(value.number) : std::string{value.text};
  if (!event_.invalid_time)
    event_.invalid_time = InvalidTime{key, std::move(shown), text_of_trace_->last_place()};
  return std::nullopt;
}

void EventBuilder::key(int depth, std::string_view name) {
  using F = Field;
  static constexpr std::array fields{KnownName<F>{"ph", F::phase},     KnownName<F>{"cat", F::category},
                                     KnownName<F>{"name", F::name},    KnownName<F>{"pid", F::process},
                                     KnownName<F>{"tid", F::thread},   KnownName<F>{"ts", F::start},
                                     KnownName<F>{"dur", F::duration}, KnownName<F>{"args", F::arguments}};
  struct KnownArgument {
    std::string_view name;
    Argument argument;
    std::int64_t RawEvent::*number = nullptr;
    std::string RawEvent::*text = nullptr;
  };
  using A = Argument;
  static constexpr std::array arguments{
      KnownArgument{"External id", A::number, &RawEvent::external},
      KnownArgument{"Sequence number", A::number, &RawEvent::sequence},
      KnownArgument{"correlation", A::number, &RawEvent::correlation},
      KnownArgument{"device", A::number, &RawEvent::device},
      KnownArgument{"stream", A::number, &RawEvent::stream},
      KnownArgument{"bytes", A::number, &RawEvent::bytes},
      KnownArgument{"Bytes", A::number, &RawEvent::allocated},
      KnownArgument{"Addr", A::number, &RawEvent::address},
      KnownArgument{"Device Type", A::number, &RawEvent::device_type},
      KnownArgument{"registers per thread", A::number, &RawEvent::registers},
      KnownArgument{"shared memory", A::number, &RawEvent::shared},
      KnownArgument{"In msg nelems", A::number, &RawEvent::elements},
      KnownArgument{"Out msg nelems", A::number, &RawEvent::elements_out},
      KnownArgument{"Group size", A::number, &RawEvent::group_size},
      KnownArgument{"Collective name", A::text, nullptr, &RawEvent::collective},
      KnownArgument{"dtype", A::text, nullptr, &RawEvent::element_type},
      KnownArgument{"Process Group Name", A::text, nullptr, &RawEvent::group},
      KnownArgument{"Process Group Ranks", A::text, nullptr, &RawEvent::group_members},
      KnownArgument{"grid", A::grid},
      KnownArgument{"block", A::block},
      KnownArgument{"Input Dims", A::shapes},
      KnownArgument{"Input type", A::types},
      KnownArgument{"Concrete Inputs", A::values}};
  if (depth == 0) {
    field_ = meaning_of(name, fields, F::none);
    if (field_ != F::none) mark_seen(static_cast<unsigned>(field_), name);
  } else if (depth == 1 && field_ == F::arguments) {
    const auto* const known = std::ranges::find(arguments, name, &KnownArgument::name);
    const bool is_known = known != arguments.end();
    argument_ = is_known ? known->argument : A::none;
    number_ = is_known ? known->number : nullptr;
    text_ = is_known ? known->text : nullptr;
    if (is_known) mark_seen(fields.size() + 1 + static_cast<std::size_t>(known - arguments.begin()), name);
  }
}

void EventBuilder::mark_seen(std::size_t key, std::string_view name) {
  const auto bit = std::uint64_t{1} << key;
  if ((seen_ & bit) != 0) {
    throw ConfigError{Problem{text_of_trace_->last_place(),
                              fmt::format("duplicate key '{}' in this event", name),
                              {},
                              "copy the trace again, or record it again"}};
  }
  seen_ |= bit;
}

void EventBuilder::value(int depth, const JsonValue& value) {
  if (depth == 0) return record_value(value);
  if (field_ != Field::arguments) return;
  if (argument_ == Argument::shapes) return dimension(value.number);
  if (depth > 1) return item(value);
  if (number_ != nullptr) event_.*number_ = value.number;
  if (text_ != nullptr) (event_.*text_).assign(value.text);
}

void EventBuilder::begin_list(int depth) {
  if (field_ != Field::arguments || depth < 2) return;
  if (argument_ == Argument::shapes) event_.shapes += '[';
  if (depth > 2) return;
  if (argument_ == Argument::shapes) event_.has_shapes = true;
  if (argument_ == Argument::grid) event_.blocks = 1;
  if (argument_ == Argument::block) event_.threads = 1;
}

void EventBuilder::end_list(int depth) {
  if (field_ == Field::arguments && depth >= 2 && argument_ == Argument::shapes) event_.shapes += ']';
}

void EventBuilder::record_value(const JsonValue& value) {
  switch (field_) {
    case Field::phase:
      event_.is_complete = value.text == "X";
      break;
    case Field::category:
      event_.category = value.text;
      break;
    case Field::name:
      event_.name = value.text;
      break;
    case Field::process:
      event_.process = identity(value);
      break;
    case Field::thread:
      event_.thread = identity(value);
      break;
    case Field::start:
      event_.start = time("ts", value, most_microseconds * 1000);
      break;
    case Field::duration:
      event_.duration = time("dur", value, longest_event);
      break;
    case Field::arguments:
    case Field::none:
      break;
  }
}

void EventBuilder::item(const JsonValue& value) {
  const auto factor = std::clamp<std::int64_t>(value.number, 0, 1 << 20);
  constexpr auto most = std::int64_t{1} << 40;
  if (argument_ == Argument::grid) event_.blocks = std::min(most, event_.blocks * factor);
  if (argument_ == Argument::block) event_.threads = std::min(most, event_.threads * factor);
  if (argument_ == Argument::types) event_.types.append(value.text).push_back('\n');
  if (argument_ == Argument::values) event_.values.append(value.text).push_back('\n');
}

void EventBuilder::dimension(std::int64_t size) {
  if (!event_.shapes.empty() && event_.shapes.back() != '[') event_.shapes += ',';
  constexpr auto largest = std::int64_t{1} << 40;
  std::array<char, 24> digits{};
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), std::clamp<std::int64_t>(size, 0, largest));
  event_.shapes.append(digits.data(), written.ptr);
}

void DeviceBuilder::key(int depth, std::string_view name) {
  using Member = std::int64_t RawDevice::*;
  static constexpr std::array members{KnownName<Member>{"id", &RawDevice::id},
                                      KnownName<Member>{"computeMajor", &RawDevice::major},
                                      KnownName<Member>{"computeMinor", &RawDevice::minor},
                                      KnownName<Member>{"maxThreadsPerMultiprocessor", &RawDevice::threads},
                                      KnownName<Member>{"regsPerMultiprocessor", &RawDevice::registers},
                                      KnownName<Member>{"sharedMemPerMultiprocessor", &RawDevice::shared}};
  if (depth != 0) return;
  is_name_ = name == "name";
  field_ = meaning_of(name, members, Member{nullptr});
}

void DeviceBuilder::value(int depth, const JsonValue& value) {
  if (depth != 0) return;
  if (is_name_) device_.name = value.text;
  if (field_ != nullptr) device_.*field_ = value.number;
}

}  // namespace gradway
