// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "sim/scenario/field_tables.hpp"

/// What tables of fields are written with. A field is compiled once, where its table is.
namespace gradway {

/// Properties of a key that differ from the usual; see `Field`.
template <class Settings, class Member>
struct FieldTraits {
  bool is_required = false;
  bool (*is_echoed)(const Settings&) = nullptr;
  Member (*effective)(const Settings&) = nullptr;
  std::string_view outside_identity{};
  FieldEffects affects{};
  Lack (*lack)(const KeyContext&) = nullptr;
  Tries tries{};
};

template <class Value>
inline constexpr bool is_optional_v = false;
template <class Value>
inline constexpr bool is_optional_v<std::optional<Value>> = true;

template <class Member>
FieldValue value_of_member(const Member& member) {
  if constexpr (is_optional_v<Member>) {
    return member ? value_of_member(*member) : FieldValue{std::monostate{}};
  } else if constexpr (std::is_enum_v<Member> ||
                       (std::is_integral_v<Member> && !std::is_same_v<Member, bool>)) {
    return static_cast<std::int64_t>(member);
  } else if constexpr (std::is_same_v<Member, Wrap>) {
    return std::int64_t{member.blocks};
  } else if constexpr (std::is_same_v<Member, std::array<RankAxis, 5>>) {
    std::vector<std::int64_t> axes;
    for (const auto axis : member) axes.push_back(static_cast<std::int64_t>(axis));
    return axes;
  } else if constexpr (requires { member.worst; }) {
    return NumberRows{{member.median, member.worst}};
  } else if constexpr (requires { FieldValue{member}; } || std::is_same_v<Member, FieldValue>) {
    return member;
  } else {
    return member.value();
  }
}

template <class Member>
Member member_of_value(const FieldValue& value) {
  if constexpr (is_optional_v<Member>) {
    return is_empty(value) ? Member{} : Member{member_of_value<typename Member::value_type>(value)};
  } else if constexpr (std::is_floating_point_v<Member>) {
    return number_in(value);
  } else if constexpr (std::is_enum_v<Member> || std::is_integral_v<Member>) {
    return static_cast<Member>(whole_in(value));
  } else if constexpr (std::is_same_v<Member, Wrap>) {
    return Wrap{static_cast<int>(whole_in(value))};
  } else if constexpr (std::is_same_v<Member, std::array<RankAxis, 5>>) {
    Member axes{};
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value))
      std::ranges::transform(*numbers, axes.begin(), [](auto axis) { return static_cast<RankAxis>(axis); });
    return axes;
  } else if constexpr (requires(Member member) { member.worst; }) {
    const auto* errors = std::get_if<NumberRows>(&value);
    return errors != nullptr ? Member{errors->front().front(), errors->front().back()} : Member{};
  } else if constexpr (requires { FieldValue{Member{}}; }) {
    const auto* held = std::get_if<Member>(&value);
    return held != nullptr ? *held : Member{};
  } else {
    return Member{number_in(value)};
  }
}

template <class Settings>
const void* default_settings() {
  static const Settings settings{};
  return &settings;
}

/// Reads and changes members of a type in settings of a type. A field holds pointers to its member and to
/// functions of the settings without their types, which are restored here.
template <class Settings, class Member>
struct AccessTo {
  static const Settings& cast(const void* settings) { return *static_cast<const Settings*>(settings); }
  static Member Settings::*member_of(const Field& field) {
    return std::bit_cast<Member Settings::*>(field.member);
  }

  static FieldValue get(const Field& field, const void* settings) {
    return value_of_member(cast(settings).*member_of(field));
  }
  static void set(const Field& field, void* settings, const FieldValue& value) {
    static_cast<Settings*>(settings)->*member_of(field) = member_of_value<Member>(value);
  }
  static FieldValue effective(const Field& field, const void* settings) {
    return value_of_member(reinterpret_cast<Member (*)(const Settings&)>(field.effective)(cast(settings)));
  }
  static bool is_echoed(const Field& field, const void* settings) {
    return reinterpret_cast<bool (*)(const Settings&)>(field.is_echoed)(cast(settings));
  }
  static std::vector<Record> groups(const Field& field, const void* settings) {
    const auto& held = cast(settings).*member_of(field);
    if constexpr (is_optional_v<Member>) {
      return held ? std::vector<Record>{*held} : std::vector<Record>{};
    } else if constexpr (HasFields<Member>) {
      return {held};
    } else {
      return {held.begin(), held.end()};
    }
  }

  static MutableRecord add(const Field& field, void* settings) {
    auto& held = static_cast<Settings*>(settings)->*member_of(field);
    if constexpr (is_optional_v<Member>) {
      return held.emplace();
    } else if constexpr (HasFields<Member>) {
      return held;
    } else {
      return held.emplace_back();
    }
  }
  static const FieldTable& rows() {
    if constexpr (HasFields<Member>) {
      return fields_of<Member>();
    } else {
      return fields_of<typename Member::value_type>();
    }
  }

