// SPDX-License-Identifier: Apache-2.0
// The document of the planner, and the answers of the engine to its questions; see DATA.md.
import type { CampaignPoints } from '../campaigns/document';
import type { Row } from './accuracy';
import type { AnyDocument, Maybe, Range, TriedLayout } from '../document';

/** What can be chosen, as text; '' is the default. Clusters are all platforms with all numbers of GPUs. */
export interface Choices {
  model: string;
  framework: string;
  sequence: string;
  global_batch: string;
  data: string;
  /** Separated by commas. */
  platforms: string;
  gpus: string;
  terms: string;
  failures: string;
  deadline: string;
  budget: string;
}

export interface ListedModel {
  name: string;
  /** 0: its samples are not sequences of tokens. */
  tokens_per_sample: number;
}

export interface ListedPlatform {
  name: string;
  gpu: string | null;
  gpus_per_node: number | null;
  cost_usd_per_hour: Maybe;
}

export interface PlanDocument extends AnyDocument {
  kind: 'plan';
  plan: {
    choices: Choices;
    models: ListedModel[];
    platforms: ListedPlatform[];
    frameworks: string[];
    terms: string[];
    failures: string[];
    /** Data folders among the files of the page that precede the installed data. */
    roots: string[];
  };
  /** What web/site.mjs adds. */
  site?: {
    /** Pages beside this one. */
    links: [text: string, address: string][];
    /** Answers to the first questions, by their kind and text, so that the page shows them at once. */
    answers: Record<string, string>;
    /** All rows that predictions are compared with. */
    accuracy: Row[];
    /** Number of parameters by model. */
    parameters: Record<string, number>;
  };
}

/** The layout that was chosen for a cluster. */
export interface FoundLayout {
  /** Keys and values. */
  layout: [key: string, value: string][];
  words: string;
  step_time_s: number;
  interval: Range;
  tokens_per_s_per_gpu: Maybe;
  mfu: Maybe;
  memory_needed_bytes: number;
  memory_verdict: string;
  /** The document of `gradway optimize --layout`; null: the model cannot be distributed. */
  search: { layouts: TriedLayout[] } | null;
}

export type Campaigns = CampaignPoints;
