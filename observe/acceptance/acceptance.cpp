// SPDX-License-Identifier: Apache-2.0
#include "observe/acceptance/acceptance.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/fit/kernels.hpp"
#include "readers/fit/links.hpp"
#include "readers/topology/gpu_name.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/base/rows.hpp"
#include "sim/base/text.hpp"
#include "sim/cost/calibration_words.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace tables {
extern const std::string_view acceptance;
}
namespace {

namespace words = calibration_words;

// Smaller ones are latency for a large part.
constexpr Bytes large_transfer = 64_MiB;
constexpr Bytes large_traffic = 256_MiB;  // more than caches hold
constexpr double large_product = 2.0 * 4096 * 4096 * 4096;

template <class Words, class Enum>
std::string_view word(const Words& table, Enum value) {
  return table[static_cast<std::size_t>(value)];
}

/// Measurements that are judged together: one operation, precision, GPU or pair of GPUs.
struct Subject {
  std::vector<double> shares;  ///< of the expected speed
  double largest = 0;          ///< amount of the row that is shown
  std::string measured;
  std::string expected;
};

class Judge {
 public:
  Judge(const Samples& samples, const DiagnosisBasis& basis, const AcceptanceTable& table)
      : samples_{samples}, basis_{basis}, table_{table}, expectations_{basis} {}

  Acceptance judge() {
    Acceptance acceptance;
    acceptance.platform = basis_.platform_name;
    acceptance.remarks = samples_.remarks;
    if (!samples_.nodes.empty()) describe(samples_.nodes.front(), acceptance);
    add_products();
    add_memory();
    add_copies();
    add_collectives();
    add_launches();
    add_load();
    for (const auto& limit : table_.limits) acceptance.checks.push_back(checked(limit));
    add_demands(acceptance);
    return acceptance;
  }

 private:
  /// @param amount that one second of work is counted in: bytes or operations
  void add(const std::string& check, const std::string& component, double amount, Seconds measured,
           std::optional<Seconds> expected, std::string_view unit, double scale) {
    if (!expected || *expected <= Seconds{} || measured <= Seconds{}) return;
    auto& subject = subjects_[check][component];
    subject.shares.push_back(*expected / measured);
    if (amount < subject.largest) return;
    subject.largest = amount;
    subject.measured = fmt::format("{:.4g} {}", amount / measured.value() / scale, unit);
    subject.expected = fmt::format("{:.4g} {}", amount / expected->value() / scale, unit);
  }

  void describe(const NodeRow& node, Acceptance& acceptance) {
    std::map<std::string, int> names;
    for (const auto& gpu : node.gpus) ++names[gpu.name];
    std::vector<std::string> parts;
    for (const auto& [name, count] : names) parts.push_back(fmt::format("{} x {}", count, name));
    if (!node.driver.empty()) parts.push_back("driver " + node.driver);
    if (!node.nccl.empty()) parts.push_back("NCCL " + node.nccl);
    acceptance.node = fmt::format("{}", fmt::join(parts, ", "));
    acceptance.date = node.date;
    const auto& platform = basis_.platform;
    if (node.gpus.empty() || platform.gpu_models.empty()) return;
    const auto per_node = platform.gpus.size() / static_cast<std::size_t>(std::max(1, platform.nodes));
    const auto alike = std::ranges::count_if(node.gpus, [&](const NodeGpu& gpu) {
      return gpu_file_name(gpu.name) == platform.gpu_models.front().name &&
             gpu.nvlinks == node.gpus.front().nvlinks;
    });
    auto& subject = subjects_["gpus"]["GPUs"];
    subject.shares = {std::min(1.0, static_cast<double>(alike) / static_cast<double>(per_node))};
    subject.measured = fmt::format("{}", alike);
    subject.expected = fmt::format("{} {}", per_node, platform.gpu_models.front().name);
  }

