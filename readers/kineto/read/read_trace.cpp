// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/read_trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <span>

#include <fmt/format.h>

#include "readers/kineto/work/kernel_name.hpp"

namespace gradway {
namespace {

bool contains_any(std::string_view text, std::span<const std::string_view> fragments) {
  return std::ranges::any_of(fragments,
                             [&](auto fragment) { return text.find(fragment) != std::string_view::npos; });
}

bool starts_with_any(std::string_view text, std::span<const std::string_view> starts) {
  return std::ranges::any_of(starts, [&](auto start) { return text.starts_with(start); });
}

/// Reads "[[32,3][][[1,2][3]]]" as shapes of operands: depth 2 is the shape of a tensor, depth 3 that of a
/// tensor in a list.
void read_shapes(std::string_view text, std::vector<Operand>& operands) {
  int depth = 0;
  std::size_t index = 0;
  const auto* position = text.data();
  const auto* const end = position + text.size();
  const auto operand = [&]() -> Operand& {
    if (index >= operands.size()) operands.resize(index + 1);
    return operands[index];
  };
  while (position != end) {
    if (*position == '[') {
      ++depth;
      if (depth >= 2) static_cast<void>(operand());
      if (depth == 3) operand().shapes.emplace_back();
      ++position;
    } else if (*position == ']') {
      if (depth == 2) ++index;
      --depth;
      ++position;
    } else if (*position == ',') {
      ++position;
    } else {
      std::int64_t size = 0;
      position = std::from_chars(position, end, size).ptr;
      if (depth == 2 && operand().shapes.empty()) operand().shapes.emplace_back();
      if (depth >= 2) operand().shapes.back().push_back(size);
    }
  }
}

/// The number, or zero if it is negative or larger than is plausible.
template <class Number>
Number plausible_or_zero(std::int64_t value, Number most) {
  return value >= 0 && value <= static_cast<std::int64_t>(most) ? static_cast<Number>(value) : Number{};
}

/// A category of events, and what an event of it is called in messages.
struct Category {
  enum class Is { operation, call, kernel, copy, memset, overhead, annotation, instant };
  std::string_view name;
  Is is;
  std::string_view noun;
};
constexpr std::array categories{Category{"cpu_op", Category::Is::operation, "operation"},
                                Category{"cuda_runtime", Category::Is::call, "call"},
                                Category{"cuda_driver", Category::Is::call, "call"},
                                Category{"kernel", Category::Is::kernel, "kernel"},
                                Category{"gpu_memcpy", Category::Is::copy, "copy"},
                                Category{"gpu_memset", Category::Is::memset, "memset"},
                                Category{"overhead", Category::Is::overhead, "overhead"},
                                Category{"user_annotation", Category::Is::annotation, "annotation"},
                                Category{"cpu_instant_event", Category::Is::instant, "event"}};

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const auto end = text.find('\n');
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return result;
}

Signature signature_of(const RawEvent& event, bool with_values) {
  Signature signature{.name = event.name, .operands = {}, .values = {}};
  read_shapes(event.shapes, signature.operands);
  const auto types = lines(event.types);
  if (types.size() > signature.operands.size()) signature.operands.resize(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) signature.operands[i].type = types[i];
  if (with_values) signature.values = lines(event.values);
  return signature;
}

class Collector final : public TraceSink {
 public:
  /// @param file names the trace in messages
  explicit Collector(Where file, bool may_be_cut = false) : file_{std::move(file)}, may_be_cut_{may_be_cut} {}

  Trace take() { return std::move(trace_); }

  void device(const RawDevice& device) override {
    constexpr int most = 1 << 24;
    trace_.limits.push_back(
        {.id = device.id,
         .name = device.name,
         .capability = 10 * plausible_or_zero(device.major, 99) + plausible_or_zero(device.minor, 9),
         .threads = plausible_or_zero(device.threads, most),
         .registers = plausible_or_zero(device.registers, most),
         .shared = plausible_or_zero(device.shared, most)});
  }

  void job(std::int64_t rank, std::int64_t ranks) override {
    trace_.rank = rank;
    trace_.ranks = ranks;
  }

  bool cut(const Where& where) override {
    trace_.cut = where;
    return may_be_cut_;
  }

