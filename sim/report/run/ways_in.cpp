// SPDX-License-Identifier: Apache-2.0
#include "sim/report/run/ways_in.hpp"

#include <cmath>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/scenario/shared_by_loaders.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> limit_names{"cold_read", "requests", "streams", "network",
                                                      "hot_write"};

std::string name_or_kind(const StorageTier& tier) {
  return tier.name.empty() ? std::string{name_of(tier.kind)} : tier.name;
}

std::string limit_in_words(const StageInCopy& copy, const InputSettings& input) {
  const auto cold = name_or_kind(*input.staged_from);
  switch (copy.limit) {
    case StageInLimit::cold_read:
      return fmt::format("bound by what {} delivers", cold);
    case StageInLimit::requests:
      return fmt::format("bound by the requests per second that {} serves", cold);
    case StageInLimit::streams:
      return fmt::format("bound by the latency of {} requests in flight per node", input.copy_streams);
    case StageInLimit::network:
      return "bound by the nodes' network cards";
    case StageInLimit::hot_write:
      break;
  }
  return fmt::format("bound by writing to {}", name_or_kind(*input.storage));
}

std::string count_or_never(const std::optional<double>& epochs) {
  return epochs ? thousands_text(std::llround(*epochs)) : "never";
}

Json way_json(const WayIn& way) {
  return {{"staging_s", way.staging.value()},         {"first_batch_s", way.first_batch.value()},
          {"first_epoch_s", way.first_epoch.value()}, {"later_epoch_s", way.later_epoch.value()},
          {"catching_up_s", way.catching_up.value()}, {"usd_once", way.usd_once},
          {"usd_per_epoch", way.usd_per_epoch},       {"usd_per_s", way.usd_per_s}};
}

Json paying_way_json(const WayIn& way, const WayIn& direct) {
  auto json = way_json(way);
  const auto known = [](const std::optional<double>& epochs) {
    return epochs ? Json(*epochs) : Json(nullptr);
  };
  json["faster_after_epochs"] = known(epochs_until_faster(way, direct));
  json["cheaper_after_epochs"] = known(epochs_until_cheaper(way, direct));
  return json;
}

}  // namespace

std::string staging_in_words(const StageInCopy& copy, const InputSettings& input) {
  return fmt::format("{} from {} to {} in {} at {}, {}", bytes_text(copy.bytes),
                     name_or_kind(*input.staged_from), name_or_kind(*input.storage), span_text(copy.time()),
                     rate_text(copy.rate), limit_in_words(copy, input));
}

void write_ways_in(std::ostream& out, Fields& fields, const WaysIn& ways, const InputSettings& input,
                   const Style& style) {
  const auto& copy = ways.copy;
  fields.add("staging", staging_in_words(copy, input));
  if (input.staged_from->price.is_known() || input.storage->price.is_known())
    fields.add("", fmt::format("{} requests {} USD, egress {} USD, writing {} USD",
                               thousands_text(std::llround(copy.requests)), usd_text(copy.usd_requests),
                               usd_text(copy.usd_egress), usd_text(copy.usd_writes)));
  fields.add(
      "",
      fmt::format("while the job trains all is staged after {}; {} of the first epoch's reads come "
                  "from {}",
                  span_text(ways.staged), percent_text(ways.cold_reads), name_or_kind(*input.staged_from)));
  using enum Table::Align;
  Table table{{{"way in", left},
               {"first batch", right},
               {"end of epoch 1", right},
               {"later epochs", right},
               {"faster after", right},
               {"cheaper after", right}}};
  const auto add = [&](std::string_view words, const WayIn& way, bool is_direct) {
    const auto after = [&](const std::optional<double>& epochs) {
      return is_direct ? std::string{} : count_or_never(epochs);
    };
    table.add({std::string{words}, span_text(way.first_batch), span_text(way.time_of(1)),
               span_text(way.later_epoch), after(epochs_until_faster(way, ways.direct)),
               after(epochs_until_cheaper(way, ways.direct))});
  };
  add("staged before the job", ways.before, false);
  add("staged during the job", ways.during, false);
  add("not staged", ways.direct, true);
  out << '\n';
  table.write(out, style, "  ");
}

Json ways_in_json(const WaysIn& ways, const InputSettings& input) {
  const auto& copy = ways.copy;
  return {{"stage_in", stage_in_words[static_cast<std::size_t>(input.stage_in)]},
          {"bytes", copy.bytes.value()},
          {"rate_bytes_per_s", copy.rate.value()},
          {"time_s", copy.time().value()},
          {"limit", limit_names[static_cast<std::size_t>(copy.limit)]},
          {"requests", copy.requests},
          {"usd_requests", copy.usd_requests},
          {"usd_egress", copy.usd_egress},
          {"usd_writes", copy.usd_writes},
          {"staged_during_s", ways.staged.value()},
          {"cold_reads", ways.cold_reads},
          {"before", paying_way_json(ways.before, ways.direct)},
          {"during", paying_way_json(ways.during, ways.direct)},
          {"direct", way_json(ways.direct)}};
}

std::string data_tiers_in_words(const InputSettings& input) {
  const auto stored = stored_samples(input);
  const auto samples = input.dataset->samples;
  std::vector<std::string> clauses{
      fmt::format("the store keeps {}", bytes_text(stored.kept * samples)),
      fmt::format("an epoch reads {} from it", bytes_text(stored.size * samples * (1 - stored.hits)))};
  if (input.cache)
    clauses.push_back(fmt::format("a cache of all samples needs {}, and this one serves {} of the reads",
                                  bytes_text(stored.in_cache * samples), percent_text(stored.hits)));
  if (stored.core > Seconds{})
    clauses.push_back(
        fmt::format("compression and hashing take {} of a core per sample", time_text(stored.core)));
  return fmt::format("{}", fmt::join(clauses, "; "));
}

Json data_tiers_json(const InputSettings& input) {
  const auto stored = stored_samples(input);
  const auto samples = input.dataset->samples;
  return {{"kept_bytes", stored.kept.value() * samples},
          {"read_bytes_per_epoch", stored.size.value() * samples * (1 - stored.hits)},
          {"cache_bytes_for_all", stored.in_cache.value() * samples},
          {"cache_hits", stored.hits},
          {"core_s_per_sample", stored.core.value()}};
}

}  // namespace gradway::report
