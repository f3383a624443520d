// SPDX-License-Identifier: Apache-2.0
#include "readers/chakra/chakra.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <istream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "readers/chakra/wire.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 30;
constexpr std::uint64_t most_types = 32;  // Largest type of a node: the known ones and some more.
// These limits keep a damaged file from filling memory: a node or attribute can need 70 times its bytes in
// the file. A step of PyTorch has about 100,000 nodes with ten attributes each.
constexpr std::size_t most_nodes = 2'000'000;
constexpr std::size_t most_parts = 10'000'000;  // Maximum of dependencies, and of attributes.
constexpr std::size_t most_values = 1'000'000;  // Maximum of a node's JSON.
constexpr int max_depth = 32;
constexpr auto what_is_read =
    "expected a Chakra execution trace, as written by chakra_converter or 'gradway export chakra', or its "
    "JSON";

// Fields of AttributeProto that hold a single value.
constexpr std::uint32_t double_val = 3;
constexpr std::uint32_t int32_val = 7;
constexpr std::uint32_t int64_val = 9;
constexpr std::uint32_t uint64_val = 13;
constexpr std::uint32_t bool_val = 27;
constexpr std::uint32_t string_val = 29;

[[noreturn]] void refuse_file(const std::string& shown, const std::string& message) {
  Where where;
  where.file = shown;
  refuse_at(where, message, what_is_read);
}

/// The nodes of a file, limited in number.
class Nodes {
 public:
  explicit Nodes(const std::string& shown) : shown_{shown} {}

  void add(ChakraNode node) {
    if (nodes_.size() == most_nodes)
      refuse_file(shown_, fmt::format("the trace has more than {} nodes", most_nodes));
    dependencies_ += node.ctrl_deps.size() + node.data_deps.size();
    attributes_ += node.attributes.size();
    if (std::max(dependencies_, attributes_) > most_parts)
      refuse_file(shown_, fmt::format("the nodes have more than {} {}", most_parts,
                                      dependencies_ > most_parts ? "dependencies" : "attributes"));
    nodes_.push_back(std::move(node));
  }
  std::size_t size() const { return nodes_.size(); }
  std::vector<ChakraNode> take() { return std::move(nodes_); }

 private:
  const std::string& shown_;
  std::vector<ChakraNode> nodes_;
  std::size_t dependencies_ = 0;
  std::size_t attributes_ = 0;
};

/// Reads the nodes of a file in Protocol Buffers.
class WireNodes {
 public:
  explicit WireNodes(const std::string& shown) : shown_{shown} {}

  std::vector<ChakraNode> read(std::string_view content) {
    WireReader file{content};
    Nodes nodes{shown_};
    for (bool is_metadata = true; !file.at_end(); is_metadata = false) {
      begin_ = file.offset();
      const auto length = file.varint();
      const auto message = length ? file.bytes(*length) : std::nullopt;
      if (!message) refuse("is truncated");
      if (is_metadata) {
        check_metadata(*message);
      } else {
        nodes.add(node(*message));
      }
    }
    return nodes.take();
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    refuse_file(shown_, fmt::format("the record at byte {} {}", begin_, why));
  }

  template <class Take>
  void each_field(std::string_view message, const Take& take) const {
    for (WireReader reader{message}; !reader.at_end();) {
      const auto field = reader.next();
      if (!field) refuse("is damaged");
      take(*field);
    }
  }

  void check_metadata(std::string_view message) const {
    each_field(message, [&](const WireField& field) {
      if (field.number > 2 || field.type != WireField::Type::bytes)
        refuse("is not a GlobalMetadata of Chakra");
    });
  }

  std::string text(std::string_view bytes) const {
    constexpr std::size_t longest = 1'000'000;
    if (bytes.size() > longest) refuse("has a name or a text of more than 1 MB");
    return printable(bytes);
  }

