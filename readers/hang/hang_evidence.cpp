// SPDX-License-Identifier: Apache-2.0
#include "readers/hang/hang_evidence.hpp"

#include <algorithm>
#include <filesystem>
#include <istream>

#include <fmt/format.h>
#include <sys/stat.h>

#include "readers/hang/hang_files.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/text.hpp"
#include "sim/files/compressed_file.hpp"

namespace gradway {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = 64'000'000;  // of a file
constexpr std::size_t most_files = 50'000;

/// The beginning of a file, decompressed.
std::string content_of(const std::string& file, std::size_t most) {
  CompressedFile stream{file, file};
  std::istream bytes{&stream};
  std::string content;
  std::string part(std::min<std::size_t>(most + 1, 1 << 16), '\0');
  while (content.size() <= most &&
         bytes.read(part.data(), static_cast<std::streamsize>(part.size())).gcount() > 0)
    content.append(part, 0, static_cast<std::size_t>(bytes.gcount()));
  if (most == most_bytes) {
    if (content.size() > most)
      refuse_at(stream.whole(), fmt::format("the file has more than {} MB", most_bytes / 1'000'000),
                "give its last part");
    stream.check();
  }
  content.resize(std::min(content.size(), most));
  return content;
}

enum class FileKind { pickle, json, text };

FileKind kind_of(std::string_view content) {
  constexpr char pickle_protocol = '\x80';
  if (!content.empty() && content.front() == pickle_protocol) return FileKind::pickle;
  // A label of a rank, as in "[rank0]:", is no list.
  const auto next = [&](std::size_t from) { return content.find_first_not_of(" \t\r\n", from); };
  const auto start = next(0);
  if (start == std::string_view::npos) return FileKind::text;
  if (content[start] == '{') return FileKind::json;
  const auto element = content[start] == '[' ? next(start + 1) : std::string_view::npos;
  if (element != std::string_view::npos && (content[element] == '{' || content[element] == '['))
    return FileKind::json;
  return FileKind::text;
}

/// The number that a name ends in, without its extensions: "nccl_trace_rank_3.json", "rank2.err".
std::optional<int> number_in_name(std::string_view name) {
  if (const auto rank = lower_case(name).find("rank"); rank != std::string::npos) {
    const auto digits = name.find_first_of("0123456789", rank);
    if (digits != std::string_view::npos && digits <= rank + 5) return leading_number(name.substr(digits));
  }
  auto stem = name.substr(0, name.find('.'));
  const auto digits = stem.find_last_not_of("0123456789");
  return leading_number(stem.substr(digits == std::string_view::npos ? 0 : digits + 1));
}

/// The rank that a file is of; -1 if its name does not say. torchrun writes ".../2/stderr.log".
int rank_of_file(const fs::path& file) {
  const auto name = file.filename().string();
  if (name.starts_with("stderr.log") || name.starts_with("stdout.log")) {
    const auto folder = file.parent_path().filename().string();
    return is_digits(folder) ? leading_number(folder).value_or(-1) : -1;
  }
  // Numbers of other names are those of jobs, processes or nodes.
  const auto lower = lower_case(name);
  const auto says_rank = [&](std::string_view word) { return contains(lower, word); };
  constexpr std::string_view words[] = {"rank", "trace", "stack", "spy", "err", "out", "dump"};
  if (lower.starts_with("slurm") || std::ranges::none_of(words, says_rank)) return -1;
  return number_in_name(name).value_or(-1);
}

std::optional<std::int64_t> time_of(const std::string& file) {
  struct stat status {};
  constexpr std::int64_t nanoseconds = 1'000'000'000;
  if (stat(file.c_str(), &status) != 0) return std::nullopt;
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * nanoseconds + status.st_mtim.tv_nsec;
}

/// Ranks of processes: those of the communicators of all ranks.
void find_ranks_of_processes(HangEvidence& evidence) {
  for (const auto& communicator : evidence.joined)
    evidence.world = std::max(evidence.world, communicator.expected);
  for (const auto& communicator : evidence.joined) {
    if (communicator.expected != evidence.world) continue;
    for (const auto& [rank, pid] : evidence.members[communicator.what])
      evidence.rank_of_process.insert_or_assign({"", pid}, rank);
  }
  for (const auto& status : evidence.ras) {
    for (const auto& communicator : status.communicators) {
      if (communicator.size != evidence.world) continue;
      for (const auto& process : communicator.processes)
        evidence.rank_of_process.insert_or_assign({process.host, process.pid}, process.rank);
    }
  }
}

bool add_json(HangEvidence& evidence, const ValueDocument& document, const std::string& file, int rank) {
  const auto& tree = document.tree;
  if (tree.is_list(tree.at(document.root, "entries")) || tree.is_map(tree.at(document.root, "pg_config"))) {
    add_flight_record(evidence, document, file, rank, time_of(file));
    return true;
  }
  if (tree.is_list(tree.at(document.root, "communicators"))) {
    add_ras(evidence, document, file);
    return true;
  }
  const auto& threads = tree.elements(document.root);
  if (threads.empty() || !tree.is_list(tree.at(threads.front(), "frames"))) return false;
  add_stacks(evidence, document, file, rank);
  return true;
}

/// @return whether the file has evidence
bool add_text(HangEvidence& evidence, std::string_view text, const std::string& file, int rank) {
  // RAS's protocol answers "OK" before the JSON.
  const auto brace = text.find("\n{");
  if (brace != std::string_view::npos && contains(text, "\"communicators\"") && !contains(text, "NCCL INFO"))
    return add_json(evidence, read_json_tree(text.substr(brace), file), file, rank);
  bool has_any = add_ras_text(evidence, text, file);
  if (contains(text, "Process ")) find_ranks_of_processes(evidence);
  has_any = add_stacks(evidence, text, file, rank) || has_any;
  return add_job_output(evidence, text, file, rank) || has_any;
}

bool add_file(HangEvidence& evidence, const std::string& file) {
  const auto content = content_of(file, most_bytes);
  const auto rank = rank_of_file(file);
  switch (kind_of(content)) {
    case FileKind::pickle:
      add_flight_record(evidence, read_pickle(content, file), file, rank, time_of(file));
      return true;
    case FileKind::json:
      // Lines of JSON, such as those of containers, are read as text.
      if (contains(content, "\"entries\"") || contains(content, "\"communicators\"") ||
          contains(content, "\"frames\""))
        return add_json(evidence, read_json_tree(content, file), file, rank);
      break;
    case FileKind::text:
      break;
  }
  return add_text(evidence, content, file, rank);
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator{folder, error}) {
    if (entry.is_regular_file(error)) files.push_back(entry.path().generic_string());
    if (files.size() > most_files)
      refuse_at(Where{folder, 0, 0, 0, {}}, fmt::format("the folder has more than {} files", most_files),
                "give the folder of one job");
  }
  // Logs of NCCL come first: they say which process has which rank.
  std::ranges::sort(files, {}, [](const std::string& file) {
    return std::pair{!contains(file, "nccl") || contains(file, "nccl_trace"), file};
  });
  return files;
}

}  // namespace

