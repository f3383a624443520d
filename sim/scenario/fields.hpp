// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

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

/// Values of a key that are worth trying in a search of faster settings, as texts, the framework's default
/// first. An empty text: without the key.
struct Tries {
  std::string_view texts{};  ///< "false, true"
  /// Values that depend on the scenario; null: `texts`.
  std::vector<std::string> (*by_scenario)(const KeyContext&) = nullptr;

  bool has_any() const { return !texts.empty() || by_scenario != nullptr; }
  std::vector<std::string> values(const KeyContext& context) const;
};

/// Why a key has no effect, and what to write instead. Empty: it has one.
struct Lack {
  std::string_view why{};
  std::string_view remedy{};
};

/// @param needed whether the scenario has what the key needs
constexpr Lack lack_unless(bool needed, std::string_view why, std::string_view remedy = "leave it out") {
  return needed ? Lack{} : Lack{why, remedy};
}

using NumberRows = std::vector<std::vector<double>>;

/// The value of a member of any type. A word of an enum is its number, a quantity is in its base unit. False
/// is the zero of every type.
using FieldValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>,
                                std::vector<std::int64_t>, NumberRows, std::monostate>;

inline bool is_empty(const FieldValue& value) {
  return std::holds_alternative<std::monostate>(value);
}
/// The number in a value; 0 for values that are none.
std::int64_t whole_in(const FieldValue& value);
double number_in(const FieldValue& value);

class Record;
class MutableRecord;
struct Field;
using FieldTable = std::vector<Field>;

/// How the values of a field are read and changed. The functions know the types of the settings and of the
/// member; null: not possible.
struct FieldAccess {
  FieldValue (*get)(const Field&, const void* settings) = nullptr;
  void (*set)(const Field&, void* settings, const FieldValue& value) = nullptr;
  const void* (*defaults)() = nullptr;  ///< settings with the initialisers of all members
  FieldValue (*effective)(const Field&, const void* settings) = nullptr;
  /// Of a map or a list of maps: their settings; empty: the key is left out.
  std::vector<Record> (*groups)(const Field&, const void* settings) = nullptr;
  bool (*is_echoed)(const Field&, const void* settings) = nullptr;
  /// Of a map: its settings, which are made if it is optional; of a list of maps: a new entry.
  MutableRecord (*add)(const Field&, void* settings) = nullptr;
  const FieldTable& (*rows)() = nullptr;  ///< of a map or a list of maps: the table of their settings
};

/// A key of a file and the member that it fills. The reader, `gradway list keys`, the echo in reports and
/// the identity of settings follow from tables of these. Its values are those of a `Record`.
struct Field {
  std::string_view key{};
  value::Kind kind{};
  std::string_view help{};
  std::string_view former{};  ///< the key's name in earlier versions, which is read, too
  bool is_required = false;
  bool is_optional = false;         ///< the member is an optional
  bool is_custom = false;           ///< read by its own code
  std::string_view default_text{};  ///< of a custom key: the value without it
  /// Why two jobs that differ only in this key share all prediction errors; empty: they do not.
  std::string_view outside_identity{};
  FieldEffects affects{};
  /// What the key needs to have an effect; null: nothing. A value other than the default is else an error.
  Lack (*lack)(const KeyContext&) = nullptr;
  Tries tries{};

  const FieldAccess* access = nullptr;  ///< null: it has no value
  std::ptrdiff_t member = 0;            ///< the pointer to the member
  std::ptrdiff_t part = 0;              ///< offset of the part of the settings that has the member
  // Functions of the settings; null: as usual.
  void (*is_echoed)() = nullptr;
  void (*effective)() = nullptr;

  bool has_value() const { return access != nullptr && access->get != nullptr; }
  bool is_group() const { return access != nullptr && access->groups != nullptr; }
  /// Whether the member is empty without the key; "none" is a value.
  bool may_be_empty() const { return is_optional && !std::holds_alternative<value::WordsOrNone>(kind); }
  /// The value without the key; empty for a custom key.
  FieldValue default_value() const {
    return is_custom || !has_value() ? FieldValue{std::monostate{}} : access->get(*this, access->defaults());
  }
};

template <class Settings>
concept HasFields = requires {
  make_fields(std::type_identity<Settings>{});
};

/// The table of the keys of settings; made at the first call.
template <HasFields Settings>
const FieldTable& fields_of() {
  static const FieldTable fields = make_fields(std::type_identity<Settings>{});
  return fields;
}

/// Settings of any type with the table of their keys.
class Record {
 public:
  template <HasFields Settings>
  Record(const Settings& settings) : fields_{&fields_of<Settings>()}, settings_{&settings} {}

  const FieldTable& fields() const { return *fields_; }

  FieldValue value(const Field& field) const { return field.access->get(field, place(field)); }
  /// The value of the member, or the one that other settings imply.
  FieldValue effective_value(const Field& field) const {
    return (field.effective != nullptr ? field.access->effective : field.access->get)(field, place(field));
  }
  std::vector<Record> groups(const Field& field) const { return field.access->groups(field, place(field)); }
  /// Whether the key has an effect: it has a value, and no other setting makes it irrelevant.
  bool counts(const Field& field) const;
  bool has_default(const Field& field) const { return value(field) == field.default_value(); }

 private:
  const void* place(const Field& field) const { return static_cast<const char*>(settings_) + field.part; }

  const FieldTable* fields_;
  const void* settings_;
};

/// Settings that can be changed.
class MutableRecord : public Record {
 public:
  template <HasFields Settings>
  MutableRecord(Settings& settings) : Record{settings}, settings_{&settings} {}

  void assign(const Field& field, const FieldValue& value) const {
    field.access->set(field, place(field), value);
  }
  /// The settings of a map, or of a new entry of a list of maps.
  MutableRecord add(const Field& field) const { return field.access->add(field, place(field)); }

 private:
  void* place(const Field& field) const { return static_cast<char*>(settings_) + field.part; }

  void* settings_;
};

/// Resets members without effect to their defaults, so that jobs which differ only in these are equal.
void reset_ineffective_fields(MutableRecord settings);

}  // namespace gradway