  void add_ids(std::vector<std::uint64_t>& ids, const WireField& field) const {
    if (ids.size() + field.bytes.size() > most_parts) refuse("has too many dependencies");
    if (field.type == WireField::Type::varint) {
      ids.push_back(field.value);
      return;
    }
    if (field.type != WireField::Type::bytes) refuse("has a dependency that is not a number");
    for (WireReader packed{field.bytes}; !packed.at_end();) {
      const auto id = packed.varint();
      if (!id) refuse("has a truncated list of dependencies");
      ids.push_back(*id);
    }
  }

  ChakraNode node(std::string_view message) const {
    ChakraNode node;
    each_field(message, [&](const WireField& field) {
      const bool is_number = field.type == WireField::Type::varint;
      const bool is_bytes = field.type == WireField::Type::bytes;
      if (field.number == 1 && is_number) node.id = field.value;
      if (field.number == 2 && is_bytes) node.name = text(field.bytes);
      if (field.number == 3 && is_number) {
        if (field.value > most_types) refuse("is not a Node of Chakra: its type is unknown");
        node.type = static_cast<ChakraType>(field.value);
      }
      if (field.number == 4) add_ids(node.ctrl_deps, field);
      if (field.number == 5) add_ids(node.data_deps, field);
      if (field.number == 6 && is_number) node.start_micros = field.value;
      if (field.number == 7 && is_number) node.duration_micros = field.value;
      if (field.number == 10 && is_bytes) add_attribute(node, field.bytes);
    });
    return node;
  }

  void add_attribute(ChakraNode& node, std::string_view message) const {
    if (node.attributes.size() == most_parts) refuse("has too many attributes");
    ChakraAttribute attribute;
    bool has_value = false;
    const auto take = [&](ChakraAttribute::Value value) {
      attribute.value = std::move(value);
      has_value = true;
    };
    each_field(message, [&](const WireField& field) {
      const bool is_number = field.type == WireField::Type::varint;
      if (field.number == 1 && field.type == WireField::Type::bytes) attribute.name = text(field.bytes);
      if (field.number == double_val && field.type == WireField::Type::fixed64)
        take(std::bit_cast<double>(field.value));
      if (field.number == int32_val && is_number) take(static_cast<std::int32_t>(field.value));
      if (field.number == int64_val && is_number) take(static_cast<std::int64_t>(field.value));
      if (field.number == uint64_val && is_number) take(field.value);
      if (field.number == bool_val && is_number) take(field.value != 0);
      if (field.number == string_val && field.type == WireField::Type::bytes) take(text(field.bytes));
    });
    if (has_value) node.attributes.push_back(std::move(attribute));
  }

  const std::string& shown_;
  std::size_t begin_ = 0;  ///< Start of the current record.
};

/// An unsigned integer. The JSON of Protocol Buffers writes 64-bit integers as text.
std::uint64_t whole_in(const Json& json) {
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  const auto& text = json.get_ref<const std::string&>();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) throw std::invalid_argument{"not an integer"};
  return value;
}

std::int64_t signed_in(const Json& json) {
  if (json.is_number_integer()) return json.get<std::int64_t>();
  return std::stoll(json.get_ref<const std::string&>());
}

ChakraType type_in(const Json& json) {
  constexpr std::array<std::string_view, 8> names{"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                                  "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                                  "COMM_RECV_NODE", "COMM_COLL_NODE"};
  if (json.is_number_unsigned() && json.get<std::uint64_t>() <= most_types)
    return static_cast<ChakraType>(json.get<std::uint64_t>());
  const auto name = std::ranges::find(names, json.get_ref<const std::string&>());
  return name == names.end() ? ChakraType::invalid : static_cast<ChakraType>(name - names.begin());
}

std::optional<ChakraAttribute> attribute_in(const Json& json) {
  const auto name = printable(json.at("name").get_ref<const std::string&>());
  for (const auto& [key, value] : json.items()) {
    if (key == "doubleVal") return ChakraAttribute{name, value.get<double>()};
    if (key == "int32Val") return ChakraAttribute{name, value.get<std::int32_t>()};
    if (key == "int64Val") return ChakraAttribute{name, signed_in(value)};
    if (key == "uint64Val") return ChakraAttribute{name, whole_in(value)};
    if (key == "boolVal") return ChakraAttribute{name, value.get<bool>()};
    if (key == "stringVal") return ChakraAttribute{name, printable(value.get_ref<const std::string&>())};
  }
  return std::nullopt;
}