bool is_hang_evidence(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return true;
  if (!fs::is_regular_file(path, error)) return false;  // The reader of traces refuses it.
  constexpr std::size_t beginning = 1 << 16;
  const auto content = content_of(path, beginning);
  if (content.starts_with("SQLite format 3")) return false;
  const bool is_named_trace = path.ends_with(".json") || path.ends_with(".json.gz");
  if (kind_of(content) == FileKind::pickle) return true;
  if (kind_of(content) == FileKind::text) return !is_named_trace;
  // Traces of distributed jobs name their process groups as flight recorders do.
  if (contains(content, "\"distributedInfo\"") || contains(content, "\"traceEvents\"")) return false;
  return contains(content, "\"pg_config\"") || contains(content, "\"collective_seq_id\"") ||
         contains(content, "\"communicators\"") || contains(content, "\"comm_lib_version\"") ||
         (contains(content, "\"frames\"") && contains(content, "\"thread_name\""));
}

HangEvidence read_hang_evidence(const std::vector<std::string>& paths) {
  HangEvidence evidence;
  std::error_code error;
  for (const auto& path : paths) {
    if (!fs::is_directory(path, error)) {
      evidence.files += add_file(evidence, path) ? 1 : 0;
      continue;
    }
    for (const auto& file : files_below(path)) {
      try {
        evidence.files += add_file(evidence, file) ? 1 : 0;
      } catch (const ConfigError& damage) {
        constexpr std::size_t most_damaged = 20;
        if (evidence.damaged.size() < most_damaged)
          evidence.damaged.push_back(fmt::format("{}: {}", printable(file), damage.problems().front().what));
      }
    }
  }
  if (evidence.files == 0) {
    Where where;
    where.file = paths.front();
    refuse_at(where,
              evidence.damaged.empty() ? "there is nothing here that says why a job hangs"
                                       : fmt::format("no file could be read: {}", evidence.damaged.front()),
              "give dumps of PyTorch's flight recorder (nccl_trace_rank_*), the answer of NCCL's RAS, stacks "
              "of py-spy or faulthandler, or the standard error of the ranks");
  }
  find_ranks_of_processes(evidence);
  return evidence;
}

}  // namespace gradway
