// SPDX-License-Identifier: Apache-2.0
#include "readers/nsys/nsys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "readers/kineto/read/read_trace.hpp"
#include "readers/kineto/work/kernel_name.hpp"
#include "readers/nsys/database.hpp"
#include "readers/nsys/export_rows.hpp"
#include "readers/nsys/nccl_ranges.hpp"
#include "readers/nsys/step_marks.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

using namespace nsys;

constexpr auto how_to_record =
    "record with 'nsys profile --trace=cuda,nvtx', then 'nsys export --type sqlite'";
constexpr auto ranges_hint =
    "run the steps inside 'with torch.autograd.profiler.emit_nvtx(record_shapes=True):' under "
    "'nsys profile --trace=cuda,nvtx'";

class Export {
 public:
  Export(const std::filesystem::path& file, const std::string& shown) : database_{file, shown} {
    require("StringIds", {"id", "value"}, how_to_record);
    require(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        {"start", "end", "deviceId", "streamId", "correlationId", "demangledName", "gridX", "gridY", "gridZ",
         "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"},
        how_to_record);
    require("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"},
            how_to_record);
    require("NVTX_EVENTS", {"start", "end", "eventType", "text", "textId", "globalTid"}, ranges_hint);
  }

  Where where() const { return database_.where(); }

  /// @param needs_shapes refuses an export without operations of PyTorch and their shapes
  void pass_to(const SinkOfProcess& sink_of, bool needs_shapes) {
    read_names();
    read_nccl_ranges();
    read_ranges(needs_shapes);
    calls(sink_of);
    kernels(sink_of);
    copies(sink_of);
    memsets(sink_of);
    overheads(sink_of);
    ranges(sink_of);
    for (const auto process : processes_) {
      devices(sink_of(process));
      if (const auto job = nccl_.job(process)) sink_of(process).job(job->rank, job->ranks);
    }
  }

 private:
  void require(const std::string& table, std::initializer_list<const char*> columns,
               const std::string& hint) {
    const auto there = database_.columns(table);
    if (there.empty()) refuse_at(where(), fmt::format("the export has no table '{}'", table), hint);
    for (const auto* column : columns) {
      if (!there.contains(column))
        refuse_at(where(), fmt::format("table '{}' has no column '{}'", table, column),
                  "expected an export of Nsight Systems 2021 or later");
    }
  }

  void set_times(const Row& row, RawEvent& event) const {
    event.is_complete = true;
    const auto& start = row.start;
    const auto& end = row.end;
    constexpr std::int64_t longest = 86'400'000'000'000;  // A day.
    if (!start || *start < 0) {
      event.invalid_time = InvalidTime{"start", start ? std::to_string(*start) : "", where()};
    } else if (!end || *end < *start || *end - *start > longest) {
      event.invalid_time = InvalidTime{"end", end ? std::to_string(*end) : "", where()};
    } else {
      event.start = *start;
      event.duration = *end - *start;
    }
  }

  void devices(TraceSink& sink) const {
    const auto columns = database_.columns("TARGET_INFO_GPU");
    if (!columns.contains("id") || !columns.contains("name")) return;
    const bool has_capability = columns.contains("computeMajor") && columns.contains("computeMinor");
    auto rows = database_.rows(fmt::format("SELECT id, name, {} FROM TARGET_INFO_GPU",
                                           has_capability ? "computeMajor, computeMinor" : "0, 0"));
    while (rows.next()) {
      auto device = limits_of_capability(rows.whole(2).value_or(0), rows.whole(3).value_or(0));
      device.id = rows.whole(0).value_or(0);
      device.name = printable(rows.text(1));
      sink.device(device);
    }
  }

  void read_names() {
    auto rows = database_.rows("SELECT id, value FROM StringIds");
    while (rows.next())
      if (const auto id = rows.whole(0)) names_.try_emplace(*id, Name{rows.text(1)});
  }

  /// Returns the name of a row, or null. Every event has a copy of its name, so names may add up to far more
  /// than the file's size. @throws ConfigError if they do
  Name* name_of(const std::optional<std::int64_t>& id) {
    const auto entry = id ? names_.find(*id) : names_.end();
    if (entry == names_.end()) return nullptr;
    count_text(entry->second.text);
    return &entry->second;
  }

  void count_text(const std::string& text) {
    constexpr std::uintmax_t always = 64'000'000;
    // A row of 60 bytes may refer to a template kernel's name of 10,000 bytes.
    constexpr std::uintmax_t a_byte = 200;
    text_bytes_ += text.size();
    if (text_bytes_ > always + a_byte * database_.bytes())
      refuse_at(where(), "the names of its events are more than 200 times as large as the file",
                "export the report again: names of real programs are shorter");
  }

  void read_nccl_ranges() {
    const auto columns = database_.columns("NVTX_EVENTS");
    if (columns.contains("binaryData") && columns.contains("domainId")) nccl_.read(database_);
  }

  /// Reads push/pop ranges. A range that was open at the end is ignored.
  void read_ranges(bool needs_shapes) {
    constexpr int push_pop = 59;  // NvtxPushPopRange
    auto rows = database_.rows("SELECT start, end, globalTid, text, textId, eventType FROM NVTX_EVENTS");
    bool has_shapes = false;
    while (rows.next()) {
      if (rows.whole(5) != push_pop || rows.is_null(1)) continue;
      const auto start = rows.whole(0);
      const auto end = rows.whole(1);
      if (!start || !end || *end < *start)
        refuse_at(where(), "an NVTX range ends before it begins", how_to_record);
      const auto* text = rows.is_null(3) ? range_of(name_of(rows.whole(4))) : inline_range(rows.text(3));
      ranges_.push_back({text, *start, *end, rows.whole(2).value_or(0)});
      has_shapes = has_shapes || !text->shapes.empty();
    }
    if (needs_shapes && !has_shapes)
      refuse_at(where(), "no NVTX range has an operation of PyTorch with its shapes", ranges_hint);
    std::ranges::stable_sort(ranges_, [](const Range& a, const Range& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    for (const auto& range : ranges_)
      if (range.text->name.starts_with("Optimizer.step#"))
        optimizer_steps_.emplace_back(range.start, optimizer_steps_.empty()
                                                       ? range.end
                                                       : std::max(range.end, optimizer_steps_.back().second));
    std::ranges::stable_sort(ranges_, {}, &Range::thread);
  }

  static const NvtxRange* range_of(Name* name) {
    static const NvtxRange none{};
    if (name == nullptr) return &none;
    if (!name->range) name->range = nvtx_range(name->text);
    return &*name->range;
  }

  const NvtxRange* inline_range(const std::string& text) {
    count_text(text);
    return &inline_ranges_.emplace_back(nvtx_range(text));
  }

  void calls(const SinkOfProcess& sink_of) {
    std::vector<CallRow> call_rows;
    auto rows = database_.rows(
        "SELECT start, end, globalTid, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME");
    while (rows.next())
      call_rows.push_back({{rows.whole(0), rows.whole(1)},
                           rows.whole(2).value_or(0),
                           rows.whole(3).value_or(0),
                           rows.whole(4)});
    sort_by_start(call_rows);
    for (const auto& row : call_rows) {
      RawEvent event;
      event.category = "cuda_runtime";
      if (const auto* name = name_of(row.name)) event.name = printable(without_version(name->text));
      set_times(row, event);
      event.thread = row.thread;
      event.process = process_of(event.thread);
      processes_.insert(event.process);
      event.correlation = row.correlation;
      if (event.start)
        calls_.emplace(key_of(event.process, event.correlation), std::pair{event.thread, *event.start});
      sink_of(event.process).event(event);
    }
  }

  /// Correlations, of 32 bits, are unique in a process only.
  static std::int64_t key_of(std::int64_t process, std::int64_t correlation) {
    return process << 32 | (correlation & 0xffffffff);
  }

  /// The columns that `activity_in` reads.
  std::string activity_columns(const std::string& table) const {
    const bool has_process = has(table, {"globalPid"});
    if (!has_process && processes_.size() > 1)
      refuse_at(where(), fmt::format("table '{}' has no column 'globalPid'", table),
                "expected an export of Nsight Systems 2021 or later");
    return fmt::format("start, end, {}, deviceId, streamId, correlationId", has_process ? "globalPid" : "0");
  }

  ActivityRow activity_in(const Rows& rows) const {
    const auto process = process_of(rows.whole(2).value_or(0));
    return {{rows.whole(0), rows.whole(1)},
            process == 0 && !processes_.empty() ? *processes_.begin() : process,
            rows.whole(3).value_or(0),
            rows.whole(4).value_or(0),
            rows.whole(5).value_or(0)};
  }

  void emit(const ActivityRow& row, RawEvent& event, TraceSink& sink) const {
    set_times(row, event);
    event.device = row.device;
    event.stream = row.stream;
    event.correlation = row.correlation;
    sink.event(event);
  }

  void kernels(const SinkOfProcess& sink_of) {
    auto rows =
        database_.rows(fmt::format("SELECT {}, demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, "
                                   "registersPerThread, staticSharedMemory, dynamicSharedMemory "
                                   "FROM CUPTI_ACTIVITY_KIND_KERNEL",
                                   activity_columns("CUPTI_ACTIVITY_KIND_KERNEL")));
    const auto product = [&](int first) {
      std::int64_t result = 1;
      for (int i = first; i < first + 3; ++i)
        result *= std::clamp<std::int64_t>(rows.whole(i).value_or(0), 0, 1 << 20);
      return result;
    };
    std::vector<KernelRow> kernel_rows;
    while (rows.next()) {
      KernelRow row{activity_in(rows), rows.whole(6)};
      row.blocks = std::min(product(7), std::int64_t{1} << 40);
      row.threads = product(10);
      row.registers = rows.whole(13).value_or(0);
      for (const int column : {14, 15})
        row.shared += std::clamp<std::int64_t>(rows.whole(column).value_or(0), 0, 1 << 24);
      kernel_rows.push_back(row);
    }
    sort_by_start(kernel_rows);
    for (const auto& row : kernel_rows) {
      RawEvent event;
      event.category = "kernel";
      auto* const name = name_of(row.name);
      if (name != nullptr) event.name = printable(name->text);
      event.blocks = row.blocks;
      event.threads = row.threads;
      event.registers = row.registers;
      event.shared = row.shared;
      if (name != nullptr && name->type.empty()) name->type = operand_type(event.name);
      const auto call = calls_.find(key_of(row.process, row.correlation));
      if (call != calls_.end()) {
        set_types(call->second, name == nullptr ? operand_type("") : name->type);
        launches_[row.process].push_back(call->second.second);
        if (is_collective(event.name)) set_collective(call->second, row.process, event);
      }
      emit(row, event, sink_of(row.process));
    }
  }

  /// Reads the copies or the memsets.
  std::vector<TransferRow> transfers(const std::string& table, const std::string& columns) {
    auto rows =
        database_.rows(fmt::format("SELECT {}, bytes{} FROM {}", activity_columns(table), columns, table));
    std::vector<TransferRow> transfer_rows;
    while (rows.next()) {
      transfer_rows.push_back({activity_in(rows), rows.whole(6).value_or(0),
                               columns.empty() ? std::int64_t{0} : rows.whole(7).value_or(0), ""});
      if (columns.find("srcKind") == std::string::npos) continue;
      const auto from = memory_kind(rows.whole(8).value_or(-1));
      const auto to = memory_kind(rows.whole(9).value_or(-1));
      if (!from.empty() && !to.empty()) transfer_rows.back().places = fmt::format(" ({} -> {})", from, to);
    }
    sort_by_start(transfer_rows);
    return transfer_rows;
  }

  void copies(const SinkOfProcess& sink_of) {
    const std::string table = "CUPTI_ACTIVITY_KIND_MEMCPY";
    if (!has(table, {"deviceId", "streamId", "correlationId", "bytes", "copyKind"})) return;
    const auto* const places = has(table, {"srcKind", "dstKind"}) ? ", srcKind, dstKind" : "";
    for (const auto& row : transfers(table, fmt::format(", copyKind{}", places))) {
      RawEvent event;
      event.category = "gpu_memcpy";
      event.name = fmt::format("Memcpy {}{}", copy_kind(row.kind), row.places);
      event.bytes = row.bytes;
      emit(row, event, sink_of(row.process));
    }
  }

  void memsets(const SinkOfProcess& sink_of) {
    if (!has("CUPTI_ACTIVITY_KIND_MEMSET", {"deviceId", "streamId", "correlationId", "bytes"})) return;
    for (const auto& row : transfers("CUPTI_ACTIVITY_KIND_MEMSET", "")) {
      RawEvent event;
      event.category = "gpu_memset";
      event.name = "Memset (Device)";
      event.bytes = row.bytes;
      emit(row, event, sink_of(row.process));
    }
  }

  /// Nsight Systems' own work on the CPU.
  void overheads(const SinkOfProcess& sink_of) const {
    if (!has("PROFILER_OVERHEAD", {"start", "end", "globalTid"})) return;
    auto rows = database_.rows("SELECT start, end, globalTid FROM PROFILER_OVERHEAD");
    while (rows.next()) {
      const auto thread = rows.whole(2).value_or(0);
      if (!processes_.contains(process_of(thread))) continue;
      RawEvent event;
      event.category = "overhead";
      set_times({rows.whole(0), rows.whole(1)}, event);
      event.thread = thread;
      sink_of(process_of(thread)).event(event);
    }
  }

  bool has(const std::string& table, std::initializer_list<const char*> columns) const {
    const auto there = database_.columns(table);
    return std::ranges::all_of(columns, [&](const char* column) { return there.contains(column); });
  }

  /// Passes the ranges of a thread that contain the call, the innermost first, to `visit`.
  template <class Visit>
  void visit_ranges(const Call& call, Visit visit) {
    const auto of_thread = std::ranges::equal_range(ranges_, call.first, {}, &Range::thread);
    auto range = std::upper_bound(of_thread.begin(), of_thread.end(), call.second,
                                  [](std::int64_t time, const Range& next) { return time < next.start; });
    constexpr int max_searched = 200;
    for (int searched = 0; range != of_thread.begin() && searched < max_searched; ++searched) {
      --range;
      if (range->end >= call.second) visit(*range);
    }
  }

  /// Sets the type of operands of the operations that contain a kernel's launch, unless an earlier kernel has
  /// set it. @param type of the kernel's operands
  void set_types(const Call& call, std::string_view type) {
    visit_ranges(call, [&](Range& range) {
      if (range.type.empty()) range.type = type;
    });
    const auto time = call.second;
    const auto next_step =
        std::ranges::upper_bound(optimizer_steps_, time, {}, &std::pair<std::int64_t, std::int64_t>::first);
    if (next_step != optimizer_steps_.begin() && std::prev(next_step)->second >= time)
      ++optimizer_types_[type];
  }

  /// What the trace of PyTorch's profiler says of a collective's kernel: from NCCL's own range, or from the
  /// shapes of PyTorch's operation and the type in the kernel's name ("ncclDevKernel_AllReduce_Sum_bf16").
  void set_collective(const Call& call, std::int64_t process, RawEvent& kernel) {
    kernel.collective = kernel.name.substr(0, kernel.name.find('('));
    if (const auto nccl_call = nccl_.call_at(call)) {
      const auto ranks = nccl_.ranks_of(process, nccl_call->communicator);
      const auto kind = collective_kind(kernel.name);  // NCCL counts a rank's part of these two.
      const bool is_part = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
      kernel.group = fmt::format("{:x}", static_cast<std::uint64_t>(nccl_call->communicator));
      kernel.group_size = ranks;
      kernel.element_type = "Byte";
      const auto factor = is_part ? ranks : 1;
      if (factor > 0 && nccl_call->bytes <= (std::int64_t{1} << 50) / factor)
        kernel.elements = nccl_call->bytes * factor;
      return;
    }
    kernel.element_type = element_type_of(kernel.collective);
    if (kernel.element_type.empty()) return;
    visit_ranges(call, [&](const Range& range) {
      const auto& name = range.text->name;
      const bool is_collective =
          name.starts_with("c10d::") || name.starts_with("nccl:") || name.starts_with("record_param_comms");
      if (is_collective && kernel.elements == 0) kernel.elements = largest_operand(range.text->shapes);
    });
  }

  /// Type of gradients: that of the parameters that most kernels of the optimizer change.
  std::string_view gradient_type() const {
    const auto most =
        std::ranges::max_element(optimizer_types_, {}, [](const auto& entry) { return entry.second; });
    return most == optimizer_types_.end() ? "float" : most->first;
  }

  std::vector<std::int64_t> launches_of(std::int64_t process) const {
    const auto entry = launches_.find(process);
    return entry == launches_.end() ? std::vector<std::int64_t>{} : entry->second;
  }

  /// Steps last from the end of a mark to the end of the next: the program may take its batch between them.
  void steps(const SinkOfProcess& sink_of) const {
    for (const auto process : processes_) {
      std::int64_t number = 0;
      std::optional<std::int64_t> begin;
      for (const auto* mark : step_marks(ranges_, process, launches_of(process))) {
        RawEvent event;
        event.category = "user_annotation";
        event.name = fmt::format("ProfilerStep#{}", ++number);  // As PyTorch's profiler marks steps.
        event.is_complete = true;
        event.start = begin.value_or(mark->start);
        event.duration = std::max<std::int64_t>(0, mark->end - *event.start);
        event.thread = mark->thread;
        begin = mark->end;
        sink_of(process).event(event);
      }
    }
  }

  void ranges(const SinkOfProcess& sink_of) const {
    steps(sink_of);
    std::int64_t id = 0;
    for (const auto& range : ranges_) {
      RawEvent event;
      const auto& [name, shapes, sequence, is_operation] = *range.text;
      event.category = is_operation ? "cpu_op" : "user_annotation";
      event.name = printable(name);
      event.is_complete = true;
      event.start = range.start;
      event.duration = range.end - range.start;
      event.thread = range.thread;
      event.external = ++id;
      event.sequence = sequence;
      event.has_shapes = !shapes.empty();
      event.shapes = shapes;
      const bool is_gradient = name == "torch::autograd::AccumulateGrad";
      event.types = operand_types(shapes, is_gradient          ? gradient_type()
                                          : range.type.empty() ? "float"
                                                               : range.type);
      const auto process = process_of(range.thread);
      if (processes_.contains(process)) sink_of(process).event(event);
    }
  }

  Database database_;
  std::unordered_map<std::int64_t, Name> names_;
  std::deque<NvtxRange> inline_ranges_;  ///< Ranges whose text is not in StringIds.
  std::uintmax_t text_bytes_ = 0;        ///< Total of the names of all events.
  std::vector<Range> ranges_;            ///< Sorted by thread, then by start, outer before inner.
  /// Sorted by start, each with the latest end so far.
  std::vector<std::pair<std::int64_t, std::int64_t>> optimizer_steps_;
  std::unordered_map<std::int64_t, Call> calls_;  ///< By process and correlation.
  std::map<std::string_view, int> optimizer_types_;
  std::set<std::int64_t> processes_;                            ///< That called CUDA.
  std::map<std::int64_t, std::vector<std::int64_t>> launches_;  ///< Times of launches of kernels by process.
  NcclRanges nccl_;
};

}  // namespace

