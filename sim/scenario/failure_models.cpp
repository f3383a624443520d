// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/failure_models.hpp"

#include <algorithm>
#include <array>

namespace gradway {
namespace {

constexpr bool node_stays = false;

/// @source Llama 3 paper, table 5, arXiv 2407.21783, by its counts (148 of 419 are 35.3 %, not the 30.1 %
/// printed). Which causes take a node away is our interpretation.
constexpr std::array llama3{FailureCause{"faulty GPU", 148},
                            FailureCause{"GPU HBM3 memory", 72},
                            FailureCause{"software bug", 54, node_stays},
                            FailureCause{"network switch or cable", 35},
                            FailureCause{"unplanned host maintenance", 32},
                            FailureCause{"GPU SRAM memory", 19},
                            FailureCause{"GPU system processor", 17},
                            FailureCause{"NIC", 7},
                            FailureCause{"NCCL watchdog timeouts", 7, node_stays},
                            FailureCause{"silent data corruption", 6},
                            FailureCause{"GPU thermal interface or sensor", 6},
                            FailureCause{"SSD", 3},
                            FailureCause{"power supply", 3},
                            FailureCause{"server chassis", 2},
                            FailureCause{"IO expansion board", 2},
                            FailureCause{"dependency", 2, node_stays},
                            FailureCause{"CPU", 2},
                            FailureCause{"system memory", 2}};
constexpr std::array hardware{FailureCause{"node", 1}};
constexpr std::array gpu_memory{FailureCause{"uncorrectable GPU memory error", 1}};

constexpr double hours_of_a_day = 24;
constexpr double gpus_of_a_node = 8;

constexpr std::array models{
    FailureModel{
        "llama3", 419.0 / (16384 / gpus_of_a_node * 54), llama3,
        "419 unexpected interruptions of 16,384 H100 in 54 days (Llama 3 paper, table 5, arXiv 2407.21783)"},
    FailureModel{
        "rsc-1", 6.50e-3, hardware,
        "Meta RSC-1, 16,000 A100, 11 months: 6.50 of 1,000 node-days (Kokolis et al., HPCA 2025, arXiv "
        "2410.21680)"},
    FailureModel{
        "rsc-2", 2.34e-3, hardware,
        "Meta RSC-2, 8,000 A100, 11 months: 2.34 of 1,000 node-days (Kokolis et al., HPCA 2025, arXiv "
        "2410.21680)"},
    FailureModel{"opt-175b", 2.0 / 128, hardware,
                 "about 2 machines a day of 128 (metaseq f7ffa5f, projects/OPT/chronicles/final_update.md)"},
    FailureModel{
        "delta-a100", gpus_of_a_node* hours_of_a_day / 283'271, gpu_memory,
        "NCSA Delta, 2.5 years: an uncorrectable memory error in 283,271 h of an A100, and nothing else (SC "
        "2025, arXiv 2503.11901)"},
    FailureModel{
        "delta-h100", gpus_of_a_node* hours_of_a_day / 88'768, gpu_memory,
        "NCSA Delta, 2.5 years: an uncorrectable memory error in 88,768 h of an H100, and nothing else (SC "
        "2025, arXiv 2503.11901)"},
};

constexpr double hour = 3600;
/// Mean time from the middle of a band of AWS' Spot Advisor, the share of instances that are interrupted
/// within a month of 730 h: -730 h / ln(1 - share).
constexpr double up_of_15_percent = 730 * hour / 0.162519, up_of_7_5_percent = 730 * hour / 0.077962;

// Rates and shares by zone from github.com/skypilot-org/spot-traces at 221da1a; the mean down time follows
// from the share of availability: up x (1 - share) / share.
constexpr std::array spots{
    SpotModel{
        "advisor-10-20", Seconds{up_of_15_percent}, 1.0, Seconds{hour}, 1.0, 1,
        "10 to 20 % interrupted in a month, as H100 p5 in May 2025 (AWS Spot Instance Advisor, reported by "
        "thundercompute.com); an hour until another comes is assumed"},
    SpotModel{
        "advisor-5-10", Seconds{up_of_7_5_percent}, 1.0, Seconds{hour}, 1.0, 1,
        "5 to 10 % interrupted in a month, as A100 p4d in May 2025 (AWS Spot Instance Advisor, reported by "
        "thundercompute.com); an hour until another comes is assumed"},
    SpotModel{"aws-v100-2023", Seconds{hour / 0.30}, 3.2 / 0.54, Seconds{hour / 0.30 * 0.36 / 0.64}, 3.8, 1,
              "AWS V100, 9 zones, February 2023: 0.30 losses of a node in an hour (skypilot-org/spot-traces "
              "221da1a)"},
    SpotModel{
        "aws-v100-2023-groups", Seconds{hour / 0.20}, 3.5, Seconds{hour / 0.20 * 0.34 / 0.66}, 3.5, 4,
        "AWS V100 in groups of 4, August 2023: 0.20 losses of a node in an hour (skypilot-org/spot-traces "
        "221da1a)"},
    SpotModel{
        "aws-v100-2022", Seconds{hour / 0.56}, 1.75 / 0.50, Seconds{hour / 0.56 * 0.48 / 0.52}, 5.0, 1,
        "AWS K80 and V100, 2 zones, October 2022: 0.56 losses of a node in an hour (skypilot-org/spot-traces "
        "221da1a)"},
    SpotModel{
        "gcp-c3-2023", Seconds{hour / 0.017}, 7.8 / 6.5, Seconds{hour / 0.017 * 0.01 / 0.99}, 20.0, 1,
        "GCP c3-88, 4 zones, May 2023: 0.017 losses of a node in an hour (skypilot-org/spot-traces 221da1a)"},
};

template <class Model, std::size_t count>
constexpr std::array<std::string_view, count> names_of(const std::array<Model, count>& named_models) {
  std::array<std::string_view, count> names{};
  for (std::size_t i = 0; i < count; ++i) names[i] = named_models[i].name;
  return names;
}
constexpr auto failure_names = names_of(models);
constexpr auto spot_names = names_of(spots);

}  // namespace

std::span<const std::string_view> failure_model_names() {
  return failure_names;
}
std::span<const std::string_view> spot_model_names() {
  return spot_names;
}

const FailureModel* find_failure_model(std::string_view name) {
  const auto model = std::ranges::find(models, name, &FailureModel::name);
  return model == models.end() ? nullptr : &*model;
}

const SpotModel* find_spot_model(std::string_view name) {
  const auto model = std::ranges::find(spots, name, &SpotModel::name);
  return model == spots.end() ? nullptr : &*model;
}

}  // namespace gradway
