// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "readers/hang/hang_files.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/text.hpp"

namespace gradway {

bool is_python_or_torch(std::string_view path) {
  // py-spy leaves out the folder of packages, and those of Python's own modules.
  for (const std::string_view start :
       {"<", "torch/", "multiprocessing/", "concurrent/", "asyncio/", "importlib/"})
    if (path.starts_with(start)) return true;
  for (const std::string_view name : {"threading.py", "selectors.py", "queue.py", "socket.py", "ssl.py",
                                      "subprocess.py", "runpy.py", "contextlib.py", "functools.py"})
    if (path == name) return true;
  return contains(path, "/lib/python3") || contains(path, "/torch/") || contains(path, "/c10d") ||
         path.ends_with("/torchrun");
}

bool is_library(std::string_view path) {
  return path.starts_with('<') || contains(path, "site-packages/") || contains(path, "dist-packages/") ||
         is_python_or_torch(path);
}

CodePlace code_place(std::string_view path, int line, std::string_view function) {
  const auto slash = path.find_last_of('/');
  constexpr std::size_t most = 100;
  return {printable(path.substr(slash + 1).substr(0, most)), line, printable(function.substr(0, most))};
}

CodePlace user_place(const StackSample& stack) {
  for (const auto is_other : {is_library, is_python_or_torch}) {
    for (std::size_t i = 0; i < stack.frames.size(); ++i) {
      if (!is_other(stack.paths[i])) return stack.frames[i];
    }
  }
  return {};
}

namespace {

constexpr std::size_t most_frames = 128;
constexpr std::size_t most_rank_number = 10'000'000;

std::vector<int> ranks_in(std::string_view text) {
  std::vector<int> ranks;
  while (!text.empty()) {
    const auto start = text.find_first_of("0123456789");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const auto rank = leading_number(text);
    if (!rank || static_cast<std::size_t>(*rank) > most_rank_number) break;
    ranks.push_back(*rank);
    text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  }
  return ranks;
}

template <class Element>
std::size_t position_of(std::vector<Element>& elements, std::map<Element, std::size_t>& positions,
                        Element element) {
  const auto [entry, is_new] = positions.try_emplace(element, elements.size());
  if (is_new) elements.push_back(std::move(element));
  return entry->second;
}

class RecordReader {
 public:
  RecordReader(HangEvidence& evidence, const ValueTree& tree, RankRecord& record)
      : evidence_{evidence}, tree_{tree}, record_{record} {}

  void read_groups(ValueTree::Id groups) {
    for (const auto& [name, group] : tree_.entries(groups)) {
      ProcessGroup read;
      read.name = printable(tree_.text(name));
      read.description = printable(tree_.text(tree_.at(group, "desc")));
      const auto ranks = tree_.at(group, "ranks");
      read.ranks = ranks_in(tree_.text(ranks));
      for (const auto rank : tree_.elements(ranks))
        if (const auto number = tree_.integer(rank)) read.ranks.push_back(static_cast<int>(*number));
      for (const auto rank : read.ranks) evidence_.world = std::max(evidence_.world, rank + 1);
      const auto key = read.name;
      const auto position = position_of(evidence_.groups, evidence_.group_positions, std::move(read));
      by_name_.emplace(key, position);
      record_.groups.push_back(position);
    }
  }

  void read_call(ValueTree::Id entry) {
    const auto number = [&](std::string_view key) { return tree_.integer(tree_.at(entry, key)); };
    CallKind kind;
    read_operation(kind, tree_.text(tree_.at(entry, "profiling_name")));
    const auto group = tree_.at(entry, "process_group");
    const auto& names = tree_.elements(group);
    kind.group = group_named(names.empty() ? std::string_view{"0"} : tree_.text(names[0]),
                             names.size() < 2 ? std::string_view{} : tree_.text(names[1]));
    set_peer(kind);
    kind.input = elements_of(tree_.at(entry, "input_sizes"), &kind.input_sizes);
    kind.output = elements_of(tree_.at(entry, "output_sizes"), nullptr);
    if (const auto& types = tree_.elements(tree_.at(entry, "input_dtypes")); !types.empty())
      kind.type = printable(tree_.text(types.front()));
    kind.place = place_of(tree_.at(entry, "frames"));
    RecordedCall call;
    const bool is_p2p = kind.is_point_to_point() || tree_.is_true(tree_.at(entry, "is_p2p"));
    call.sequence = number(is_p2p ? "p2p_seq_id" : "collective_seq_id").value_or(0);
    call.kind =
        static_cast<std::uint32_t>(position_of(evidence_.kinds, evidence_.kind_positions, std::move(kind)));
    const auto state = tree_.text(tree_.at(entry, "state"));
    call.state = state == "completed" ? CallState::completed
                 : state == "started" ? CallState::started
                                      : CallState::scheduled;
    call.created = number("time_created_ns").value_or(0);
    call.last_news = std::max({call.created, number("time_discovered_started_ns").value_or(0),
                               number("time_discovered_completed_ns").value_or(0)});
    if (const auto timeout = number("timeout_ms"); timeout && *timeout > 0)
      record_.timeout = Seconds{static_cast<double>(*timeout) / 1e3};
    if (record_.calls.empty()) record_.is_whole = number("record_id").value_or(1) == 0;
    record_.calls.push_back(call);
  }

