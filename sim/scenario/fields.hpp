// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "sim/scenario/value_kind.hpp"

namespace gradway {

/// Errors of prediction that two jobs which differ in the key do not share.
struct FieldDecides {
  bool kernels = false;   ///< which kernels a GPU runs for a sample, on which shapes
  bool launches = false;  ///< what the CPU does to launch them
  bool exchange = true;   ///< what ranks send, and when
};

/// What else is said of a key, where it is not the rule.
template <class Settings, class Member>
struct FieldTraits {
  bool is_required = false;
  /// Whether a report repeats the key; empty: always, optional ones where they are given.
  bool (*is_echoed)(const Settings&) = nullptr;
  /// What counts, where the member says "left out" and the rest of the settings decide; empty: the member.
  Member (*effective)(const Settings&) = nullptr;
  /// Why two jobs that differ in this key alone share all errors of prediction; empty: they do not.
  std::string_view outside_identity{};
  FieldDecides decides{};
};

/// A key of a scenario and the member that it fills. From the tables of these follow the reader, `gradway
/// list keys`, what reports repeat of a scenario, and the identity of its settings. The default is the
/// member's initialiser.
template <class Settings, class Member, class Kind>
struct Field {
  std::string_view key;
  Member Settings::*member;
  Kind kind;
  std::string_view help;
  FieldTraits<Settings, Member> traits{};
};

template <class Settings, class Member, class Kind>
constexpr auto field(std::string_view key, Member Settings::*member, Kind kind, std::string_view help,
                     FieldTraits<Settings, Member> traits = {}) {
  return Field<Settings, Member, Kind>{key, member, kind, help, traits};
}

/// A key that is read and written by code of its own, because it fills more than one member, or none.
struct OwnField {
  std::string_view key;
  value::Kind kind;
  std::string_view help;
  std::string_view otherwise{};  ///< what counts without the key
  bool is_required = false;
  std::string_view outside_identity{};
};

template <class Row>
inline constexpr bool is_own_field_v = std::is_same_v<std::remove_cvref_t<Row>, OwnField>;

template <class Value>
inline constexpr bool is_optional_v = false;
template <class Value>
inline constexpr bool is_optional_v<std::optional<Value>> = true;

/// The value that counts.
template <class Settings, class Member, class Kind>
Member effective_value(const Field<Settings, Member, Kind>& field, const Settings& settings) {
  return field.traits.effective != nullptr ? field.traits.effective(settings) : settings.*field.member;
}

/// Whether the key says something about these settings: it is given, and none of the others makes it moot.
template <class Settings, class Member, class Kind>
bool counts(const Field<Settings, Member, Kind>& field, const Settings& settings) {
  if (field.traits.is_echoed != nullptr && !field.traits.is_echoed(settings)) return false;
  if constexpr (is_optional_v<Member> && !std::is_same_v<Kind, value::WordsOrNone>)
    return effective_value(field, settings).has_value();
  return true;
}

/// Whether the settings have their default here.
template <class Settings, class Member, class Kind>
bool has_default(const Field<Settings, Member, Kind>& field, const Settings& settings) {
  return settings.*field.member == Settings{}.*field.member;
}

/// Calls `visit` with each row of the table of these settings, in its order: a `Field` or an `OwnField`.
template <class Settings, class Visit>
constexpr void for_each_row(const Visit& visit) {
  std::apply([&](const auto&... row) { (visit(row), ...); }, fields_of(std::type_identity<Settings>{}));
}

/// The same of those that fill a member.
template <class Settings, class Visit>
constexpr void for_each_field(const Visit& visit) {
  for_each_row<Settings>([&](const auto& row) {
    if constexpr (!is_own_field_v<decltype(row)>) visit(row);
  });
}

/// Gives settings that change nothing their default: jobs that differ in these alone are equal.
template <class Settings>
void forget_what_does_not_count(Settings& settings) {
  for_each_field<Settings>([&](const auto& field) {
    if (!counts(field, settings)) settings.*field.member = Settings{}.*field.member;
  });
}

}  // namespace gradway