  void event(const RawEvent& event) override {
    const auto* const category = std::ranges::find(categories, event.category, &Category::name);
    if (category == categories.end()) return;
    if (category->is == Category::Is::instant && !is_allocation(event)) return;
    check_times(event, *category);
    switch (category->is) {
      case Category::Is::operation:
        return operation(event);
      case Category::Is::call:
        return call(event);
      case Category::Is::kernel:
        return activity(event, TracedActivity::Kind::kernel);
      case Category::Is::copy:
        return activity(event, TracedActivity::Kind::copy);
      case Category::Is::memset:
        return activity(event, TracedActivity::Kind::memset);
      case Category::Is::overhead:
        return trace_.overheads.push_back(span(event));
      case Category::Is::annotation:
        return annotation(event);
      case Category::Is::instant:
        return trace_.allocations.push_back({*event.start, event.thread, event.address, event.allocated});
    }
  }

 private:
  /// An allocation on a GPU (1 in PyTorch's c10::DeviceType).
  static bool is_allocation(const RawEvent& event) {
    constexpr std::int64_t cuda = 1;
    return event.name == "[memory]" && event.device_type == cuda;
  }

  static Span span(const RawEvent& event) { return {*event.start, *event.duration}; }

  /// Invalid times are errors: without the event the step would silently become shorter.
  void check_times(const RawEvent& event, const Category& category) {
    const auto fail = [&](Where where, const std::string& message) {
      throw ConfigError{Problem{std::move(where), message, {}, "copy the trace again, or record it again"}};
    };
    const auto text = [&] { return fmt::format("the {} '{}'", category.noun, event.name); };
    const auto event_place = [&] {
      auto where = file_;
      where.line = event.at.line;
      where.column = event.at.column;
      return where;
    };
    if (const auto& wrong = event.invalid_time) {
      fail(wrong->where,
           wrong->value.empty()
               ? fmt::format("the '{}' of {} is not a number", wrong->key, text())
               : fmt::format("the '{}' of {} is not a valid time: '{}'", wrong->key, text(), wrong->value));
    }
    const bool lasts = category.is != Category::Is::instant;
    if (lasts && !event.is_complete)
      fail(event_place(), fmt::format("{} is not complete: its 'ph' is not 'X'", text()));
    if (!event.start) fail(event_place(), fmt::format("{} has no 'ts'", text()));
    if (lasts && !event.duration) fail(event_place(), fmt::format("{} has no 'dur'", text()));
    constexpr std::int64_t day = 86'400'000'000'000;
    if (!first_start_) first_start_ = event.start;
    if (std::abs(*event.start - *first_start_) > day)
      fail(event_place(), fmt::format("{} begins more than a day from the first event", text()));
  }

  void operation(const RawEvent& event) {
    trace_.has_shapes = trace_.has_shapes || event.has_shapes;
    notice_distributed(event.name);
    // Named in dynamo_timed() of torch/_dynamo/utils.py.
    if (event.name.ends_with("(dynamo_timed)"))
      trace_.parts.push_back({span(event), event.thread, event.name});
    trace_.operations.push_back(
        {span(event), event.external, event.thread, signature_id(event), event.sequence});
  }

  std::uint32_t signature_id(const RawEvent& event) {
    // Values of arguments matter for the work of convolutions and attention, and for the shapes of the
    // results of the others.
    static constexpr std::array<std::string_view, 26> with_values{
        "conv",    "attention", "pool",   "view",     "as_strided",    "softmax",      "::mean",
        "::sum",   "::amax",    "::amin", "::var",    "::std",         "::cat",        "stack",
        "::empty", "::zeros",   "::ones", "::full",   "::rand",        "index_select", "_reshape_alias",
        "::topk",  "::sort",    "::glu",  "upsample", "::constant_pad"};
    const bool values = contains_any(event.name, with_values);
    key_.assign(event.name).append(1, '\0').append(event.shapes).append(event.types);
    if (values) key_.append(event.values);
    const auto [entry, is_new] =
        signatures_.emplace(key_, static_cast<std::uint32_t>(trace_.signatures.size()));
    if (is_new) trace_.signatures.push_back(signature_of(event, values));
    return entry->second;
  }

  void call(const RawEvent& event) {
    static constexpr std::array<std::string_view, 4> kept{"Launch", "Memcpy", "Memset", "Synchronize"};
    add_once(trace_.processes, event.process);
    static constexpr std::array<std::string_view, 8> ignored{
        "StreamWaitEvent", "Malloc", "Free", "HostAlloc", "MemCreate", "MemMap", "MemUnmap", "LoadData"};
    const bool is_kept = contains_any(event.name, kept);
    if (!is_kept && !contains_any(event.name, ignored)) return;
    auto& calls = is_kept ? trace_.calls : trace_.other_calls;
    calls.push_back({span(event), event.correlation, event.thread, trace_.names.id(event.name)});
  }

