// SPDX-License-Identifier: Apache-2.0
// The document of campaigns side by side; see DATA.md.
import type { Estimate } from '../campaign/document';
import type { AnyDocument, Maybe, Tie } from '../document';

export interface Limits {
  deadline_kept: Maybe;
  late_s: Maybe;
  budget_kept: Maybe;
  over_usd: Maybe;
}

export interface CampaignPoint {
  set: Record<string, string>;
  /** In words, if it was searched. */
  layout?: string;
  estimate?: Estimate;
  limits?: Limits;
  error?: string;
}

export interface CampaignPoints {
  vary: { key: string; values: string[] }[];
  limits: { deadline_s: Maybe; budget_usd: Maybe; sure: number };
  runs: CampaignPoint[];
  /** Ahead of all others; null where several are tied, or none can be ranked. */
  fastest: number | null;
  cheapest: number | null;
  tied?: { fastest: Tie | null; cheapest: Tie | null };
  best: number | null;
}

export interface CampaignsDocument extends AnyDocument {
  kind: 'campaigns';
  campaigns: CampaignPoints;
}
