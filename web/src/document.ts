// SPDX-License-Identifier: Apache-2.0
// The documents that the page can show, except campaigns; see DATA.md. Optional keys may be missing in documents of earlier versions.

import type { Metrics } from './metrics';
import type { Scenario as Written, ScenarioJob, ScenarioStrategy } from './scenario';
import type { WhatIf } from './what_if/panel';

export type { Metrics };
export type Range = [number, number];
export type Maybe = number | null | undefined;

/** A whole training. Values that were not asked for or are unknown are null. */
export interface Training {
  tokens: Maybe;
  samples: number;
  steps: number;
  seconds: number;
  seconds_low: number;
  seconds_high: number;
  cost_usd: Maybe;
  cost_usd_low: Maybe;
  cost_usd_high: Maybe;
  deadline_s: Maybe;
  deadline_met: Kept;
  budget_usd: Maybe;
  budget_met: Kept;
}

export type Kept = 'yes' | 'may' | 'no' | null;

export interface LinkUse {
  name: string;
  busy_fraction: number;
  bytes: number;
  /** Number of other links with identical use, which are not listed. */
  alike?: number;
}

/** The scenario of a report, defaults included. */
export interface Scenario extends Written {
  platform: string;
  job: Written['job'] & Required<Pick<ScenarioJob, 'gpus' | 'batch_per_gpu' | 'precision' | 'accumulate'>>;
  strategy: ScenarioStrategy & Required<Pick<ScenarioStrategy, 'kind'>>;
  optimizer: NonNullable<Written['optimizer']>;
}

export interface Price {
  usd_per_node_hour: number;
  terms: string;
  region: string;
  date: string;
  source: string;
  converted_from: { per_node_hour: number; currency: string; usd: number; date: string; source: string } | null;
}

/** The parts of a step. */
export type Parts = Pick<Metrics, 'compute_s' | 'exposed_communication_s' | 'input_wait_s' | 'optimizer_s' | 'launch_bound_s' | 'idle_s'>;

/** The ranks of a pipeline stage. */
export interface Program extends Parts {
  name: string;
  ranks: number;
  memory: Record<string, number>;
}

/** stage, start in us, duration in us, kind (forward, backward, gradients of inputs, of parameters), micro-batch, chunk */
export type Pass = [number, number, number, number, number, number];

export interface Pipeline {
  to_us: number;
  /** Passes that begin later are omitted; null: all passes are listed. */
  until_us: number | null;
  stages: string[];
  chunks: number;
  passes: Pass[];
}

/** A change with which a job fits, and its step then. */
export interface ChangeToFit {
  words: string;
  set: Record<string, string>;
  step_time_s: number;
  memory_verdict: string;
}

export interface Report {
  /** If it was asked for, and a batch fits. */
  largest_batch?: { batch_per_gpu: number };
  /** With it, of a job that does not fit as written: what makes it fit, the shortest step first. */
  changes_to_fit?: ChangeToFit[];
  gradway: string;
  scenario: Scenario;
  engine: string;
  ranks: { all: number; simulated: number };
  metrics: Metrics;
  interval: { step_time_s: Range; [key: string]: Range | null | undefined };
  /** false: the job would run out of memory; all other values assume enough memory. null: it may. */
  fits?: boolean | null;
  does_not_fit?: string | null;
  /** The 90 % interval of the required memory compared with the GPU's memory; null: some activations are unknown. */
  memory_verdict?: 'fits' | 'tight' | 'may not fit' | 'does not fit' | null;
  memory_largest_part?: string;
  memory: Record<string, number>;
  /** Over the whole run; reports of gradway 0.2 have none. */
  peak_of_run?: { allocated_bytes: number; part: string; nvidia_smi_bytes: number; nvidia_smi_interval_bytes: Range };
  price: Price | null;
  bottleneck: { resource: string; why: string };
  links: LinkUse[];
  /** Class of provenance: measured, anchored, kernels, moved or datasheet. */
  provenance?: string;
  /** Number of less busy links that are neither listed nor identical to a listed one. */
  links_left_out?: number;
  basis: string[];
  warnings: string[];
  warning_codes: string[];
  training?: Training;
  /** For a pipeline. */
  programs?: Program[];
}

