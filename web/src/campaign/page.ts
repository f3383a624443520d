// SPDX-License-Identifier: Apache-2.0
// A whole training: how long, how much, how sure, and why.
import type { CampaignDocument } from '../document';
import { countText, known, percentText, rangeText, spanText, timeText, usdText } from '../format';
import { basis, tiles, title, warnings } from '../header';
import { interval } from './interval';
import { spread } from './spread';
import { definitions, terms, whatIfs } from './tables';
import { timeline } from './timeline';
import { waterfall } from './waterfall';

export function campaignPage({ title: name, headline, campaign }: CampaignDocument): HTMLElement[] {
  const { estimate, plan, limits } = campaign;
  const { seconds, usd, goodput, interruptions, kg_co2: carbon } = estimate;
  const parts = [
    title(name, [headline.model, headline.hardware, headline.strategy].filter(Boolean).join(' · ')),
    tiles([
      { name: 'Takes', text: spanText(seconds.median), exact: seconds.median, notes: [`nine of ten: ${rangeText([seconds.low, seconds.high], spanText)}`, known(limits.deadline_s) && `${percentText(limits.deadline_kept)} of the runs keep ${spanText(limits.deadline_s)}`] },
      usd && { name: 'Costs', text: usdText(usd.median), exact: usd.median, notes: [`nine of ten: ${rangeText([usd.low, usd.high], usdText)}`, known(limits.budget_usd) && `${percentText(limits.budget_kept)} of the runs keep ${usdText(limits.budget_usd)}`] },
      { name: 'Goodput', text: percentText(goodput.median), exact: goodput.median, notes: [`ETTR ${percentText(estimate.ettr.median)}`] },
      { name: 'Interruptions', text: countText(interruptions.median), exact: interruptions.median, notes: [known(plan.job_mttf_s) && `one in ${spanText(plan.job_mttf_s)}`, known(plan.job_mttf_s) && `${spanText(plan.restart_s)} to go on`] },
      { name: 'Steps', text: countText(plan.steps), exact: plan.steps, notes: [`${timeText(plan.step_s)} each`] },
      carbon && { name: 'CO2', text: `${Number((carbon.median / 1000).toPrecision(4))} t`, exact: carbon.median },
    ]),
    warnings(campaign.warnings),
    basis(campaign.basis, false),
    timeline(campaign),
    waterfall(campaign),
    spread(campaign),
    campaign.interval.curve.length > 1 ? interval(campaign.interval) : null,
    whatIfs(campaign),
    terms(campaign),
    definitions(campaign),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}
