// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nsys/nsys.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"
#include "sim/import/kineto/read_trace.hpp"
#include "sim/import/nsys/database.hpp"
#include "sim/import/nsys/device_limits.hpp"
#include "sim/import/nsys/nvtx_range.hpp"

namespace gradway {
namespace {

constexpr auto how_to_record =
    "record with 'nsys profile --trace=cuda,nvtx', then 'nsys export --type sqlite'";
constexpr auto ranges_hint =
    "run the steps inside 'with torch.autograd.profiler.emit_nvtx(record_shapes=True):' under "
    "'nsys profile --trace=cuda,nvtx'";

struct Range : NvtxRange {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t thread = 0;
  std::string_view type{};  ///< of its operands; empty: no kernel tells
};

/// "cudaLaunchKernel" of "cudaLaunchKernel_v7000".
std::string without_version(std::string name) {
  const auto at = name.rfind("_v");
  const bool has_version =
      at != std::string::npos && name.find_first_not_of("0123456789", at + 2) == std::string::npos;
  return has_version ? name.substr(0, at) : name;
}

class Export {
 public:
  Export(const std::filesystem::path& file, const std::string& shown) : database_{file, shown} {
    need("StringIds", {"id", "value"}, how_to_record);
    need("CUPTI_ACTIVITY_KIND_KERNEL",
         {"start", "end", "deviceId", "streamId", "correlationId", "demangledName", "gridX", "gridY", "gridZ",
          "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"},
         how_to_record);
    need("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"},
         how_to_record);
    need("NVTX_EVENTS", {"start", "end", "eventType", "text", "textId", "globalTid"}, ranges_hint);
  }

  Where where() const { return database_.where(); }

  void hand_to(TraceSink& sink) {
    device(sink);
    read_ranges();
    calls(sink);
    kernels(sink);
    copies(sink);
    memsets(sink);
    ranges(sink);
  }

 private:
  void need(const std::string& table, std::initializer_list<const char*> columns, const std::string& hint) {
    const auto there = database_.columns(table);
    if (there.empty()) refuse_at(where(), fmt::format("the export has no table '{}'", table), hint);
    for (const auto* column : columns) {
      if (!there.contains(column))
        refuse_at(where(), fmt::format("table '{}' has no column '{}'", table, column),
                  "gradway reads what Nsight Systems of 2021 and later exports");
    }
  }

