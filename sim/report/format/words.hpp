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

// Words that files may contain are declared with their enums, so that the words of a report are valid input.
std::string_view name_of(ProvenanceClass evidence);
std::string_view name_of(Phase phase);
std::string_view name_of(LinkKind kind);
std::string_view name_of(DeviceKind kind);

/// "DDP, buckets of 25 MiB, fp16 hook, gradients as bucket views"
std::string describe(const Strategy& strategy);

/// "tensor 8 with sequence parallelism, pipeline 4 x 2 chunks (interleaved), data 16, communication as in
/// megatron"
std::string describe(const Layout& layout, const Job& job);

/// "t8 p4x2 d16 mb1 full r8": the short form for tables.
std::string describe_briefly(const Job& job);
/// The letters of the short forms of these jobs.
std::string layout_letters(const std::vector<const Job*>& jobs);

/// "vit_l_32, batch 32 per GPU, fp32, DDP, buckets of 25 MiB"
std::string describe(std::string_view model, const Job& job);

/// A probability in whole percent, from "1 %" to "99 %", because no prediction is certain.
std::string probability_text(double probability);

/// How a table marks a choice. `winner` for a sole winner; "tied" for the first of several tied choices and
/// its equals; "tied, 62 %" for the others, with the probability that the first is ahead; "91 %" for choices
/// that are not tied, but not certainly slower either; "" otherwise.
std::string mark_of(const Leaders& leaders, std::size_t choice, std::string_view winner);

/// "tied with B: the difference of 1.2 % is within the prediction error; the first is faster with a
/// probability of 62 %"
/// @param names of all ranked choices @param better "faster" or "cheaper" @pre the leaders are tied
std::string tie_in_words(const Leaders& leaders, const std::vector<std::string>& names,
                         std::string_view better);

/// "8 x l40s on 1 node"
std::string hardware_in_words(const Platform& platform, int gpus);

/// "local SGD: 4 workers, nesterov, exchange every 500 steps in int8"
std::string describe(const LocalSgd& settings);

/// "4 workers; every 500 steps (53 min) each sends 40.4 GB, in 8.4 s; they compute 99.7 % of the time"
std::string describe(const OuterLoop& loop, const LocalSgd& settings);

/// A clause for each class of clients: what they do in a round.
std::vector<std::string> clients_in_words(const LocalSgd& settings, const std::vector<ClientTurn>& turns);

/// Words for a bottleneck.
struct BottleneckWords {
  std::string resource;  ///< "host memory (SHM)"
  std::string why;       ///< a clause without a full stop
};

BottleneckWords describe(const Bottleneck& bottleneck);

}  // namespace gradway::report
