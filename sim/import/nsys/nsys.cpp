// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nsys/nsys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"
#include "sim/import/kineto/read/read_trace.hpp"
#include "sim/import/nsys/database.hpp"

namespace gradway {

namespace {

constexpr auto how_to_record =
    "record with 'nsys profile --trace=cuda,nvtx', then 'nsys export --type sqlite'";
constexpr auto ranges_hint =
    "run the steps inside 'with torch.autograd.profiler.emit_nvtx(record_shapes=True):' under "
    "'nsys profile --trace=cuda,nvtx'";

struct Range {
  const NvtxRange* text = nullptr;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t thread = 0;
  std::string_view type{};  ///< Type of its operands; empty if no kernel shows it.
};

/// A name in the table StringIds.
struct Name {
  std::string text;
  std::string_view type{};           ///< Type of the operands of a kernel of this name.
  std::optional<NvtxRange> range{};  ///< Set when a range of this name is read.
};

/// A row that begins with its start and end, in nanoseconds.
struct Row {
  std::optional<std::int64_t> start, end;
};
struct CallRow : Row {
  std::int64_t thread = 0;
  std::int64_t correlation = 0;
  std::optional<std::int64_t> name;
};
struct ActivityRow : Row {
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t correlation = 0;
};
struct KernelRow : ActivityRow {
  std::optional<std::int64_t> name;
  std::int64_t blocks = 0;
  std::int64_t threads = 0;
  std::int64_t registers = 0;
  std::int64_t shared = 0;
};
struct TransferRow : ActivityRow {
  std::int64_t bytes = 0;
  std::int64_t kind = 0;
};

/// Sorts by start. Rows without a start come first, where they are rejected.
template <class Rows>
void sort_by_start(Rows& rows) {
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.start; });
}

