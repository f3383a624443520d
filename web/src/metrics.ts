// SPDX-License-Identifier: Apache-2.0
// Made by scripts/types from `gradway schema metrics`: change the table in sim/report/format/figures.cpp instead.

export interface Metrics {
  step_time_s: number;
  steps_per_s: number;
  samples_per_s: number;
  /** Of a model of text. */
  tokens_per_s: number | null;
  tokens_per_s_per_gpu: number | null;
  compute_s: number;
  /** Overlapped by kernels or not. */
  communication_s: number;
  /** Not overlapped by kernels. */
  exposed_communication_s: number;
  /** Exposed communication by group: data, tensor, pipeline, context, expert. */
  exposed_s: Record<string, number>;
  input_wait_s: number;
  optimizer_s: number;
  launch_bound_s: number;
  idle_s: number;
  /** Of a pipeline. */
  bubble_s: number | null;
  gpu_busy_fraction: number;
  /** 10^12 FLOP per second. */
  tflops_per_gpu: number;
  /** Share of the GPU's dense peak. */
  mfu: number | null;
  /** Per step. */
  collectives: number;
  /** Per step. */
  bytes_sent_per_gpu: number;
  peak_memory_bytes: number;
  cost_usd_per_hour: number | null;
  cost_usd_per_million_samples: number | null;
  /** From when a loader worker begins a batch until the batch is ready. */
  data_loading_s?: number;
  /** From the start of an epoch. */
  first_batch_s?: number;
  /** Steps in which every sample occurs once. */
  epoch_steps?: number;
  /** From the start of the workers to the end of the last step. */
  epoch_s?: number;
  /** Time of an epoch in addition to its steps. */
  epoch_start_s?: number;
  /** Read by all ranks per step. */
  storage_bytes?: number;
  /** As MLPerf Storage defines it. */
  accelerator_utilisation?: number;
  /** Of a collective alone. */
  bus_bandwidth_bytes_per_s?: number;
  /** Of the nodes that are paid for. */
  idle_gpus?: number;
}

/** Titles of columns and axes, and which values are better. */
export const compared = {
  step_time_s: { name: 'step time', better: 'low' },
  samples_per_s: { name: 'samples/s', better: 'high' },
  tokens_per_s_per_gpu: { name: 'tokens/s per GPU', better: 'high' },
  gpu_busy_fraction: { name: 'GPU busy', better: 'high' },
  mfu: { name: 'MFU', better: 'high' },
  peak_memory_bytes: { name: 'memory per GPU', better: 'low' },
  cost_usd_per_hour: { name: 'cost per hour', better: 'low' },
  cost_usd_per_million_samples: { name: 'cost per million samples', better: 'low' },
  bus_bandwidth_bytes_per_s: { name: 'bus bandwidth', better: 'high' },
} as const;
