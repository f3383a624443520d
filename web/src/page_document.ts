// SPDX-License-Identifier: Apache-2.0
// Every document that the page can show.
import type { CampaignDocument } from './campaign/document';
import type { CampaignsDocument } from './campaigns/document';
import type { CompareDocument, ExplainDocument, LayoutsDocument, OptimizeDocument, RunDocument, SweepDocument, ValidateDocument } from './document';
import type { PlanDocument } from './plan/document';
import type { UiDocument } from './ui/document';

export type PageDocument = ExplainDocument | OptimizeDocument | LayoutsDocument | RunDocument | CampaignDocument | CampaignsDocument | SweepDocument | CompareDocument | PlanDocument | ValidateDocument | UiDocument;
