// SPDX-License-Identifier: Apache-2.0
// The document of a campaign; see DATA.md.
import type { AnyDocument, Maybe } from '../document';

/** The median and the 90 % interval of the runs. */
export interface Spread {
  median: number;
  low: number;
  high: number;
}

export interface Estimate {
  runs: number;
  unfinished: number;
  seconds: Spread;
  usd: Spread | null;
  kg_co2: Spread | null;
  goodput: Spread;
  effective_training_time: Spread;
  ettr: Spread;
  interruptions: Spread;
  mean_s: number;
  mean_usd: Maybe;
  mean_buckets_s: Record<string, number>;
}

export interface Stop {
  from_s: number;
  to_s: number;
  progress_before: number;
  progress_after: number;
  cause: string;
}

/** A time in which the campaign of median length goes on unchanged, or restarts. */
export interface Span {
  from_s: number;
  to_s: number;
  trains: boolean;
  phase: number;
  condition: number;
  /** Tokens or samples, including checkpoints. */
  rate_per_s: number;
  global_batch: number;
  step_s: number;
  storage_bytes_per_s: number;
  /** Since the start of the campaign. */
  usd: Maybe;
}

/** Clients that train in rounds. */
export interface Rounds {
  inner_steps: number;
  /** Updates that complete a round, and clients that are selected. */
  target: number;
  asked: number;
  model_bytes: number;
  update_bytes: number;
  classes: { name?: string; count: number; down_s: number; compute_s: number; up_s: number }[];
}

/** Time and cost of moving the data to one place. */
export interface MovedData {
  bytes: number;
  exchanged_bytes: number;
  moving_s: number;
  moving_usd: Maybe;
  training_s: number;
  training_usd: Maybe;
  training_at_best_s: number;
}

export interface CampaignReport {
  plan: { rounds?: Rounds | null; steps: number; step_s: number; nodes: number; job_mttf_s: Maybe; checkpoint_bytes: Maybe; checkpoint_pause_s: number; restart_s: number };
  estimate: Estimate;
  limits: { deadline_s: Maybe; deadline_kept: Maybe; budget_usd: Maybe; budget_kept: Maybe };
  interval: { used_s: number; best_s: number; young_s: Maybe; daly_s: Maybe; goodput_used: number; curve: { interval_s: number; goodput: number }[] };
  what_ifs: { change: string; saves_s: number; saves_usd: Maybe; estimate: Estimate }[];
  terms: { terms: string; usd_per_node_hour: number; share_of_nodes: number; estimate: Estimate }[];
  moved_data?: MovedData | null;
  histogram: { from_s: number; to_s: number; runs: number }[];
  typical: { seconds: number; checkpoints: number; stops: Stop[] };
  course: Span[];
  course_unit: 'tokens' | 'samples';
  labels: Record<string, string>;
  definitions: Record<string, string>;
  basis: string[];
  warnings: string[];
  warning_codes: string[];
}

export interface CampaignDocument extends AnyDocument {
  kind: 'campaign';
  headline: { model: string; hardware: string; strategy: string };
  campaign: CampaignReport;
}