ImportedProfile import_nsys(const std::filesystem::path& file, const std::string& shown,
                            const ImportOptions& options) {
  Export exported{file, shown};
  auto trace = collect_trace(exported.where(), [&](TraceSink& sink) {
    exported.pass_to([&](std::int64_t) -> TraceSink& { return sink; }, true);
  });
  auto imported = import_trace(std::move(trace), "Nsight Systems export", file, shown, options);
  if (!options.precision)
    imported.warnings.emplace_back(
        "NVTX ranges do not contain the types of operands, which are taken from the names of kernels; give "
        "--precision if the precision of the profile is wrong");
  return imported;
}

bool is_nsys_export(const std::filesystem::path& file) {
  constexpr std::string_view magic{"SQLite format 3\0", 16};
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;
  std::array<char, magic.size()> begin{};
  std::ifstream in{file, std::ios::binary};
  in.read(begin.data(), begin.size());
  return std::string_view{begin.data(), begin.size()} == magic;
}

std::vector<Trace> read_nsys(const std::filesystem::path& file, const std::string& shown) {
  Export exported{file, shown};
  auto traces = collect_traces(exported.where(),
                               [&](const SinkOfProcess& sink_of) { exported.pass_to(sink_of, false); });
  std::erase_if(traces, [](const Trace& trace) { return trace.activities.empty(); });
  if (traces.empty())
    refuse_at(exported.where(), "no process of the export ran anything on a GPU", how_to_record);
  for (auto& trace : traces) trace.profiler = Profiler::nsys;
  std::ranges::stable_sort(traces, {}, [](const Trace& trace) { return trace.devices.front(); });
  return traces;
}

}  // namespace gradway
