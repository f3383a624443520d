// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/nccl_variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/cost/nccl_settings.hpp"

namespace gradway::config {
namespace {

std::string upper(std::string_view word) {
  std::string result{word};
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

/// NCCL reads text from the environment, so that '1' and 1 are the same.
Node unquoted(const Node& node) {
  auto result = node;
  result.quoted = false;
  return result;
}

std::string number(const Node& node, std::int64_t least, std::int64_t most) {
  return fmt::format("{}", whole(unquoted(node), least, most));
}

std::string flag(const Node& node) {
  const auto& word = scalar(node, "0 or 1");
  if (word == "0" || word == "1") return word;
  const auto is = [lower = upper(word)](std::string_view expected) { return lower == expected; };
  const bool yes = is("TRUE") || is("YES") || is("ON");
  const bool no = is("FALSE") || is("NO") || is("OFF");
  fail(node.where, fmt::format("expected 0 or 1, found '{}'", word), yes ? "write 1" : no ? "write 0" : "");
}

constexpr std::array<std::string_view, 6> levels{"LOC", "NVL", "PIX", "PXB", "PHB", "SYS"};

/// "LOC" ... "SYS", or the numbers that NCCL had before it had names (NCCL's documentation, NCCL_P2P_LEVEL).
std::string level(const Node& node) {
  constexpr std::array<std::string_view, 6> by_number = {"LOC", "PIX", "PXB", "PHB", "SYS", "SYS"};
  const auto& word = scalar(node, "a path level");
  auto name = upper(word);
  if (std::ranges::find(levels, name) != levels.end()) return name;
  if (word.size() == 1 && word[0] >= '0' && word[0] <= '5') {
    return std::string{by_number[static_cast<std::size_t>(word[0] - '0')]};
  }
  fail(node.where, fmt::format("invalid path level '{}'", word),
       suggestion(name, {levels.begin(), levels.end()}));
}

/// A word of NCCL's lists.
struct ListWord {
  std::string_view name;
  bool is_modelled;
};

constexpr ListWord known_algorithms[] = {{"Ring", true},         {"Tree", true}, {"CollnetDirect", true},
                                         {"CollnetChain", true}, {"NVLS", true}, {"NVLSTree", true},
                                         {"PAT", false}};
constexpr std::array<std::string_view, 6> modelled_algorithms{"Ring",         "Tree", "CollnetDirect",
                                                              "CollnetChain", "NVLS", "NVLSTree"};
constexpr std::array<std::string_view, 3> protocols{"LL", "LL128", "Simple"};
constexpr ListWord known_protocols[] = {{"LL", true}, {"LL128", true}, {"Simple", true}};

std::vector<std::string> modelled_names(std::span<const ListWord> words) {
  std::vector<std::string> names;
  for (const auto& word : words) {
    if (word.is_modelled) names.emplace_back(word.name);
  }
  return names;
}

/// One word of a list in NCCL's spelling; "" for an excluded word that gradway does not model.
std::string list_word(const Node& node, std::string_view noun, std::string_view word,
                      std::span<const ListWord> words, bool is_excluded) {
  const auto same = [&](const ListWord& known) { return upper(known.name) == upper(word); };
  const auto known = std::ranges::find_if(words, same);
  if (known == words.end()) {
    fail(node.where, fmt::format("unknown {} '{}'", noun, word),
         word.find_first_of(":;") == std::string_view::npos
             ? suggestion(word, modelled_names(words))
             : "write one list for all collectives, such as 'Ring' or '^Tree'");
  }
  if (!known->is_modelled && !is_excluded) {
    fail(node.where, fmt::format("gradway does not model {}", known->name),
         fmt::format("supported: {}", fmt::join(modelled_names(words), ", ")));
  }
  return known->is_modelled ? std::string{known->name} : "";
}

/// "ring,tree" -> "Ring,Tree"; "^ring" -> "^Ring".
std::string list(const Node& node, std::string_view noun, std::span<const ListWord> words) {
  std::string_view unread = scalar(node, fmt::format("a list of {}s", noun));
  const bool is_excluded = unread.starts_with('^');
  if (is_excluded) unread.remove_prefix(1);
  std::vector<std::string> names;
  for (bool has_more = true; has_more;) {
    const auto comma = std::min(unread.find(','), unread.size());
    auto name = list_word(node, noun, unread.substr(0, comma), words, is_excluded);
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    has_more = comma < unread.size();
    unread.remove_prefix(std::min(comma + 1, unread.size()));
  }
  if (is_excluded && names.size() == modelled_names(words).size()) {
    fail(node.where, fmt::format("'{}' excludes everything that gradway models", node.text));
  }
  return names.empty() ? "" : fmt::format("{}{}", is_excluded ? "^" : "", fmt::join(names, ","));
}

std::string algorithm(const Node& node) {
  return list(node, "algorithm", known_algorithms);
}
std::string protocol(const Node& node) {
  return list(node, "protocol", known_protocols);
}

/// In bytes. NCCL accepts plain numbers; gradway also accepts a unit.
std::string buffer_size(const Node& node) {
  const auto& word = scalar(node, "an amount of data");
  const bool has_unit = word.find_first_not_of("0123456789-.") != std::string::npos;
  if (!has_unit) return number(node, 1024, 1 << 30);
  const auto value = bytes(node).value();
  if (value != std::trunc(value) || value < 1024 || value > 1 << 30) {
    fail(node.where, fmt::format("'{}' is out of range: 1 KiB to 1 GiB in whole bytes", word));
  }
  return fmt::format("{:.0f}", value);
}

/// 64, 128, 256 and 512 (NCCL's documentation, NCCL_NTHREADS).
std::string threads(const Node& node) {
  const auto value = whole(unquoted(node), 1, 100000);
  if (value == 64 || value == 128 || value == 256 || value == 512) return fmt::format("{}", value);
  fail(node.where, fmt::format("invalid number of threads {}", value), "write 64, 128, 256 or 512");
}

struct Variable {
  std::string_view name;
  std::string (*parser)(const Node&);  ///< null: of whole numbers in the range of `kind`
  value::Kind kind;                    ///< kind of value that the parser accepts
  std::string_view meaning;

  std::string parse(const Node& node) const {
    if (parser != nullptr) return parser(node);
    const auto& range = std::get<value::Whole>(kind);
    return number(node, range.least, range.most);
  }
};

constexpr value::Described zero_or_one{"0 or 1"};

constexpr std::array variables = {
    Variable{"NCCL_P2P_DISABLE", flag, zero_or_one, "1: no direct copies between GPUs (P2P transport)"},
    Variable{"NCCL_SHM_DISABLE", flag, zero_or_one, "1: no transfers through host memory (SHM transport)"},
    Variable{"NCCL_NVB_DISABLE", flag, zero_or_one, "1: no NVLink paths through another GPU of the node"},
    Variable{"NCCL_PXN_DISABLE", flag, zero_or_one,
             "1: no network paths through the NIC of another GPU of the node"},
    Variable{"NCCL_NET_DISABLE_INTRA", flag, zero_or_one, "accepted, but not modelled"},
    Variable{"NCCL_SHM_USE_CUDA_MEMCPY", flag, zero_or_one, "accepted, but not modelled"},
    Variable{
        "NCCL_CROSS_NIC", nullptr, value::Whole{0, 2},
        "0: data leaves a node by the NIC of the rail on which it arrives; 1: rings leave by the NIC of "
        "their last GPU; 2 (default): where rings cannot leave by the NIC of their entry, they alternate "
        "between two rails"},
    Variable{"NCCL_P2P_LEVEL", level, value::Words{"a path level", levels},
             "maximum distance of GPUs that use P2P"},
    Variable{"NCCL_NET_GDR_LEVEL", level, value::Words{"a path level", levels},
             "maximum distance of a GPU and a NIC that use GPUDirect RDMA"},
    Variable{"NCCL_ALGO", algorithm, value::Words{"an algorithm", modelled_algorithms},
             "algorithms that NCCL may choose, separated by commas; with a leading ^: all except these"},
    Variable{"NCCL_PROTO", protocol, value::Words{"a protocol", protocols},
             "protocols that NCCL may choose, separated by commas; with a leading ^: all except these"},
    Variable{"NCCL_MIN_NCHANNELS", nullptr, value::Whole{1, 64}, "minimum number of channels"},
    Variable{"NCCL_MAX_NCHANNELS", nullptr, value::Whole{1, 64}, "maximum number of channels"},
    Variable{"NCCL_BUFFSIZE", buffer_size, value::Whole{1024, 1073741824},
             "buffer size of a channel in bytes, or with a unit (4 MiB): between far nodes it limits what is "
             "in flight"},
    Variable{"NCCL_NTHREADS", threads, value::Described{"64, 128, 256 or 512"}, "accepted, but not modelled"},
    Variable{"NCCL_NVLS_ENABLE", nullptr, value::Whole{0, 2},
             "reductions in NVSwitches (NVLS); 2: if the hardware supports it"},
    Variable{"NCCL_COLLNET_ENABLE", flag, zero_or_one,
             "1: reductions in InfiniBand switches (SHARP), which need its plug-in"},
    Variable{"NCCL_NET_GDR_READ", flag, zero_or_one,
             "1: NICs also read GPU memory directly; 0: they only write it"},
    Variable{"NCCL_NET_GDR_C2C", flag, zero_or_one,
             "0: no GPUDirect RDMA through a CPU whose links to its GPUs are C2C (GB200)"},
    Variable{"NCCL_IB_QPS_PER_CONNECTION", nullptr, value::Whole{1, 128},
             "RDMA: queue pairs of a connection, each of which switches hash to an uplink on its own "
             "(network.routing: ecmp)"},
    Variable{"NCCL_SOCKET_NTHREADS", nullptr, value::Whole{1, 16}, "TCP: threads per connection"},
    Variable{"NCCL_NSOCKS_PERTHREAD", nullptr, value::Whole{1, 64},
             "TCP: sockets per thread; at most 64 sockets per connection"},
};

/// NCCL variables without a key, without "NCCL_", separated by blanks: they choose NICs, time-outs, logs and
/// plug-ins.
/// @source docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html, NCCL 2.28
constexpr std::string_view not_modelled =
    "IB_DISABLE IB_HCA IB_TIMEOUT IB_RETRY_CNT IB_GID_INDEX IB_ADDR_FAMILY IB_ADDR_RANGE "
    "IB_ROCE_VERSION_NUM IB_SL IB_TC IB_FIFO_TC IB_AR_THRESHOLD IB_ADAPTIVE_ROUTING IB_SPLIT_DATA_ON_QPS "
    "IB_CUDA_SUPPORT IB_PCI_RELAXED_ORDERING IB_RETURN_ASYNC_EVENTS IB_MERGE_NICS IB_ECE_ENABLE "
    "DMABUF_ENABLE GDR_FLUSH_DISABLE SOCKET_IFNAME SOCKET_FAMILY NET NET_PLUGIN NET_SHARED_BUFFERS "
    "NET_SHARED_COMMS TUNER_PLUGIN PROFILER_PLUGIN ENV_PLUGIN CONF_FILE DEBUG DEBUG_FILE DEBUG_SUBSYS "
    "TOPO_FILE TOPO_DUMP_FILE GRAPH_FILE GRAPH_DUMP_FILE LAUNCH_MODE LAUNCH_ORDER_IMPLICIT "
    "CHECK_POINTERS CHECKS_DISABLE ASYNC_ERROR_HANDLING BLOCKING_WAIT COMM_BLOCKING COMM_ID HOSTID "
    "P2P_DIRECT_DISABLE P2P_USE_CUDA_MEMCPY P2P_PXN_LEVEL P2P_NET_CHUNKSIZE P2P_NVL_CHUNKSIZE "
    "P2P_PCI_CHUNKSIZE MIN_P2P_NCHANNELS MAX_P2P_NCHANNELS NCHANNELS_PER_NET_PEER MIN_CTAS MAX_CTAS "
    "CGA_CLUSTER_SIZE SHM_LOCALITY CUMEM_ENABLE CUMEM_HOST_ENABLE MNNVL_ENABLE MNNVL_UUID NVLS_CHUNKSIZE "
    "OOB_NET_ENABLE OOB_NET_IFNAME UID_STAGGER_RATE UID_STAGGER_THRESHOLD IGNORE_CPU_AFFINITY "
    "IGNORE_DISABLED_P2P SET_STACK_SIZE SET_THREAD_NAME WORK_FIFO_BYTES WORK_FIFO_DEPTH RAS_ENABLE "
    "RAS_ADDR LOCAL_REGISTER GRAPH_REGISTER GRAPH_MIXING_SUPPORT COLLNET_NODE_THRESHOLD LL_THRESHOLD "
    "TREE_THRESHOLD SINGLE_RING_THRESHOLD SYM_GIN_KERNELS_ENABLE ";

std::vector<std::string> names_of_variables() {
  std::vector<std::string> names;
  for (const auto& variable : variables) names.emplace_back(variable.name);
  return names;
}

void check_channels(Reader& nccl, const std::map<std::string, std::string>& values) {
  const auto least = values.find("NCCL_MIN_NCHANNELS");
  const auto most = values.find("NCCL_MAX_NCHANNELS");
  if (least == values.end() || most == values.end() || std::stoi(least->second) <= std::stoi(most->second))
    return;
  nccl.error(
      nccl.value_place("NCCL_MIN_NCHANNELS"),
      fmt::format("NCCL_MIN_NCHANNELS {} is more than NCCL_MAX_NCHANNELS {}", least->second, most->second),
      "",
      {{nccl.value_place("NCCL_MAX_NCHANNELS"), fmt::format("NCCL_MAX_NCHANNELS is {} here", most->second)}});
}

void check_sockets(Reader& nccl, const std::map<std::string, std::string>& values) {
  const auto threads = values.find("NCCL_SOCKET_NTHREADS");
  const auto per_thread = values.find("NCCL_NSOCKS_PERTHREAD");
  if (threads == values.end() || per_thread == values.end()) return;
  const auto sockets = std::stoi(threads->second) * std::stoi(per_thread->second);
  if (sockets <= 64) return;
  nccl.error(nccl.value_place("NCCL_NSOCKS_PERTHREAD"),
             fmt::format("{} threads with {} sockets each are {} sockets, but NCCL has at most 64",
                         threads->second, per_thread->second, sockets),
             "", {{nccl.value_place("NCCL_SOCKET_NTHREADS"), "NCCL_SOCKET_NTHREADS is set here"}});
}

}  // namespace

std::string hint_for_unsupported_nccl_variable(std::string_view name) {
  const auto variable = upper(name);
  if (!variable.starts_with("NCCL_") ||
      fmt::format(" {}", not_modelled).find(fmt::format(" {} ", variable.substr(5))) == std::string::npos)
    return "";
  return variable == "NCCL_IB_DISABLE"
             ? "leave it out; for sockets choose a platform whose fabric has 'network: tcp'"
             : "leave it out";
}

std::map<std::string, std::string> read_nccl(Reader& nccl) {
  std::map<std::string, std::string> values;
  for (const auto& variable : variables) {
    const auto value = nccl.maybe(variable.name, [&](const Node& node) { return variable.parse(node); });
    if (value && !value->empty()) values.emplace(variable.name, *value);
  }
  for (const auto& entry : nccl.entries()) {
    const auto names = names_of_variables();
    if (std::ranges::find(names, entry.key) != names.end()) continue;
    const auto hint = hint_for_unsupported_nccl_variable(entry.key);
    nccl.error(
        entry.where,
        fmt::format("{} '{}'", hint.empty() ? "unknown NCCL variable" : "gradway does not model", entry.key),
        hint.empty() ? suggestion_of_keys(entry.key, names) : hint);
  }
  check_channels(nccl, values);
  check_sockets(nccl, values);
  return values;
}

std::map<std::string, std::string> modelled_variables(const std::map<std::string, std::string>& environment) {
  std::map<std::string, std::string> values;
  for (const auto& variable : variables) {
    const auto set = environment.find(std::string{variable.name});
    if (set == environment.end() || !is_modelled(set->first)) continue;
    Node node;
    node.kind = Node::Kind::scalar;
    node.text = set->second;
    try {
      const auto value = variable.parse(node);
      if (!value.empty()) values.emplace(set->first, value);
    } catch (const ConfigError&) {
      continue;  // Such as an algorithm for each operation, which gradway does not model.
    }
  }
  return values;
}

std::vector<ScenarioKey> nccl_keys() {
  std::vector<ScenarioKey> keys;
  for (const auto& variable : variables) {
    auto& key = keys.emplace_back(
        ScenarioKey{fmt::format("nccl.{}", variable.name), variable.kind, std::string{variable.meaning}});
    if (!is_modelled(std::string{variable.name})) key.outside_identity = "not modelled";
  }
  return keys;
}

}  // namespace gradway::config