  void add_products() {
    const auto& gpu = basis_.platform.gpu_models.front();
    for (const auto& row : samples_.matrix) {
      if (row.work().value() < large_product) continue;
      auto expected = time_of(basis_.calibration.kernels, row);
      const auto precision = row.arithmetic == Arithmetic::fp32   ? Precision::fp32
                             : row.arithmetic == Arithmetic::tf32 ? Precision::tf32
                             : row.arithmetic == Arithmetic::bf16 ? Precision::bf16
                             : row.arithmetic == Arithmetic::fp16 ? Precision::fp16
                                                                  : Precision::fp8;
      const auto which = static_cast<std::size_t>(precision);
      if (!expected && gpu.peak[which])
        expected = row.work() / (*gpu.peak[which] * gpu.matrix_efficiency[which]);
      add("products", fmt::format("{} products", word(words::arithmetics, row.arithmetic)),
          row.work().value(), row.time, expected, "TFLOP/s", 1e12);
    }
  }

  void add_memory() {
    const auto& gpu = basis_.platform.gpu_models.front();
    for (const auto& row : samples_.memory) {
      if (row.traffic < large_traffic) continue;
      auto expected = time_of(basis_.calibration.kernels, row);
      if (!expected) expected = row.traffic / (gpu.memory_bandwidth * gpu.memory_efficiency);
      add("memory", std::string{word(words::memory_kernels, row.kernel)}, row.traffic.value(), row.time,
          expected, "GB/s", 1e9);
    }
  }

  /// Rate of the first link of this kind at the first GPU.
  std::optional<BytesPerSecond> nominal_rate(bool is_peer) const {
    const auto& platform = basis_.platform;
    double rate = 0;
    for (const auto& link : platform.links) {
      const bool is_right = is_peer ? joins_gpus(link.kind) : link.kind == LinkKind::pcie;
      if (!platform.gpus.empty() && link.to == platform.gpus.front() && is_right)
        rate = std::max(rate, platform.resources[link.resource.index()].rate());
    }
    return rate > 0 ? std::optional{BytesPerSecond{rate}} : std::nullopt;
  }

  void add_copies() {
    for (const auto& row : samples_.copies) {
      const bool is_peer = row.role == LinkRole::peer;
      if (row.size < large_transfer ||
          (!is_peer && row.role != LinkRole::to_gpu && row.role != LinkRole::from_gpu))
        continue;
      std::optional<Seconds> expected;
      if (const auto* const link = link_of(basis_.calibration.links, row.role); link != nullptr) {
        expected = copy_time(*link, row.size);
      } else if (const auto rate = nominal_rate(is_peer)) {
        expected = row.size / *rate;
      }
      const auto ends =
          fmt::format("{}{}", word(words::links, row.role),
                      row.gpus.empty() ? "" : fmt::format(", GPU {}", fmt::join(row.gpus, " to ")));
      add(is_peer ? "peers" : "copies", ends, row.size.value(), row.time, expected, "GB/s", 1e9);
      auto& best = is_peer ? peer_ : row.role == LinkRole::to_gpu ? to_gpu_ : from_gpu_;
      const auto rate = (row.size / row.time).value();
      best[ends] = std::max(best[ends], rate);
    }
  }

  void add_collectives() {
    for (const auto& row : samples_.collectives) {
      if (row.size < large_transfer || row.transport != expectations_.transport(row.ranks) || row.algorithm ||
          row.nodes > 1)
        continue;
      JobCollective collective;
      collective.kind = row.kind;
      collective.bytes = row.size.value();
      collective.ranks = row.ranks;
      const auto expected = expectations_.time(collective);
      const auto factor = bus_factor(row.kind, row.ranks);
      add("collectives", fmt::format("{} on {} ranks", word(words::operations, row.kind), row.ranks),
          factor * row.size.value(), row.time,
          expected ? std::optional{from_nanoseconds(*expected)} : std::nullopt, "GB/s", 1e9);
      if (row.kind == CollectiveKind::all_reduce && row.ranks >= all_reduce_ranks_) {
        if (row.ranks > all_reduce_ranks_) all_reduce_ = 0;
        all_reduce_ranks_ = row.ranks;
        all_reduce_ = std::max(all_reduce_, factor * (row.size / row.time).value());
      }
    }
  }

  void add_launches() {
    const auto which = static_cast<std::size_t>(LaunchCost::launch);
    const auto& launches = basis_.calibration.kernels.launches;
    const auto expected = std::ranges::find(launches, LaunchCost::launch, &LaunchTime::what);
    if (expected == launches.end()) return;
    for (const auto time : samples_.launches[which])
      add("launches", "launches by the CPU", 1, time, expected->time, "M/s", 1e6);
  }