/// The JSON of Protocol Buffers omits values equal to their default: ids of 0, types of 0.
ChakraNode node_in(const Json& json) {
  ChakraNode node;
  const auto whole_number = [&](const char* key) {
    const auto value = json.find(key);
    return value == json.end() ? 0 : whole_in(*value);
  };
  node.id = whole_number("id");
  if (const auto name = json.find("name"); name != json.end())
    node.name = printable(name->get_ref<const std::string&>());
  if (const auto type = json.find("type"); type != json.end()) node.type = type_in(*type);
  for (const auto& [key, ids] :
       {std::pair{"ctrlDeps", &node.ctrl_deps}, std::pair{"dataDeps", &node.data_deps}}) {
    const auto list = json.find(key);
    if (list == json.end()) continue;
    for (const auto& id : *list) ids->push_back(whole_in(id));
  }
  node.start_micros = whole_number("startTimeMicros");
  node.duration_micros = whole_number("durationMicros");
  if (const auto attributes = json.find("attr"); attributes != json.end()) {
    for (const auto& entry : *attributes)
      if (auto attribute = attribute_in(entry)) node.attributes.push_back(std::move(*attribute));
  }
  return node;
}

/// Length of the JSON value at the start of a text, or of all of the text if the value does not end in it.
/// @throws ConfigError if it is nested too deeply or has too many values
std::size_t length_of_value(std::string_view text, const std::string& shown, std::size_t number) {
  const auto refuse = [&](const std::string& fault) {
    refuse_file(shown, fmt::format("object {} {}", number, fault));
  };
  int depth = 0;
  std::size_t values = 0;
  for (std::size_t position = 0; position < text.size(); ++position) {
    const char c = text[position];
    if (c == '"') {
      for (++position; position < text.size() && text[position] != '"'; ++position)
        position += text[position] == '\\' ? 1 : 0;
    } else if (c == '{' || c == '[') {
      if (++depth > max_depth) refuse(fmt::format("is nested deeper than {} levels", max_depth));
    } else if (c == ',') {
      if (++values > most_values) refuse(fmt::format("has more than {} values", most_values));
    } else if ((c == '}' || c == ']') && --depth <= 0) {
      return position + 1;
    }
  }
  return text.size();
}

/// Reads consecutive objects: the metadata, then one node each.
std::vector<ChakraNode> json_nodes(std::string_view content, const std::string& shown) {
  constexpr std::string_view blanks = " \t\r\n";
  Nodes nodes{shown};
  try {
    bool is_metadata = true;
    for (auto position = content.find_first_not_of(blanks); position != std::string_view::npos;
         position = content.find_first_not_of(blanks, position)) {
      if (content[position] != '{')
        refuse_file(shown, "this is not Chakra's JSON: it contains something other than objects");
      const auto length = length_of_value(content.substr(position), shown, nodes.size() + 1);
      const auto json = Json::parse(content.substr(position, length));
      position += length;
      for (const auto& [key, program] : {std::pair{"nodes", "PyTorch's ExecutionTraceObserver"},
                                         std::pair{"workload_graph", "Chakra's feeder"}}) {
        if (is_metadata && json.contains(key))
          refuse_file(shown, fmt::format("this is JSON of {}, which gradway does not read", program));
      }
      if (!is_metadata || json.contains("id") || json.contains("type")) nodes.add(node_in(json));
      is_metadata = false;
    }
  } catch (const Json::exception&) {
    refuse_file(shown, fmt::format("object {} is not a node of Chakra", nodes.size() + 1));
  } catch (const std::logic_error&) {  // An invalid number.
    refuse_file(shown, fmt::format("object {} has an invalid number", nodes.size() + 1));
  }
  return nodes.take();
}