/// "cudaLaunchKernel" from "cudaLaunchKernel_v7000".
std::string without_version(std::string name) {
  const auto at = name.rfind("_v");
  const bool has_version =
      at != std::string::npos && name.find_first_not_of("0123456789", at + 2) == std::string::npos;
  return has_version ? name.substr(0, at) : name;
}

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

  void pass_to(TraceSink& sink) {
    device(sink);
    read_names();
    read_ranges();
    calls(sink);
    kernels(sink);
    copies(sink);
    memsets(sink);
    ranges(sink);
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

  void device(TraceSink& sink) const {
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
    const auto found = id ? names_.find(*id) : names_.end();
    if (found == names_.end()) return nullptr;
    count_text(found->second.text);
    return &found->second;
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

  /// Reads push/pop ranges. A range that was open at the end is ignored.
  void read_ranges() {
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
    if (!has_shapes)
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

  void calls(TraceSink& sink) {
    std::vector<CallRow> all;
    auto rows = database_.rows(
        "SELECT start, end, globalTid, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME");
    while (rows.next())
      all.push_back({{rows.whole(0), rows.whole(1)},
                     rows.whole(2).value_or(0),
                     rows.whole(3).value_or(0),
                     rows.whole(4)});
    sort_by_start(all);
    for (const auto& row : all) {
      RawEvent event;
      event.category = "cuda_runtime";
      if (const auto* name = name_of(row.name)) event.name = printable(without_version(name->text));
      set_times(row, event);
      event.thread = row.thread;
      // Nsight Systems uses 24 bits for the thread and 24 for its process.
      event.process = (event.thread >> 24) & 0xffffff;
      event.correlation = row.correlation;
      if (event.start) calls_.emplace(event.correlation, std::pair{event.thread, *event.start});
      sink.event(event);
    }
  }

  /// Reads the columns "start, end, deviceId, streamId, correlationId" at the start of a query.
  static ActivityRow activity_in(const Rows& rows) {
    return {{rows.whole(0), rows.whole(1)},
            rows.whole(2).value_or(0),
            rows.whole(3).value_or(0),
            rows.whole(4).value_or(0)};
  }

  void emit(const ActivityRow& row, RawEvent& event, TraceSink& sink) const {
    set_times(row, event);
    event.device = row.device;
    event.stream = row.stream;
    event.correlation = row.correlation;
    sink.event(event);
  }

  void kernels(TraceSink& sink) {
    auto rows = database_.rows(
        "SELECT start, end, deviceId, streamId, correlationId, demangledName, gridX, gridY, gridZ, blockX, "
        "blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory "
        "FROM CUPTI_ACTIVITY_KIND_KERNEL");
    const auto product = [&](int first) {
      std::int64_t result = 1;
      for (int i = first; i < first + 3; ++i)
        result *= std::clamp<std::int64_t>(rows.whole(i).value_or(0), 0, 1 << 20);
      return result;
    };
    std::vector<KernelRow> all;
    while (rows.next()) {
      KernelRow row{activity_in(rows), rows.whole(5)};
      row.blocks = std::min(product(6), std::int64_t{1} << 40);
      row.threads = product(9);
      row.registers = rows.whole(12).value_or(0);
      for (const int column : {13, 14})
        row.shared += std::clamp<std::int64_t>(rows.whole(column).value_or(0), 0, 1 << 24);
      all.push_back(row);
    }
    sort_by_start(all);
    for (const auto& row : all) {
      RawEvent event;
      event.category = "kernel";
      auto* const name = name_of(row.name);
      if (name != nullptr) event.name = printable(name->text);
      event.blocks = row.blocks;
      event.threads = row.threads;
      event.registers = row.registers;
      event.shared = row.shared;
      emit(row, event, sink);
      if (name != nullptr && name->type.empty()) name->type = operand_type(event.name);
      set_types(event, name == nullptr ? operand_type("") : name->type);
    }
  }

  /// Reads the copies or the memsets.
  std::vector<TransferRow> transfers(const std::string& table, const std::string& more) {
    auto rows = database_.rows(
        fmt::format("SELECT start, end, deviceId, streamId, correlationId, bytes{} FROM {}", more, table));
    std::vector<TransferRow> all;
    while (rows.next())
      all.push_back({activity_in(rows), rows.whole(5).value_or(0),
                     more.empty() ? std::int64_t{0} : rows.whole(6).value_or(0)});
    sort_by_start(all);
    return all;
  }

  void copies(TraceSink& sink) {
    if (!has("CUPTI_ACTIVITY_KIND_MEMCPY", {"deviceId", "streamId", "correlationId", "bytes", "copyKind"}))
      return;
    for (const auto& row : transfers("CUPTI_ACTIVITY_KIND_MEMCPY", ", copyKind")) {
      RawEvent event;
      event.category = "gpu_memcpy";
      event.name = fmt::format("Memcpy {}", copy_kind(row.kind));
      event.bytes = row.bytes;
      emit(row, event, sink);
    }
  }

  void memsets(TraceSink& sink) {
    if (!has("CUPTI_ACTIVITY_KIND_MEMSET", {"deviceId", "streamId", "correlationId", "bytes"})) return;
    for (const auto& row : transfers("CUPTI_ACTIVITY_KIND_MEMSET", "")) {
      RawEvent event;
      event.category = "gpu_memset";
      event.name = "Memset (Device)";
      event.bytes = row.bytes;
      emit(row, event, sink);
    }
  }

  bool has(const std::string& table, std::initializer_list<const char*> columns) const {
    const auto there = database_.columns(table);
    return std::ranges::all_of(columns, [&](const char* column) { return there.contains(column); });
  }

  /// @source CUpti_ActivityMemcpyKind
  static std::string_view copy_kind(std::int64_t kind) {
    constexpr std::array<std::string_view, 11> kinds{"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                     "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
    return kind > 0 && kind < static_cast<std::int64_t>(kinds.size()) ? kinds[static_cast<std::size_t>(kind)]
                                                                      : kinds[0];
  }

  /// Sets the type of operands of the operations that contain a kernel's launch, unless an earlier kernel has
  /// set it. @param type of the kernel's operands
  void set_types(const RawEvent& kernel, std::string_view type) {
    const auto call = calls_.find(kernel.correlation);
    if (call == calls_.end()) return;
    const auto [thread, time] = call->second;
    const auto of_thread = std::ranges::equal_range(ranges_, thread, {}, &Range::thread);
    auto range = std::ranges::upper_bound(of_thread, time, {}, &Range::start);
    constexpr int max_searched = 200;
    for (int searched = 0; range != of_thread.begin() && searched < max_searched; ++searched) {
      --range;
      if (range->end < time) continue;
      if (range->type.empty()) range->type = type;
    }
    const auto next_step =
        std::ranges::upper_bound(optimizer_steps_, time, {}, &std::pair<std::int64_t, std::int64_t>::first);
    if (next_step != optimizer_steps_.begin() && std::prev(next_step)->second >= time)
      ++optimizer_types_[type];
  }

  /// Type of gradients: that of the parameters that most kernels of the optimizer change.
  std::string_view gradient_type() const {
    const auto most =
        std::ranges::max_element(optimizer_types_, {}, [](const auto& one) { return one.second; });
    return most == optimizer_types_.end() ? "float" : most->first;
  }

  void ranges(TraceSink& sink) const {
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
      sink.event(event);
    }
  }

  Database database_;
  std::unordered_map<std::int64_t, Name> names_;
  std::deque<NvtxRange> inline_ranges_;  ///< Ranges whose text is not in StringIds.
  std::uintmax_t text_bytes_ = 0;        ///< Total of the names of all events.
  std::vector<Range> ranges_;            ///< Sorted by thread, then by start, outer before inner.
  /// Sorted by start, each with the latest end so far.
  std::vector<std::pair<std::int64_t, std::int64_t>> optimizer_steps_;
  /// Thread and start by correlation.
  std::unordered_map<std::int64_t, std::pair<std::int64_t, std::int64_t>> calls_;
  std::map<std::string_view, int> optimizer_types_;
};

struct Capability {
  std::int64_t major;
  std::int64_t minor;
  std::int64_t threads;     ///< Per multiprocessor.
  std::int64_t shared_kib;  ///< Shared memory per multiprocessor.
};
constexpr std::array capabilities{Capability{7, 0, 2048, 96},   Capability{7, 5, 1024, 64},
                                  Capability{8, 0, 2048, 164},  Capability{8, 6, 1536, 100},
                                  Capability{8, 9, 1536, 100},  Capability{9, 0, 2048, 228},
                                  Capability{10, 0, 2048, 228}, Capability{12, 0, 1536, 100}};
constexpr std::int64_t registers = 65'536;  // The same for all capabilities.

}  // namespace

ImportedProfile import_nsys(const std::filesystem::path& file, const std::string& shown,
                            const ImportOptions& options) {
  Export exported{file, shown};
  auto trace = collect_trace(exported.where(), [&](TraceSink& sink) { exported.pass_to(sink); });
  auto imported = import_trace(std::move(trace), "Nsight Systems export", file, shown, options);
  if (!options.precision)
    imported.warnings.emplace_back(
        "NVTX ranges do not contain the types of operands, which are taken from the names of kernels; give "
        "--precision if the precision of the profile is wrong");
  return imported;
}

RawDevice limits_of_capability(std::int64_t major, std::int64_t minor) {
  RawDevice device;
  device.major = major;
  device.minor = minor;
  const auto* const found = std::ranges::find_if(
      capabilities, [&](const Capability& one) { return one.major == major && one.minor == minor; });
  if (found == capabilities.end()) return device;
  device.threads = found->threads;
  device.registers = registers;
  device.shared = found->shared_kib * 1024;
  return device;
}

}  // namespace gradway
