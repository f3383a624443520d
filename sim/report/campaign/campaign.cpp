// SPDX-License-Identifier: Apache-2.0
#include "sim/report/campaign/campaign.hpp"

namespace gradway::report {

const std::array<BucketWords, bucket_count>& bucket_words() {
  static constexpr std::array<BucketWords, bucket_count> words{{
      {"productive_steps", "productive steps",
       "steps that were kept, at their predicted length (productive time)"},
      {"stragglers", "stragglers, jitter", "time that slow GPUs and jitter add to the steps that were kept"},
      {"fewer_nodes", "fewer nodes",
       "time that running on fewer nodes adds to the steps that were kept (elastic)"},
      {"slower_periods", "slower periods",
       "time that busy hours, and storage that has yet to grow, add to the steps that were kept"},
      {"worker_exchange", "between workers",
       "workers wait for each other's weights, or a round waits for a client's downloads and uploads "
       "(custom)"},
      {"evaluation", "evaluation", "pauses to evaluate (custom)"},
      {"checkpoint_save", "saving",
       "pauses to save checkpoints, and the slow-down of steps by background writes"},
      {"wasted_progress", "lost work",
       "steps and evaluations lost since the last stored checkpoint; rounds with too few updates"},
      {"detection", "detection", "from a failure until the job is stopped (infrastructure recovery)"},
      {"requeue", "requeue", "until the scheduler gives the job its nodes (infrastructure recovery)"},
      {"communicator_setup", "communicators",
       "until all ranks have set up their communicators (training preparation)"},
      {"checkpoint_restore", "restore", "all ranks read the checkpoint"},
      {"data_loading", "loader start",
       "until the loader delivers batches after a start, and at the start of epochs; staging of the dataset"},
      {"waiting_for_nodes", "waiting",
       "until a node is repaired, or clients answer (infrastructure recovery)"},
  }};
  return words;
}

const std::array<ShareWords, 3>& share_words() {
  static constexpr std::array<ShareWords, 3> words{{
      {"goodput", "goodput",
       "predicted time of productive steps over paid time: productive_steps / all (ML goodput)"},
      {"effective_training_time", "effective",
       "actual time of productive steps over paid time: (productive_steps + stragglers + fewer_nodes + "
       "slower_periods) / all "
       "(Llama 3, MegaScale)"},
      {"ettr", "ETTR",
       "productive runtime over total time with queueing and restarts: (effective training time + "
       "evaluation) / all (Meta RSC, ByteRobust)"},
  }};
  return words;
}

}  // namespace gradway::report
