// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "sim/scenario/value_kind.hpp"

namespace gradway {

/// Parts of the prediction that a key affects. Two jobs that differ in the key do not share the errors of
/// these parts.
struct FieldEffects {
  bool kernels = false;   ///< the kernels that a GPU runs for a sample, and their shapes
  bool launches = false;  ///< the CPU work that launches them
  bool exchange = true;   ///< what ranks send, and when
};

struct KeyContext;

/// Why a key has no effect, and what to write instead. Empty: it has one.
struct Lack {
  std::string_view why{};
  std::string_view remedy{};
};

/// @param needed whether the scenario has what the key needs
constexpr Lack lack_unless(bool needed, std::string_view why, std::string_view remedy = "leave it out") {
  return needed ? Lack{} : Lack{why, remedy};
}

/// Properties of a key that differ from the usual.
template <class Settings, class Member>
struct FieldTraits {
  bool is_required = false;
  /// Whether a report echoes the key; empty: always, optional members if they have a value.
  bool (*is_echoed)(const Settings&) = nullptr;
  /// The value that other settings imply for an empty member; empty: the member itself.
  Member (*effective)(const Settings&) = nullptr;
  /// Why two jobs that differ only in this key share all prediction errors; empty: they do not.
  std::string_view outside_identity{};
  FieldEffects affects{};
  /// What the key needs to have an effect; empty: nothing. A value other than the default is else an error.
  Lack (*lack)(const KeyContext&) = nullptr;
};

/// A key of a scenario and the member that it fills. The reader, `gradway list keys`, the echo in reports and
/// the identity of settings follow from tables of these. The default is the member's initialiser.
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

/// A key that is read and written by its own code, because it fills several members or none.
struct CustomField {
  std::string_view key;
  value::Kind kind;
  std::string_view help;
  std::string_view default_text{};  ///< value without the key
  bool is_required = false;
  std::string_view outside_identity{};
  Lack (*lack)(const KeyContext&) = nullptr;  ///< as in FieldTraits, with any value
};

template <class Row>
inline constexpr bool is_custom_field_v = std::is_same_v<std::remove_cvref_t<Row>, CustomField>;

template <class Value>
inline constexpr bool is_optional_v = false;
template <class Value>
inline constexpr bool is_optional_v<std::optional<Value>> = true;

/// The value of the member, or the one that other settings imply.
template <class Settings, class Member, class Kind>
Member effective_value(const Field<Settings, Member, Kind>& field, const Settings& settings) {
  return field.traits.effective != nullptr ? field.traits.effective(settings) : settings.*field.member;
}

/// Whether the key has an effect: it has a value, and no other setting makes it irrelevant.
template <class Settings, class Member, class Kind>
bool counts(const Field<Settings, Member, Kind>& field, const Settings& settings) {
  if (field.traits.is_echoed != nullptr && !field.traits.is_echoed(settings)) return false;
  if constexpr (is_optional_v<Member> && !std::is_same_v<Kind, value::WordsOrNone>)
    return effective_value(field, settings).has_value();
  return true;
}

/// Whether the member has its default.
template <class Settings, class Member, class Kind>
bool has_default(const Field<Settings, Member, Kind>& field, const Settings& settings) {
  return settings.*field.member == Settings{}.*field.member;
}

/// Calls `visit` with each row of the table of these settings, in its order: a `Field` or an `CustomField`.
template <class Settings, class Visit>
constexpr void for_each_row(const Visit& visit) {
  std::apply([&](const auto&... row) { (visit(row), ...); }, fields_of(std::type_identity<Settings>{}));
}

/// Calls `visit` with each `Field` of the table.
template <class Settings, class Visit>
constexpr void for_each_field(const Visit& visit) {
  for_each_row<Settings>([&](const auto& row) {
    if constexpr (!is_custom_field_v<decltype(row)>) visit(row);
  });
}

/// Resets members without effect to their defaults, so that jobs which differ only in these are equal.
template <class Settings>
void reset_ineffective_fields(Settings& settings) {
  for_each_field<Settings>([&](const auto& field) {
    if (!counts(field, settings)) settings.*field.member = Settings{}.*field.member;
  });
}

}  // namespace gradway
