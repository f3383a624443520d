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
  const auto found = std::ranges::find(part_words, name);
  expects(found != part_words.end(), "a report names the parts of a step");
  return static_cast<PartOfStep>(found - part_words.begin());
}

struct SourceInWords {
  using Batch = error_source::OtherBatch::Batch;

  std::string operator()(const std::monostate& /*unknown*/) const { return ""; }
  std::string operator()(const error_source::LinkContention& of) const {
    return fmt::format("{} beside kernels on {}", name_of(of.transport), of.gpu);
  }
  std::string operator()(const error_source::Exchange& of) const {
    return fmt::format("ranks of {} over {} on {}", of.model, name_of(of.transport), of.gpu);
  }
  std::string operator()(const error_source::InputCopies& of) const {
    return fmt::format("copies on {}", of.platform);
  }
  std::string operator()(const error_source::SampleCosts& of) const {
    const auto samples = of.dataset.empty() ? "samples" : fmt::format("samples of {}", of.dataset);
    return fmt::format("{} on cores of {}", samples, of.platform);
  }
  std::string operator()(const error_source::StorageRate& of) const {
    return of.storage.empty() ? "storage" : fmt::format("storage {}", of.storage);
  }
  std::string operator()(const error_source::CachedSamples& of) const {
    return fmt::format("samples in the memory of {}", of.platform);
  }
  std::string operator()(const error_source::ProgramLaunches& of) const {
    return fmt::format("launches of {}", of.model);
  }
  std::string operator()(const error_source::HostLaunches& of) const {
    return fmt::format("launches of {} by the CPU of {}", of.model, of.platform);
  }
  std::string operator()(const error_source::JobKernels& /*of*/) const { return "kernels of this job"; }
  std::string operator()(const error_source::JobContention& /*of*/) const {
    return "kernels beside the collectives of this job";
  }
  std::string operator()(const error_source::JobCollectives& /*of*/) const {
    return "collectives of this job";
  }
  std::string operator()(const error_source::JobOperations& /*of*/) const {
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
  std::string operator()(const error_source::Compute& of) const {
    const auto by = of.reference ? fmt::format(" by {}", std::visit(*this, *of.reference)) : "";
    return fmt::format("{} on {} in {}{}", of.model, of.gpu, name_of(of.precision), by);
  }
  std::string operator()(const error_source::OtherOptimizer& of) const {
    return fmt::format("{} of {}", name_of(of.optimizer), (*this)(of.compute));
  }
  std::string operator()(const error_source::OtherBatch& of) const {
    const auto compute = (*this)(of.compute);
    if (of.batch == Batch::given) return fmt::format("batch {} of {}", of.size, compute);
    return fmt::format("{} batches of {}", of.batch == Batch::larger ? "larger" : "smaller", compute);
  }
  std::string operator()(const error_source::ModelSequence& of) const {
    return fmt::format("sequences of {}", of.model);
  }
  std::string operator()(const error_source::ModelBatch& of) const {
    return fmt::format("batch {} of {}", of.batch, of.model);
  }
  std::string operator()(const error_source::ModelProgram& of) const {
    return fmt::format("the program of {}", of.model);
  }
  std::string operator()(const error_source::CalibratedCollectives& of) const {
    return fmt::format("{} by {}{}", name_of(of.transport), of.calibration, of_ranks(of.ranks));
  }
  std::string operator()(const error_source::NominalCollectives& of) const {
    return fmt::format("{} on links of {} by NCCL's rates{}", name_of(of.transport), of.platform,
                       of_ranks(of.ranks));
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
    Json one{{"part", part_words.at(static_cast<std::size_t>(error.cause.part))},
             {"of", source_in_words(error.source)},
             {"cause", error.cause.what},
             {"time_s", error.time.value()},
             {"doubt", error.uncertainty}};
    if (error.spare > Seconds{}) one["spare_s"] = error.spare.value();
    if (error.saves < Seconds::infinite()) one["saves_s"] = error.saves.value();
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<PossibleError> errors_of(const Json& json) {
  std::vector<PossibleError> errors;
  for (const auto& one : json) {
    errors.push_back({.cause = {.part = part_of(one.at("part").get<std::string>()), .what = one.at("cause")},
                      .time = Seconds{one.at("time_s").get<double>()},
                      .uncertainty = one.at("doubt"),
                      .spare = Seconds{one.value("spare_s", 0.0)},
                      .saves = Seconds{one.value("saves_s", std::numeric_limits<double>::infinity())}});
  }
  return errors;
}

}  // namespace gradway::report
