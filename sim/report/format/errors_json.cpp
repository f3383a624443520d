// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/errors_json.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/contract.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

PartOfStep part_of(std::string_view name) {
  const auto word = std::ranges::find(part_words, name);
  expects(word != part_words.end(), "a report names the parts of a step");
  return static_cast<PartOfStep>(word - part_words.begin());
}

struct SourceInWords {
  using Batch = error_source::OtherBatch::Batch;

  std::string operator()(const std::monostate& /*unknown*/) const { return ""; }
  std::string operator()(const error_source::LinkContention& source) const {
    return fmt::format("{} beside kernels on {}", name_of(source.transport), source.gpu);
  }
  std::string operator()(const error_source::Exchange& source) const {
    return fmt::format("ranks of {} over {} on {}", source.model, name_of(source.transport), source.gpu);
  }
  std::string operator()(const error_source::InputCopies& source) const {
    return fmt::format("copies on {}", source.platform);
  }
  std::string operator()(const error_source::SampleCosts& source) const {
    const auto samples = source.dataset.empty() ? "samples" : fmt::format("samples of {}", source.dataset);
    return fmt::format("{} on cores of {}", samples, source.platform);
  }
  std::string operator()(const error_source::StorageRate& source) const {
    return source.storage.empty() ? "storage" : fmt::format("storage {}", source.storage);
  }
  std::string operator()(const error_source::CachedSamples& source) const {
    return fmt::format("samples in the memory of {}", source.platform);
  }
  std::string operator()(const error_source::ProgramLaunches& source) const {
    return fmt::format("launches of {}", source.model);
  }
  std::string operator()(const error_source::HostLaunches& source) const {
    return fmt::format("launches of {} by the CPU of {}", source.model, source.platform);
  }
  std::string operator()(const error_source::JobKernels& /*source*/) const { return "kernels of this job"; }
  std::string operator()(const error_source::JobContention& /*source*/) const {
    return "kernels beside the collectives of this job";
  }
  std::string operator()(const error_source::JobCollectives& /*source*/) const {
    return "collectives of this job";
  }
  std::string operator()(const error_source::JobOperations& /*source*/) const {
    return "which kernels this job runs";
  }
  std::string operator()(const error_source::ProfileReference& reference) const {
    return fmt::format("a profile on {}{}", reference.gpu,
                       reference.moved_to_anchor ? ", moved to meet an anchor" : "");
  }
  std::string operator()(const error_source::AnchorReference& reference) const {
    return fmt::format("a step of {:.6g} ms at batch {}", reference.step.value() * 1e3, reference.batch);
  }
  std::string operator()(const error_source::RooflineReference& /*reference*/) const { return "roofline"; }
  std::string operator()(const error_source::Compute& compute) const {
    const auto basis = compute.reference ? fmt::format(" by {}", std::visit(*this, *compute.reference)) : "";
    return fmt::format("{} on {} in {}{}", compute.model, compute.gpu, name_of(compute.precision), basis);
  }
  std::string operator()(const error_source::OtherOptimizer& source) const {
    return fmt::format("{} of {}", name_of(source.optimizer), (*this)(source.compute));
  }
  std::string operator()(const error_source::OtherBatch& source) const {
    const auto compute = (*this)(source.compute);
    if (source.batch == Batch::given) return fmt::format("batch {} of {}", source.size, compute);
    return fmt::format("{} batches of {}", source.batch == Batch::larger ? "larger" : "smaller", compute);
  }
  std::string operator()(const error_source::ModelSequence& source) const {
    return fmt::format("sequences of {}", source.model);
  }
  std::string operator()(const error_source::ModelBatch& source) const {
    return fmt::format("batch {} of {}", source.batch, source.model);
  }
  std::string operator()(const error_source::ModelProgram& source) const {
    return fmt::format("the program of {}", source.model);
  }
  std::string operator()(const error_source::CalibratedCollectives& source) const {
    return fmt::format("{} by {}{}", name_of(source.transport), source.calibration, of_ranks(source.ranks));
  }
  std::string operator()(const error_source::NominalCollectives& source) const {
    return fmt::format("{} on links of {} by NCCL's rates{}", name_of(source.transport), source.platform,
                       of_ranks(source.ranks));
  }

 private:
  static std::string of_ranks(int ranks) { return ranks > 0 ? fmt::format(" of {} ranks", ranks) : ""; }
};

std::string source_in_words(const ErrorSource& source) {
  return std::visit(SourceInWords{}, source);
}

}  // namespace

std::string least_certain_part(const std::vector<PossibleError>& errors) {
  const auto width = [](const PossibleError& error) { return error.time * error.uncertainty; };
  const auto worst = std::ranges::max_element(errors, {}, width);
  if (worst == errors.end()) return "";
  std::string words{part_words.at(static_cast<std::size_t>(worst->cause.part))};
  std::ranges::replace(words, '_', ' ');
  const auto source = source_in_words(worst->source);
  return source.empty() ? words : fmt::format("{} ({})", words, source);
}

Json errors_json(const std::vector<PossibleError>& errors) {
  Json list = Json::array();
  for (const auto& error : errors) {
    Json entry{{"part", part_words.at(static_cast<std::size_t>(error.cause.part))},
               {"of", source_in_words(error.source)},
               {"cause", error.cause.what},
               {"time_s", error.time.value()},
               {"doubt", error.uncertainty}};
    if (error.spare > Seconds{}) entry["spare_s"] = error.spare.value();
    if (error.saves < Seconds::infinite()) entry["saves_s"] = error.saves.value();
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<PossibleError> errors_of(const Json& json) {
  std::vector<PossibleError> errors;
  for (const auto& entry : json) {
    errors.push_back(
        {.cause = {.part = part_of(entry.at("part").get<std::string>()), .what = entry.at("cause")},
         .time = Seconds{entry.at("time_s").get<double>()},
         .uncertainty = entry.at("doubt"),
         .spare = Seconds{entry.value("spare_s", 0.0)},
         .saves = Seconds{entry.value("saves_s", std::numeric_limits<double>::infinity())}});
  }
  return errors;
}

}  // namespace gradway::report