  /// GPUs that run the same product at the same time, and what slowed them.
  void add_load() {
    std::vector<double> clocks;
    std::vector<double> times;
    for (const auto& row : samples_.loads) {
      clocks.push_back(row.clock);
      times.push_back(row.time.value());
    }
    for (const auto& row : samples_.loads) {
      const auto gpu = fmt::format("GPU {}, {:.0f} C, {:.0f} W", row.gpu, row.celsius, row.watts);
      add("clocks", gpu, row.clock, Seconds{1}, Seconds{row.clock / median(clocks)}, "MHz", 1e6);
      add("equal_gpus", gpu, 1, row.time, Seconds{median(times)}, "products/s", 1);
    }
    constexpr std::string_view faults[] = {"temperature", "hardware slow-down", "power brake"};
    auto& subject = subjects_["heat"]["no slow-down by heat or power supply"];
    subject.shares = {1};
    for (const auto& remark : samples_.remarks) {
      if (!contains(remark, "slowed by") ||
          std::ranges::none_of(faults, [&](auto fault) { return contains(remark, fault); }))
        continue;
      subject.shares.push_back(0);
      subject.measured = remark;
    }
    if (samples_.nodes.empty()) subjects_.erase("heat");  // Only the probe looks for slow-downs.
  }

  AcceptanceCheck checked(const AcceptanceLimit& limit) const {
    AcceptanceCheck check{.name = limit.name, .least = limit.least, .source = limit.source};
    check.advice = limit.advice;
    const auto subjects = subjects_.find(limit.name);
    if (subjects == subjects_.end()) {
      check.verdict = limit.is_required && is_needed(limit.name) ? AcceptanceVerdict::fail
                                                                 : AcceptanceVerdict::unmeasured;
      check.part = "not measured";
      return check;
    }
    check.share = std::numeric_limits<double>::infinity();  // The slowest part counts.
    for (const auto& [part, subject] : subjects->second) {
      const auto share = limit.name == "heat" ? std::ranges::min(subject.shares) : median(subject.shares);
      if (share >= check.share) continue;
      check.share = share;
      check.part = part;
      check.measured = subject.measured;
      check.expected = subject.expected;
    }
    check.verdict = check.share >= limit.least ? AcceptanceVerdict::pass : AcceptanceVerdict::fail;
    return check;
  }

  /// One GPU has no collectives.
  bool is_needed(std::string_view name) const {
    return name != "collectives" || samples_.nodes.empty() || samples_.nodes.front().gpus.size() > 1;
  }

  void add_demands(Acceptance& acceptance) const {
    const auto slowest = [](const std::map<std::string, double>& rates) {
      double least = 0;
      for (const auto& [part, rate] : rates) least = least > 0 ? std::min(least, rate) : rate;
      return least;
    };
    const auto host = std::min(slowest(to_gpu_), slowest(from_gpu_));
    for (const auto& demand : table_.demands) {
      if (demand.platform != basis_.platform_name) continue;
      const auto demanded = [&](std::string_view part, double most, double rate, std::string_view name) {
        if (most <= 0) return;
        AcceptanceCheck check{.name = "demanded", .part = std::string{part}, .least = 1};
        check.expected = fmt::format("{:.4g} GB/s", most);
        check.source = demand.source;
        const auto limit = std::ranges::find(table_.limits, name, &AcceptanceLimit::name);
        if (limit != table_.limits.end()) check.advice = limit->advice;
        if (rate > 0) {
          check.measured = fmt::format("{:.4g} GB/s", rate / 1e9);
          check.share = rate / 1e9 / most;
          check.verdict = check.share >= 1 ? AcceptanceVerdict::pass : AcceptanceVerdict::fail;
        }
        acceptance.checks.push_back(std::move(check));
      };
      const auto gpus = samples_.nodes.empty() ? 0 : static_cast<int>(samples_.nodes.front().gpus.size());
      demanded(fmt::format("all_reduce on {} ranks", all_reduce_ranks_), demand.all_reduce,
               all_reduce_ranks_ == gpus ? all_reduce_ : 0, "collectives");
      demanded("copies between host and GPU", demand.to_gpu, host, "copies");
      demanded("copies between GPUs", demand.peer, slowest(peer_), "peers");
      for (const auto& [operation, most] :
           {std::pair{"host memory", demand.host_memory}, std::pair{"disk write", demand.disk_write},
            std::pair{"disk read", demand.disk_read}}) {
        double rate = 0;
        for (const auto& row : samples_.host)
          if (row.operation == operation) rate = (row.bytes / row.time).value();
        demanded(operation, most, rate, "host");
      }
    }
  }