  /// A row that lasts from its column 0 to its column 1, in nanoseconds.
  void tell_times(const Rows& rows, RawEvent& event) const {
    event.is_complete = true;
    const auto start = rows.whole(0);
    const auto end = rows.whole(1);
    constexpr std::int64_t longest = 86'400'000'000'000;  // a day
    if (!start || *start < 0) {
      event.wrong_time = WrongTime{"start", start ? std::to_string(*start) : "", where()};
    } else if (!end || *end < *start || *end - *start > longest) {
      event.wrong_time = WrongTime{"end", end ? std::to_string(*end) : "", where()};
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

  /// Ranges that are pushed and popped; one that was open at the end has none, and is left out.
  void read_ranges() {
    constexpr int push_pop = 59;  // NvtxPushPopRange
    auto rows = database_.rows(fmt::format(
        "SELECT e.start, e.end, e.globalTid, coalesce(e.text, s.value) FROM NVTX_EVENTS e LEFT JOIN "
        "StringIds s "
        "ON s.id = e.textId WHERE e.eventType = {} AND e.end IS NOT NULL ORDER BY e.start, e.end DESC",
        push_pop));
    bool has_shapes = false;
    while (rows.next()) {
      const auto start = rows.whole(0);
      const auto end = rows.whole(1);
      if (!start || !end || *end < *start)
        refuse_at(where(), "a range of NVTX ends before it begins", how_to_record);
      ranges_.push_back({nvtx_range(rows.text(3)), *start, *end, rows.whole(2).value_or(0)});
      has_shapes = has_shapes || !ranges_.back().shapes.empty();
      if (ranges_.back().name.starts_with("Optimizer.step#")) optimizer_steps_.push_back(ranges_.back());
    }
    if (!has_shapes)
      refuse_at(where(), "no NVTX range tells an operation of PyTorch and its shapes", ranges_hint);
    std::ranges::stable_sort(ranges_, {}, &Range::thread);
  }

  void calls(TraceSink& sink) {
    auto rows = database_.rows(
        "SELECT r.start, r.end, r.globalTid, r.correlationId, s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r "
        "LEFT JOIN StringIds s ON s.id = r.nameId ORDER BY r.start");
    while (rows.next()) {
      RawEvent event;
      event.category = "cuda_runtime";
      event.name = printable(without_version(rows.text(4)));
      tell_times(rows, event);
      event.thread = rows.whole(2).value_or(0);
      // Nsight Systems: 24 bits of the thread, 24 of its process.
      event.process = (event.thread >> 24) & 0xffffff;
      event.correlation = rows.whole(3).value_or(0);
      if (event.start) calls_.emplace(event.correlation, std::pair{event.thread, *event.start});
      sink.event(event);
    }
  }

  void activity(const Rows& rows, RawEvent& event, TraceSink& sink) {
    tell_times(rows, event);
    event.device = rows.whole(2).value_or(0);
    event.stream = rows.whole(3).value_or(0);
    event.correlation = rows.whole(4).value_or(0);
    sink.event(event);
  }

  void kernels(TraceSink& sink) {
    auto rows = database_.rows(
        "SELECT k.start, k.end, k.deviceId, k.streamId, k.correlationId, s.value, k.gridX, k.gridY, k.gridZ, "
        "k.blockX, k.blockY, k.blockZ, k.registersPerThread, k.staticSharedMemory, k.dynamicSharedMemory "
        "FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON s.id = k.demangledName ORDER BY k.start");
    const auto product = [&](int first) {
      std::int64_t result = 1;
      for (int i = first; i < first + 3; ++i)
        result *= std::clamp<std::int64_t>(rows.whole(i).value_or(0), 0, 1 << 20);
      return result;
    };
    while (rows.next()) {
      RawEvent event;
      event.category = "kernel";
      event.name = printable(rows.text(5));
      event.blocks = std::min(product(6), std::int64_t{1} << 40);
      event.threads = product(9);
      event.registers = rows.whole(12).value_or(0);
      for (const int column : {13, 14})
        event.shared += std::clamp<std::int64_t>(rows.whole(column).value_or(0), 0, 1 << 24);
      activity(rows, event, sink);
      tell_type(event);
    }
  }

  void copies(TraceSink& sink) {
    if (!has("CUPTI_ACTIVITY_KIND_MEMCPY", {"deviceId", "streamId", "correlationId", "bytes", "copyKind"}))
      return;
    auto rows = database_.rows(
        "SELECT start, end, deviceId, streamId, correlationId, bytes, copyKind FROM "
        "CUPTI_ACTIVITY_KIND_MEMCPY "
        "ORDER BY start");
    while (rows.next()) {
      RawEvent event;
      event.category = "gpu_memcpy";
      event.name = fmt::format("Memcpy {}", copy_kind(rows.whole(6).value_or(0)));
      event.bytes = rows.whole(5).value_or(0);
      activity(rows, event, sink);
    }
  }

  void memsets(TraceSink& sink) {
    if (!has("CUPTI_ACTIVITY_KIND_MEMSET", {"deviceId", "streamId", "correlationId", "bytes"})) return;
    auto rows = database_.rows(
        "SELECT start, end, deviceId, streamId, correlationId, bytes FROM CUPTI_ACTIVITY_KIND_MEMSET ORDER "
        "BY start");
    while (rows.next()) {
      RawEvent event;
      event.category = "gpu_memset";
      event.name = "Memset (Device)";
      event.bytes = rows.whole(5).value_or(0);
      activity(rows, event, sink);
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

  /// The operations around a kernel's launch have operands of its type, unless an earlier kernel says
  /// otherwise.
  void tell_type(const RawEvent& kernel) {
    const auto call = calls_.find(kernel.correlation);
    if (call == calls_.end()) return;
    const auto [thread, time] = call->second;
    const auto of_thread = std::ranges::equal_range(ranges_, thread, {}, &Range::thread);
    auto range = std::ranges::upper_bound(of_thread, time, {}, &Range::start);
    constexpr int deep_enough = 200;
    for (int looked = 0; range != of_thread.begin() && looked < deep_enough; ++looked) {
      --range;
      if (range->end < time) continue;
      if (range->type.empty()) range->type = operand_type(kernel.name);
    }
    const auto holds = [&](const Range& step) { return step.start <= time && time <= step.end; };
    if (std::ranges::any_of(optimizer_steps_, holds)) ++optimizer_types_[operand_type(kernel.name)];
  }

  /// Gradients have the type of the parameters that most kernels of the optimizer change.
  std::string_view gradient_type() const {
    const auto most =
        std::ranges::max_element(optimizer_types_, {}, [](const auto& one) { return one.second; });
    return most == optimizer_types_.end() ? "float" : most->first;
  }

  void ranges(TraceSink& sink) const {
    std::int64_t id = 0;
    for (const auto& range : ranges_) {
      RawEvent event;
      event.category = range.is_operation ? "cpu_op" : "user_annotation";
      event.name = printable(range.name);
      event.is_complete = true;
      event.start = range.start;
      event.duration = range.end - range.start;
      event.thread = range.thread;
      event.external = ++id;
      event.sequence = range.sequence;
      event.has_shapes = !range.shapes.empty();
      event.shapes = range.shapes;
      const bool is_gradient = range.name == "torch::autograd::AccumulateGrad";
      event.types = operand_types(range.shapes, is_gradient          ? gradient_type()
                                                : range.type.empty() ? "float"
                                                                     : range.type);
      sink.event(event);
    }
  }

  Database database_;
  std::vector<Range> ranges_;  ///< by thread, then by start; the outer one first
  std::vector<Range> optimizer_steps_;
  std::unordered_map<std::int64_t, std::pair<std::int64_t, std::int64_t>> calls_;  ///< thread and start
  std::map<std::string_view, int> optimizer_types_;
};

}  // namespace

ImportedProfile import_nsys(const std::filesystem::path& file, const std::string& shown,
                            const ImportOptions& options) {
  Export exported{file, shown};
  auto trace = collect_trace(exported.where(), [&](TraceSink& sink) { exported.hand_to(sink); });
  auto imported = import_trace(std::move(trace), "Nsight Systems export", file, shown, options);
  if (!options.precision)
    imported.warnings.emplace_back(
        "ranges of NVTX do not tell types of operands: they are taken from the names of kernels; give "
        "--precision "
        "if that of the profile is wrong");
  return imported;
}

}  // namespace gradway
