// SPDX-License-Identifier: Apache-2.0
// The document of several campaigns; see DATA.md.
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
  /** Description of the layout, if layouts were searched. */
  layout?: string;
  estimate?: Estimate;
  limits?: Limits;
  error?: string;
}

export interface CampaignPoints {
  vary: { key: string; values: string[] }[];
  limits: { deadline_s: Maybe; budget_usd: Maybe; sure: number };
  runs: CampaignPoint[];
  /** Index of the winner; null if several are tied or none can be ranked. */
  fastest: number | null;
  cheapest: number | null;
  tied?: { fastest: Tie | null; cheapest: Tie | null };
  best: number | null;
}

export interface CampaignsDocument extends AnyDocument {
  kind: 'campaigns';
  campaigns: CampaignPoints;
}