  void activity(const RawEvent& event, TracedActivity::Kind kind) {
    add_once(trace_.devices, event.device);
    if (kind == TracedActivity::Kind::kernel && is_collective(event.name))
      notice("the kernel '" + event.name.substr(0, event.name.find('(')) + "'");
    constexpr auto most_elements = std::int64_t{1} << 50;
    TracedActivity activity;
    static_cast<Span&>(activity) = span(event);
    activity.correlation = event.correlation;
    activity.external = event.external;
    activity.stream = event.stream;
    activity.bytes = plausible_or_zero(event.bytes, std::int64_t{1} << 50);
    activity.blocks = event.blocks;
    activity.name = trace_.names.id(event.name);
    activity.threads = plausible_or_zero(event.threads, 1 << 16);
    activity.registers = plausible_or_zero(event.registers, 1 << 16);
    activity.shared = plausible_or_zero(event.shared, 1 << 24);
    activity.at = event.at;
    activity.kind = kind;
    trace_.activities.push_back(activity);
    if (event.collective.empty()) return;
    trace_.collectives.push_back({.correlation = event.correlation,
                                  .name = trace_.names.id(event.collective),
                                  .element_type = trace_.names.id(event.element_type),
                                  .group = trace_.names.id(event.group),
                                  .members = trace_.names.id(event.group_members),
                                  .elements = std::max(plausible_or_zero(event.elements, most_elements),
                                                       plausible_or_zero(event.elements_out, most_elements)),
                                  .ranks = plausible_or_zero(event.group_size, 1 << 24)});
  }

  void annotation(const RawEvent& event) {
    notice_distributed(event.name);
    // Named in _fully_shard/_fsdp_state.py and _runtime_utils.py of torch/distributed/fsdp.
    const bool is_of_fsdp1 =
        event.name.starts_with("FullyShardedDataParallel.") && !event.name.ends_with(".forward");
    if (is_of_fsdp1 || event.name.starts_with("FSDP::"))
      trace_.hooks.push_back({span(event), event.thread, event.name});
    if (event.name.starts_with("Optimizer.step#"))
      trace_.optimizer_steps.push_back({span(event), event.thread, event.name});
    // Named in torch/utils/data/dataloader.py.
    if (event.name.starts_with("enumerate(DataLoader)"))
      trace_.parts.push_back({span(event), event.thread, event.name});
    if (event.name.starts_with("Optimizer.zero_grad#")) trace_.zero_grads.push_back(span(event));
    if (event.name.starts_with("ProfilerStep#"))
      trace_.profiler_steps.push_back({span(event), event.thread, event.name});
  }

  void notice_distributed(const std::string& name) {
    static constexpr std::array<std::string_view, 5> starts{
        "c10d::", "nccl:", "DistributedDataParallel.", "FullyShardedDataParallel.", "torch.distributed.ddp."};
    // Above all that of DDP, whose collectives can be taken out.
    if (name.starts_with("DistributedDataParallel.")) trace_.distributed.clear();
    if (starts_with_any(name, starts)) notice("'" + name + "'");
  }
  void notice(const std::string& evidence) {
    if (trace_.distributed.empty()) trace_.distributed = evidence;
  }

  static void add_once(std::vector<std::int64_t>& seen, std::int64_t id) {
    if (std::ranges::find(seen, id) == seen.end()) seen.push_back(id);
  }

  Where file_;
  bool may_be_cut_ = false;
  Trace trace_;
  std::optional<std::int64_t> first_start_;
  std::unordered_map<std::string, std::uint32_t> signatures_;
  std::string key_;
};

}  // namespace

std::uint32_t TextPool::id(std::string_view text) {
  const auto [entry, is_new] = ids_.emplace(std::string{text}, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(&entry->first);
  return entry->second;
}

Trace read_trace(const std::filesystem::path& file, const std::string& shown, bool may_be_cut) {
  CompressedFile source{file, shown};
  Collector collector{source.whole(), may_be_cut};
  parse_trace(source, collector);
  return collector.take();
}

Trace collect_trace(const Where& file, const std::function<void(TraceSink&)>& read) {
  Collector collector{file};
  read(collector);
  return collector.take();
}

std::vector<Trace> collect_traces(const Where& file, const std::function<void(const SinkOfProcess&)>& read) {
  std::map<std::int64_t, Collector> collectors;
  read([&](std::int64_t process) -> TraceSink& {
    return collectors.try_emplace(process, file).first->second;
  });
  std::vector<Trace> traces;
  for (auto& [process, collector] : collectors) traces.push_back(collector.take());
  return traces;
}

}  // namespace gradway
