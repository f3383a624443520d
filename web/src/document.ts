// SPDX-License-Identifier: Apache-2.0
// The documents that the page can show, except campaigns; see DATA.md. Optional keys may be missing in documents of earlier versions.

import type { Scenario as Written, ScenarioJob, ScenarioStrategy } from './scenario';

export type Range = [number, number];
export type Maybe = number | null | undefined;

export interface Metrics {
  step_time_s: number;
  steps_per_s: number;
  samples_per_s: number;
  /** Of models of text. */
  tokens_per_s?: Maybe;
  tokens_per_s_per_gpu?: Maybe;
  compute_s: number;
  communication_s: number;
  exposed_communication_s: number;
  input_wait_s: number;
  optimizer_s: number;
  launch_bound_s: number;
  idle_s: number;
  gpu_busy_fraction: number;
  tflops_per_gpu: number;
  mfu?: Maybe;
  collectives: number;
  bytes_sent_per_gpu: number;
  peak_memory_bytes: number;
  cost_usd_per_hour: number | null;
  cost_usd_per_million_samples: number | null;
  bus_bandwidth_bytes_per_s?: number;
  /** Of a pipeline. */
  bubble_s?: Maybe;
}

/** A whole training; what was not asked for or is not known is null. */
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
  /** How many others carry as much at the same time and are not listed. */
  alike?: number;
}

/** A scenario as a report repeats it, defaults included. */
export interface Scenario extends Written {
  platform: string;
  job: Written['job'] & Required<Pick<ScenarioJob, 'gpus' | 'batch_per_gpu' | 'precision' | 'accumulate'>>;
  strategy: ScenarioStrategy & Required<Pick<ScenarioStrategy, 'kind'>>;
  optimizer: NonNullable<Written['optimizer']>;
}

export interface Price {
  usd_per_node_hour: number;
  region: string;
  date: string;
  source: string;
}

/** The parts of a step. */
export type Parts = Pick<Metrics, 'compute_s' | 'exposed_communication_s' | 'input_wait_s' | 'optimizer_s' | 'launch_bound_s' | 'idle_s'>;

/** The ranks of a stage of a pipeline. */
export interface Program extends Parts {
  name: string;
  ranks: number;
  memory: Record<string, number>;
}

/** stage, start in us, duration in us, kind (forward, backward, gradients of inputs, of parameters), micro-batch, chunk */
export type Pass = [number, number, number, number, number, number];

export interface Pipeline {
  to_us: number;
  /** Passes that begin later are not there; null: all are. */
  until_us: number | null;
  stages: string[];
  chunks: number;
  passes: Pass[];
}

export interface Report {
  gradway: string;
  scenario: Scenario;
  engine: string;
  ranks: { all: number; simulated: number };
  metrics: Metrics;
  interval: { step_time_s: Range; [key: string]: Range | null | undefined };
  /** false: the job would run out of memory, and all else is what it would take if it did not. */
  fits?: boolean;
  does_not_fit?: string | null;
  /** Where the GPU's memory lies in the 90 % interval of what is needed; null: not all activations are known. */
  memory_verdict?: 'fits' | 'tight' | 'may not fit' | 'does not fit' | null;
  memory_largest_part?: string;
  memory: Record<string, number>;
  price: Price | null;
  bottleneck: { resource: string; why: string };
  links: LinkUse[];
  /** In a word: measured, anchored, kernels, moved or datasheet. */
  rests_on?: string;
  /** Less busy ones, neither listed nor like one that is. */
  links_left_out?: number;
  basis: string[];
  warnings: string[];
  warning_codes: string[];
  training?: Training;
  /** Of a pipeline. */
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

export interface Timeline {
  step: { from_us: number; to_us: number };
  ranks: string;
  /** Neighbours shorter than this are joined; null: each slice is there. */
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
  /** Of its gradients: all-reduce, reduce-scatter. */
  collective: string;
  ready_us: number;
  start_us: number;
  end_us: number;
}

export interface UseOverTime {
  name: string;
  /** How many others do the same at the same time. */
  alike?: number;
  /** Points are averages over so long; null: each change is there. */
  bin_us?: number | null;
  points: [number, number][];
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
  /** The name of the scenario, or of what was validated. */
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
  platform: Platform;
}

export type SweepPoint = { set: Record<string, string> } & Partial<Report> & { error?: string };

/** Those that come first and differ by less than is known; the first one's index is first. */
export interface Tie {
  runs: number[];
  /** For each of the runs: probability that the first is ahead of it. */
  first_is_ahead: number[];
  difference: number;
}

/** Indices of runs that are ahead of all others; null where several are tied, or none can be ranked. */
export interface Ranking {
  fastest?: number | null;
  cheapest?: number | null;
  shortest_step?: number | null;
  tied?: { fastest: Tie | null; cheapest: Tie | null; shortest_step: Tie | null };
}

/** One key of all points: a value each, or null; with `distinct`, the place of the value there. */
export interface Column {
  path: string;
  values: unknown[];
  distinct?: unknown[];
}

/** A sweep as the document has it. */
export interface GivenSweep extends Ranking {
  vary: { key: string; values: string[] }[];
  columns: Column[];
}

/** The same with its points put together. */
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
  /** What it is tied in with others that come first: speed, cost. */
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
    /** The runs rest on evidence of different kinds. */
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
  /** What it rests on, and over what ranks exchange. */
  group?: string;
  /** The very step that the prediction was given, which counts nowhere. */
  is_given?: boolean;
  /** What the case would be as an anchor, in YAML. */
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
    /** How many cases were not given. */
    counted?: number;
    /** How many of these. */
    in_interval?: number;
    /** The same by group. */
    coverage?: { group: string; cases: number; in_interval: number }[];
  };
}

/** What would help, or not; see DATA.md. */
export interface Counterfactual {
  name: string;
  words: string;
  set: Record<string, string>;
  step_time_s: number;
  gain: number;
  gain_s: number;
  /** No system reaches it: perfect overlap, for one. */
  bound: boolean;
}

export interface ExplainDocument extends AnyDocument {
  kind: 'explain';
  headline: { model: string; hardware: string; strategy: string };
  /** What runs the scenario as it was explained. */
  command: string;
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

/** A layout that was simulated; the fastest is first. */
export interface TriedLayout {
  /** As `--set` takes them. */
  set: Record<string, string>;
  step_time_s: number;
  interval: Range;
  samples_per_s: number;
  tokens_per_s_per_gpu: Maybe;
  mfu: Maybe;
  memory_needed_bytes: number;
  cost_usd_per_million_samples: Maybe;
  tied_with_fastest: boolean;
  /** No other is both faster and needs less memory. */
  on_front: boolean;
}

export interface LayoutsDocument extends AnyDocument {
  kind: 'layouts';
  layouts: { global_batch: number; layouts: TriedLayout[]; candidates: number; do_not_fit: number; basis: string[]; warnings: string[]; warning_codes: string[]; [code: string]: unknown };
}