/** row, start in us, duration in us, name, phase, bucket or -1, bytes */
export type Slice = [number, number, number, number, number, number, number];

export interface Row {
  rank: number;
  node: number;
  device: string;
  stream: string;
}

/** A period of the step that is drawn once and happens `left_out` times more. */
export interface Repeated {
  from_us: number;
  to_us: number;
  left_out: number;
}

export interface Timeline {
  step: { from_us: number; to_us: number };
  repeated?: Repeated | null;
  ranks: string;
  /** Neighbours shorter than this are joined; null: none are joined. */
  joined_us?: number | null;
  rows: Row[];
  names: string[];
  phases: string[];
  slices: Slice[];
}

export interface Bucket {
  size_bytes: number;
  gradients: number;
  first_layer: string;
  last_layer: string;
  /** Collective that reduces its gradients: all-reduce, reduce-scatter. */
  collective: string;
  ready_us: number;
  start_us: number;
  end_us: number;
}

export interface UseOverTime {
  name: string;
  /** Number of other links with identical use. */
  alike?: number;
  /** Points are averages over this time; null: each change is listed. */
  bin_us?: number | null;
  points: [number, number][];
}

/** The memory of the GPU that needs most, over the moments of a step. */
export interface MemoryOverStep {
  /** Phase and layer of each moment; no layer: "". */
  moments: [string, string][];
  /** By part: bytes at each moment. */
  parts: { part: string; bytes: number[] }[];
}

export interface Direction extends LinkUse {
  capacity_bytes_per_s: number | null;
  latency_s: number;
}

export interface Device {
  name: string;
  kind: string;
  node: number;
}

export interface PlatformLink {
  a: string;
  b: string;
  kind: string;
  count: number;
  there: Direction;
  back: Direction;
}

export interface Platform {
  name: string;
  nodes: number;
  nodes_shown: number;
  devices: Device[];
  links: PlatformLink[];
  memories: (Direction & { device: string })[];
}

export interface AnyDocument {
  schema: number;
  gradway: string;
  /** Name of the scenario or of the file of cases. */
  scenario: string;
  title: string;
}

export interface RunDocument extends AnyDocument {
  kind: 'run';
  headline: { model: string; hardware: string; strategy: string };
  report: Report;
  timeline: Timeline;
  pipeline?: Pipeline;
  buckets: Bucket[];
  use: UseOverTime[];
  memory_over_step?: MemoryOverStep;
  platform: Platform;
  /** If the page can simulate other settings. */
  what_if?: WhatIf;
}

export type SweepPoint = { set: Record<string, string> } & Partial<Report> & { error?: string };

/** Runs that are tied for the first place; the index of the first one comes first. */
export interface Tie {
  runs: number[];
  /** For each run the probability that the first is ahead of it. */
  first_is_ahead: number[];
  difference: number;
}

/** Indices of the winners; null if several runs are tied or none can be ranked. */
export interface Ranking {
  fastest?: number | null;
  cheapest?: number | null;
  shortest_step?: number | null;
  tied?: { fastest: Tie | null; cheapest: Tie | null; shortest_step: Tie | null };
}

/** The values of one key, one per point or null; with `distinct`, indices into it. */
export interface Column {
  path: string;
  values: unknown[];
  distinct?: unknown[];
}

/** A sweep as in the document. */
export interface GivenSweep extends Ranking {
  vary: { key: string; values: string[] }[];
  columns: Column[];
}

/** The same with its points assembled. */
export interface Swept extends Ranking {
  vary: { key: string; values: string[] }[];
  runs: SweepPoint[];
}

export interface SweepDocument extends AnyDocument {
  kind: 'sweep';
  sweep: GivenSweep;
}

