// SPDX-License-Identifier: Apache-2.0
#include "sim/report/campaign/campaign.hpp"

namespace gradway::report {

const std::array<BucketWords, bucket_count>& bucket_words() {
  static constexpr std::array<BucketWords, bucket_count> words{{
      {"productive_steps", "steps that count", "steps that were kept, each as long as predicted"},
      {"stragglers", "slow GPUs, jitter", "what slow GPUs and jitter add to the steps that were kept"},
      {"fewer_nodes", "fewer nodes", "what the steps that were kept took longer on fewer nodes (elastic)"},
      {"worker_exchange", "between workers",
       "workers wait for each other's weights, or a round for what a client loads and sends (custom)"},
      {"evaluation", "evaluation", "pauses to evaluate (custom)"},
      {"checkpoint_save", "saving", "pauses to save, and what writing beside them costs the steps"},
      {"wasted_progress", "done again",
       "steps and evaluations since the last checkpoint on storage, lost; rounds without enough updates"},
      {"detection", "detection", "from a failure until the job is stopped (infrastructure recovery)"},
      {"requeue", "requeue", "until the job has its nodes again (infrastructure recovery)"},
      {"communicator_setup", "communicators", "until all ranks have met (training preparation)"},
      {"checkpoint_restore", "reading back", "the checkpoint is read by all ranks"},
      {"data_loading", "loader start", "until data flow again, and at the start of epochs"},
      {"waiting_for_nodes", "waiting", "until a node is back, or clients answer (infrastructure recovery)"},
  }};
  return words;
}

const std::array<ShareWords, 3>& share_words() {
  static constexpr std::array<ShareWords, 3> words{{
      {"goodput", "goodput",
       "time of steps that count, as predicted, over paid time: productive_steps / all (ML goodput)"},
      {"effective_training_time", "effective",
       "time in which steps that count ran, however slowly, over paid time: (productive_steps + stragglers + "
       "fewer_nodes) / all (Llama 3, MegaScale)"},
      {"ettr", "ETTR",
       "productive runtime over runtime, queueing and restarts: effective training time and evaluation / all "
       "(Meta "
       "RSC, ByteRobust)"},
  }};
  return words;
}

}  // namespace gradway::report