  static constexpr FieldAccess to_value{get, set, default_settings<Settings>, effective, nullptr, is_echoed};
  static constexpr FieldAccess to_groups{.groups = groups, .is_echoed = is_echoed, .add = add, .rows = rows};
  static constexpr FieldAccess to_result{.get = effective, .effective = effective};
};

template <class Settings, class Member>
Field field_of(const FieldAccess& access, std::string_view key, Member Settings::*member, value::Kind kind,
               std::string_view help, const FieldTraits<Settings, Member>& traits) {
  return {.key = key,
          .kind = kind,
          .help = help,
          .is_required = traits.is_required,
          .is_optional = is_optional_v<Member>,
          .outside_identity = traits.outside_identity,
          .affects = traits.affects,
          .lack = traits.lack,
          .tries = traits.tries,
          .access = &access,
          .member = std::bit_cast<std::ptrdiff_t>(member),
          .is_echoed = reinterpret_cast<void (*)()>(traits.is_echoed),
          .effective = reinterpret_cast<void (*)()>(traits.effective)};
}

/// A key that fills a member. The default is the member's initialiser.
template <class Settings, class Member>
Field field(std::string_view key, Member Settings::*member, value::Kind kind, std::string_view help,
            const FieldTraits<Settings, Member>& traits = {}) {
  return field_of(AccessTo<Settings, Member>::to_value, key, member, kind, help, traits);
}

/// A map, or a list of maps, with the table of their settings. Read by its own code; see `section`.
template <class Settings, class Member>
Field group(std::string_view key, Member Settings::*member, std::string_view help,
            const FieldTraits<Settings, Member>& traits = {}) {
  constexpr bool is_list = !is_optional_v<Member> && !HasFields<Member>;
  auto row = field_of(AccessTo<Settings, Member>::to_groups, key, member,
                      is_list ? value::Kind{value::Maps{}} : value::Map{}, help, traits);
  row.is_custom = true;
  return row;
}

/// A group that is read by its table alone.
/// @param on_one_line whether each map of a list is written on one line
template <class Settings, class Member>
Field section(std::string_view key, Member Settings::*member, std::string_view help,
              bool on_one_line = false) {
  auto row = group(key, member, help);
  row.is_custom = false;
  if (on_one_line) row.kind = value::Maps{true};
  return row;
}

/// The rows of a part of the settings, whose keys stand in the same map as the others.
template <class Settings, HasFields Part>
FieldTable part(Part Settings::*member) {
  static const Settings settings{};
  auto rows = fields_of<Part>();
  const auto offset =
      reinterpret_cast<const char*>(&(settings.*member)) - reinterpret_cast<const char*>(&settings);
  for (auto& row : rows) row.part += offset;
  return rows;
}

inline FieldTable joined(std::initializer_list<FieldTable> tables) {
  FieldTable all;
  for (const auto& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

inline Field required(Field row) {
  row.is_required = true;
  return row;
}

/// With the key's name in earlier versions.
inline Field renamed(Field row, std::string_view former) {
  row.former = former;
  return row;
}

/// Whether the field fills the member.
template <class Settings, class Member>
bool fills(const Field& field, Member Settings::*member) {
  return field.access == &AccessTo<Settings, Member>::to_value &&
         field.member == std::bit_cast<std::ptrdiff_t>(member);
}

/// Properties of a custom key that differ from the usual; see `Field`.
struct CustomTraits {
  std::string_view default_text{};
  bool is_required = false;
  std::string_view outside_identity{};
  Lack (*lack)(const KeyContext&) = nullptr;
  Tries tries{};
};

/// A key that is read by its own code, because it fills several members or none.
inline Field custom(std::string_view key, value::Kind kind, std::string_view help,
                    const CustomTraits& traits = {}) {
  return {.key = key,
          .kind = kind,
          .help = help,
          .is_required = traits.is_required,
          .is_custom = true,
          .default_text = traits.default_text,
          .outside_identity = traits.outside_identity,
          .lack = traits.lack,
          .tries = traits.tries};
}

/// The same of a key with a value that reports echo.
/// @param value of the settings, from a function without captures; empty: the key is not echoed
template <class Settings, class Function>
Field custom(std::string_view key, value::Kind kind, std::string_view help, const CustomTraits& traits,
             const Function& value) {
  using Value = std::invoke_result_t<Function, const Settings&>;
  Value (*function)(const Settings&) = value;
  auto row = custom(key, kind, help, traits);
  row.is_optional = true;
  row.access = &AccessTo<Settings, Value>::to_result;
  row.effective = reinterpret_cast<void (*)()>(function);
  return row;
}

inline std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

}  // namespace gradway
