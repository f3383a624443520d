// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/campaign/local_sgd.hpp"
#include "sim/graph/origin.hpp"
#include "sim/graph/workload.hpp"
#include "sim/metrics/bottleneck.hpp"
#include "sim/platform/platform.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/study/compare/leaders.hpp"
#include "sim/trust/provenance_class.hpp"

namespace gradway::report {

// Words that stand in files, too, are beside their enums, so that what a report echoes can be typed back.
std::string_view name_of(ProvenanceClass evidence);
std::string_view name_of(Phase phase);
std::string_view name_of(LinkKind kind);
std::string_view name_of(DeviceKind kind);

/// "DDP, buckets of 25 MiB, fp16 hook, gradients as bucket views"
std::string in_words(const Strategy& strategy);

/// "tensor 8 with sequence parallelism, pipeline 4 x 2 chunks (interleaved), data 16, as megatron exchanges"
std::string in_words(const Layout& layout, const Job& job);

/// "vit_l_32, batch 32 a GPU, fp32, DDP, buckets of 25 MiB"
std::string in_words(std::string_view model, const Job& job);

/// A probability in whole percent, never "100 %": nothing of this kind is certain.
std::string probability_text(double probability);

/// How a table marks a choice: the winner's word; "tied" for the first of several and its equals, "tied, 62
/// %" for others that are tied, with the probability that the first is ahead; "91 %" for what is not tied,
/// but not behind for sure; "" for the rest.
std::string mark_of(const Leaders& leaders, std::size_t choice, std::string_view winner);

/// "tied with B: the difference of 1.2 % is within what is not known; the first is faster with a probability
/// of 62 %"
/// @param names of all that were ranked @param better "faster" or "cheaper" @pre the leaders are tied
std::string tied_in_words(const Leaders& leaders, const std::vector<std::string>& names,
                          std::string_view better);

/// "8 x l40s on 1 node"
std::string hardware_in_words(const Platform& platform, int gpus);

/// "local SGD: 4 workers, nesterov, meet every 500 steps in int8"
std::string in_words(const LocalSgd& settings);

/// "4 workers: every 500 steps (53 min) each sends 40.4 GB in 8.4 s: they train 99.7 % of the time"
std::string in_words(const OuterLoop& loop, const LocalSgd& settings);

/// A sentence for each class: what its clients do in a round.
std::vector<std::string> clients_in_words(const LocalSgd& settings, const std::vector<ClientTurn>& turns);

/// A bottleneck as users read it.
struct BottleneckWords {
  std::string resource;  ///< "host memory (SHM)"
  std::string why;       ///< a sentence without a full stop
};

BottleneckWords in_words(const Bottleneck& bottleneck);

}  // namespace gradway::report