void put_value(std::string& out, const ChakraAttribute::Value& value) {
  std::visit(
      [&](const auto& typed) {
        using Type = std::decay_t<decltype(typed)>;
        if constexpr (std::is_same_v<Type, double>) put_double(out, double_val, typed);
        if constexpr (std::is_same_v<Type, std::int32_t>)
          put_number(out, int32_val, static_cast<std::uint64_t>(std::int64_t{typed}));
        if constexpr (std::is_same_v<Type, std::int64_t>)
          put_number(out, int64_val, static_cast<std::uint64_t>(typed));
        if constexpr (std::is_same_v<Type, std::uint64_t>) put_number(out, uint64_val, typed);
        if constexpr (std::is_same_v<Type, bool>) put_number(out, bool_val, typed ? 1 : 0);
        if constexpr (std::is_same_v<Type, std::string>) put_bytes(out, string_val, typed);
      },
      value);
}

void put_ids(std::string& out, std::uint32_t number, const std::vector<std::uint64_t>& ids) {
  if (ids.empty()) return;
  std::string packed;
  for (const auto id : ids) put_varint(packed, id);
  put_bytes(out, number, packed);
}

void put_record(std::string& out, const std::string& message) {
  put_varint(out, message.size());
  out += message;
}

}  // namespace

const ChakraAttribute::Value* ChakraNode::find(std::string_view attribute) const {
  const auto entry = std::ranges::find(attributes, attribute, &ChakraAttribute::name);
  return entry == attributes.end() ? nullptr : &entry->value;
}

std::uint64_t ChakraNode::whole(std::string_view attribute, std::uint64_t otherwise) const {
  const auto* value = find(attribute);
  if (value == nullptr) return otherwise;
  return std::visit(
      [&](const auto& typed) -> std::uint64_t {
        using Type = std::decay_t<decltype(typed)>;
        if constexpr (std::is_same_v<Type, std::uint64_t> || std::is_same_v<Type, bool>) return typed;
        if constexpr (std::is_same_v<Type, std::int32_t> || std::is_same_v<Type, std::int64_t>)
          return typed < 0 ? otherwise : static_cast<std::uint64_t>(typed);
        return otherwise;
      },
      *value);
}

std::vector<ChakraNode> chakra_nodes(std::string_view content, const std::string& shown) {
  const bool is_json = content.size() > 1 && content.front() == '{' &&
                       std::string_view{" \t\r\n\"}"}.find(content[1]) != std::string_view::npos;
  auto nodes = is_json ? json_nodes(content, shown) : WireNodes{shown}.read(content);
  if (nodes.empty()) refuse_file(shown, "the trace has no nodes");
  return nodes;
}

std::vector<ChakraNode> read_chakra(const std::filesystem::path& file, const std::string& shown) {
  check_regular_file(file, shown);
  CompressedFile packed{file, shown};
  std::istream in{&packed};
  std::string content;
  for (std::array<char, 1 << 16> chunk{}; in && content.size() <= most_bytes;) {
    in.read(chunk.data(), chunk.size());
    content.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (content.size() > most_bytes)
    refuse_file(shown, fmt::format("the file has more than {} bytes", most_bytes));
  packed.check();
  return chakra_nodes(content, shown);
}

std::string chakra_bytes(std::span<const ChakraNode> nodes, std::string_view version) {
  std::string out;
  std::string metadata;
  put_bytes(metadata, 1, version);
  put_record(out, metadata);
  for (const auto& node : nodes) {
    std::string message;
    put_number(message, 1, node.id);
    put_bytes(message, 2, node.name);
    put_number(message, 3, static_cast<std::uint64_t>(node.type));
    put_ids(message, 4, node.ctrl_deps);
    put_ids(message, 5, node.data_deps);
    if (node.start_micros > 0) put_number(message, 6, node.start_micros);
    if (node.duration_micros > 0) put_number(message, 7, node.duration_micros);
    for (const auto& attribute : node.attributes) {
      std::string value;
      put_bytes(value, 1, attribute.name);
      put_value(value, attribute.value);
      put_bytes(message, 10, value);
    }
    put_record(out, message);
  }
  return out;
}

}  // namespace gradway