  const Samples& samples_;
  const DiagnosisBasis& basis_;
  const AcceptanceTable& table_;
  CollectiveExpectations expectations_;
  std::map<std::string, std::map<std::string, Subject>> subjects_;  ///< by check and part
  std::map<std::string, double> to_gpu_;                            ///< best rates, by GPU
  std::map<std::string, double> from_gpu_;
  std::map<std::string, double> peer_;
  int all_reduce_ranks_ = 0;
  double all_reduce_ = 0;  ///< bus bandwidth of the fastest one of all GPUs
};

std::optional<AcceptanceLimit> limit_of(const TextRow& row) {
  if (row.kind != "limit" || row.words.size() != 1) return std::nullopt;
  const auto least = leading_number(row.value("least"));
  if (!least) return std::nullopt;
  return AcceptanceLimit{std::string{row.word(0)}, row.real("least", 0), row.value("required") == "yes",
                         std::string{row.value("why")}, std::string{row.value("try")}};
}

std::optional<AcceptanceDemand> demand_of(const TextRow& row) {
  if (row.kind != "demand" || row.words.size() != 1) return std::nullopt;
  AcceptanceDemand demand{.platform = std::string{row.word(0)}, .source = std::string{row.value("by")}};
  for (const auto& [name, rate] :
       {std::pair{"all_reduce", &demand.all_reduce}, std::pair{"to_gpu", &demand.to_gpu},
        std::pair{"peer", &demand.peer}, std::pair{"host_memory", &demand.host_memory},
        std::pair{"disk_write", &demand.disk_write}, std::pair{"disk_read", &demand.disk_read}}) {
    if (row.value(name).empty()) continue;
    if (!leading_number(row.value(name))) return std::nullopt;
    *rate = row.real(name, 0);
  }
  return demand;
}

template <class Row>
void replace(std::vector<Row>& rows, Row row, std::string Row::*name) {
  const auto same = std::ranges::find(rows, row.*name, name);
  if (same == rows.end()) {
    rows.push_back(std::move(row));
  } else {
    *same = std::move(row);
  }
}

}  // namespace

AcceptanceTable acceptance_table(const std::string& own, const std::string& file) {
  AcceptanceTable table;
  for (const auto& row : rows_in(tables::acceptance)) {
    if (auto limit = limit_of(row)) table.limits.push_back(std::move(*limit));
    if (auto demand = demand_of(row)) table.demands.push_back(std::move(*demand));
  }
  for (const auto& [line, offset, number] : lines_of(own)) {
    const bool has_open_quote = std::ranges::count(line, '"') % 2 != 0;
    const auto rows = has_open_quote ? std::vector<TextRow>{} : rows_in(line);
    if (rows.empty() && !has_open_quote) continue;
    auto limit = has_open_quote ? std::nullopt : limit_of(rows.front());
    auto demand = has_open_quote ? std::nullopt : demand_of(rows.front());
    const bool is_known =
        demand || (limit && std::ranges::any_of(table.limits, [&](const AcceptanceLimit& known) {
                     return known.name == limit->name;
                   }));
    if (!is_known)
      refuse_at(place_in({line, offset, number}, file, offset, line.size()), "this is no row of thresholds",
                "write 'limit NAME least=SHARE' with the name of a check, or 'demand PLATFORM "
                "all_reduce=GB/s'");
    if (limit) replace(table.limits, std::move(*limit), &AcceptanceLimit::name);
    if (demand) replace(table.demands, std::move(*demand), &AcceptanceDemand::platform);
  }
  return table;
}

bool Acceptance::passes() const {
  return std::ranges::none_of(
      checks, [](const AcceptanceCheck& check) { return check.verdict == AcceptanceVerdict::fail; });
}

Acceptance accept(const Samples& samples, const DiagnosisBasis& basis, const AcceptanceTable& table) {
  return Judge{samples, basis, table}.judge();
}

}  // namespace gradway