 private:
  /// "nccl:all_reduce", "nccl:recv 2<-1", "nccl:_all_gather_base"
  void read_operation(CallKind& kind, std::string_view name) {
    name = name.substr(name.find(':') + 1);
    const auto arrow =
        name.find_first_of("<-", name.find(' ') == std::string_view::npos ? name.size() : name.find(' '));
    kind.operation = printable(name.substr(0, std::min(name.find(' '), std::size_t{60})));
    if (arrow != std::string_view::npos && kind.is_point_to_point())
      kind.peer = leading_number(trimmed(name.substr(arrow + 2))).value_or(-1);
    if (kind.operation == "_all_gather_base") kind.operation = "all_gather_into_tensor";
    if (kind.operation == "_reduce_scatter_base") kind.operation = "reduce_scatter_tensor";
    if (kind.operation == "all_reduce_barrier") kind.operation = "barrier";
  }

  /// The peer of a send or receive is written as a rank of the group.
  void set_peer(CallKind& kind) const {
    const auto& ranks = evidence_.groups[kind.group].ranks;
    if (kind.peer >= 0 && static_cast<std::size_t>(kind.peer) < ranks.size())
      kind.peer = ranks[static_cast<std::size_t>(kind.peer)];
  }

  std::size_t group_named(std::string_view name, std::string_view description) {
    const auto key = printable(name);
    if (const auto entry = by_name_.find(key); entry != by_name_.end()) return entry->second;
    const auto position = position_of(evidence_.groups, evidence_.group_positions,
                                      ProcessGroup{key, printable(description), {}});
    by_name_.emplace(key, position);
    record_.groups.push_back(position);
    return position;
  }

  std::int64_t elements_of(ValueTree::Id sizes, std::string* text) const {
    constexpr std::size_t most_tensors = 16;
    constexpr double most_elements = 1e18;
    double elements = 0;
    std::size_t tensors = 0;
    for (const auto tensor : tree_.elements(sizes)) {
      double product = 1;
      std::string shape;
      for (const auto size : tree_.elements(tensor)) {
        const auto length = tree_.integer(size).value_or(0);
        product *= static_cast<double>(length);
        if (shape.size() < 80) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", length);
      }
      elements += product;
      if (text != nullptr && tensors < most_tensors)
        *text += fmt::format("{}[{}]", text->empty() ? "" : " ", shape);
      ++tensors;
      if (tensors > most_frames * most_frames) break;
    }
    return elements > 0 && elements < most_elements ? static_cast<std::int64_t>(elements) : 0;
  }

  CodePlace place_of(ValueTree::Id frames) const {
    StackSample stack;
    for (const auto frame : tree_.elements(frames)) {
      if (stack.frames.size() == most_frames) break;
      const auto path = tree_.text(tree_.at(frame, "filename"));
      const auto line = tree_.integer(tree_.at(frame, "line")).value_or(0);
      stack.frames.push_back(code_place(path, static_cast<int>(line), tree_.text(tree_.at(frame, "name"))));
      stack.paths.emplace_back(path);
    }
    return user_place(stack);
  }

  HangEvidence& evidence_;
  const ValueTree& tree_;
  RankRecord& record_;
  std::map<std::string, std::size_t> by_name_;  ///< groups of this dump
};

}  // namespace

void add_flight_record(HangEvidence& evidence, const ValueDocument& document, const std::string& file,
                       int rank, std::optional<std::int64_t> written) {
  const auto& tree = document.tree;
  const auto version = tree.text(tree.at(document.root, "version"));
  const auto entries = tree.at(document.root, "entries");
  const Where where{file, 0, 0, 0, {}};
  if (!tree.is_map(document.root) || !tree.is_list(entries))
    refuse_at(where, "this is no dump of PyTorch's flight recorder: it has no 'entries'",
              "give the files that TORCH_FR_DUMP_TEMP_FILE names: nccl_trace_rank_0, nccl_trace_rank_1, ...");
  if (!version.starts_with("2."))
    refuse_at(where, fmt::format("the flight recorder's version '{}' is unknown", printable(version)),
              "gradway reads versions 2.x, of PyTorch 2.3 and later");
  if (rank < 0)
    refuse_at(where, "the rank of the dump is unknown",
              "the file's name must end in the rank, as in nccl_trace_rank_3");
  RankRecord record;
  record.rank = rank;
  record.file = file;
  record.written = written;
  RecordReader reader{evidence, tree, record};
  reader.read_groups(tree.at(document.root, "pg_config"));
  for (const auto entry : tree.elements(entries)) {
    if (tree.text(tree.at(entry, "profiling_name")).empty())
      refuse_at(where, fmt::format("entry {} of the dump has no 'profiling_name'", record.calls.size()),
                "give the file as PyTorch wrote it");
    reader.read_call(entry);
  }
  evidence.world = std::max(evidence.world, rank + 1);
  const auto [kept, is_new] = evidence.records.try_emplace(rank, record);
  if (is_new) return;
  // Of two dumps the later one counts; of equal ones the pickle, which has lines of the program.
  const auto news = [&](const RankRecord& dump) {
    std::int64_t created = 0;
    bool has_lines = false;
    for (const auto& call : dump.calls) {
      created = std::max(created, call.created);
      has_lines = has_lines || !evidence.kinds[call.kind].place.file.empty();
    }
    return std::pair{created, has_lines};
  };
  if (news(record) > news(kept->second)) std::swap(kept->second, record);
  evidence.earlier.insert_or_assign(rank, std::move(record));
}

}  // namespace gradway