export interface Costs {
  usd_per_step?: number | null;
  run_hours?: number | null;
  run_usd?: number | null;
  cheapest?: boolean;
  fastest?: boolean;
  /** Criteria in which it is tied with the best: speed, cost. */
  tied?: string[];
  pareto?: boolean;
}

export interface ComparedRun extends Report {
  costs: Costs;
}

export interface CompareDocument extends AnyDocument {
  kind: 'compare';
  job: string;
  compare: Ranking & {
    scenario: string;
    samples?: number;
    tokens?: number;
    runs: ComparedRun[];
    /** The runs differ in their class of provenance. */
    mixed_evidence?: boolean;
    left_out: { platform: string; gpus: string | number; reason: string }[];
  };
}

export interface Case {
  name: string;
  measured_s: number;
  predicted_s: number;
  interval_s?: Range;
  in_interval?: boolean;
  error: number;
  /** Class of provenance and transport. */
  group?: string;
  /** The prediction is anchored to this step, so it is not counted. */
  is_given?: boolean;
  /** The measured step as an anchor, in YAML. */
  anchor?: string;
}

export interface ValidateDocument extends AnyDocument {
  kind: 'validate';
  validate: {
    source?: string;
    cases: Case[];
    mean_abs_error: number;
    median_abs_error: number;
    max_abs_error: number;
    bias: number;
    /** Number of cases without `is_given`. */
    counted?: number;
    /** Number of counted cases within their interval. */
    in_interval?: number;
    /** The same, by group. */
    coverage?: { group: string; cases: number; in_interval: number }[];
  };
}

/** A what-if of an explanation; see DATA.md. */
export interface Counterfactual {
  name: string;
  words: string;
  set: Record<string, string>;
  step_time_s: number;
  gain: number;
  gain_s: number;
  /** A bound that no system reaches, such as perfect overlap. */
  bound: boolean;
}

export interface ExplainDocument extends AnyDocument {
  kind: 'explain';
  headline: { model: string; hardware: string; strategy: string };
  /** A command for each counterfactual that is no bound. */
  commands: string[];
  report: Report;
  explain: { evidence: string[]; exposed: { name: string; calls: number; exposed_s: number; why: string }[]; counterfactuals: Counterfactual[]; no_help: Counterfactual[]; basis: string[]; warnings: string[]; warning_codes: string[] };
}

/** A setting that was tried. */
export interface TriedSetting {
  set: Record<string, unknown>;
  step_time_s: number;
  interval: Range;
  samples_per_s: number;
  exposed_communication_s: number;
  memory_needed_bytes: number;
  cost_usd_per_million_samples: Maybe;
}

export interface OptimizeDocument extends AnyDocument {
  kind: 'optimize';
  job: string;
  optimize: {
    best: TriedSetting;
    fastest: TriedSetting;
    defaults: TriedSetting | null;
    as_written: TriedSetting | null;
    verdict: string;
    bucket_caps?: { points: { bucket_cap_mib: number; step_time_s: number }[]; within: number; from_mib: number; to_mib: number } | null;
    left_out: { reason?: string }[];
    basis: string[];
    warnings: string[];
    warning_codes: string[];
    settings: number;
    simulated: number;
    [code: string]: unknown;
  };
}

/** A simulated layout; the fastest comes first. */
export interface TriedLayout {
  /** Keys and values for `--set`. */
  set: Record<string, string>;
  step_time_s: number;
  interval: Range;
  samples_per_s: number;
  tokens_per_s_per_gpu: Maybe;
  mfu: Maybe;
  memory_needed_bytes: number;
  cost_usd_per_million_samples: Maybe;
  tied_with_fastest: boolean;
  /** No other layout is both faster and needs less memory. */
  on_front: boolean;
}

export interface LayoutsDocument extends AnyDocument {
  kind: 'layouts';
  layouts: { global_batch: number; layouts: TriedLayout[]; candidates: number; do_not_fit: number; basis: string[]; warnings: string[]; warning_codes: string[]; [code: string]: unknown };
}
