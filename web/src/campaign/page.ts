// SPDX-License-Identifier: Apache-2.0
// A whole training: duration, cost, certainty and causes.
import { countText, counted, known, percentText, rangeText, spanText, timeText, usdText } from '../format';
import { answer, basis, tiles, title, warnings, what } from '../header';
import { coded } from '../summary';
import { clients, movedData } from './clients';
import { course } from './course';
import type { CampaignDocument, CampaignReport, Spread } from './document';
import { interval } from './interval';
import { spread } from './spread';
import { definitions, terms, whatIfs } from './tables';
import { timeline } from './timeline';
import { waterfall } from './waterfall';

/** Duration and cost with their intervals. */
function campaignAnswer({ estimate: { seconds, usd } }: CampaignReport): string {
  const range = ({ low, high }: Spread, text: (value: number) => string): string => `(90 % interval: ${rangeText([low, high], text)})`;
  return `The training takes ${spanText(seconds.median)} ${range(seconds, spanText)}${usd ? ` and costs ${usdText(usd.median)} ${range(usd, usdText)}` : ''}.`;
}

export function campaignPage(data: CampaignDocument): HTMLElement[] {
  const { headline, campaign } = data;
  const { estimate, plan, limits } = campaign;
  const { seconds, usd, goodput, interruptions, kg_co2: carbon } = estimate;
  const parts = [
    title(data.title, what([plan.rounds ? '' : headline.model, plan.rounds ? '' : headline.hardware, plan.rounds ? `${counted(plan.nodes, 'client')} of ${plan.rounds.classes.length} classes` : headline.strategy], data)),
    answer(campaignAnswer(campaign)),
    tiles([
      { name: 'Takes', text: spanText(seconds.median), exact: seconds.median, notes: [`90 % interval: ${rangeText([seconds.low, seconds.high], spanText)}`, known(limits.deadline_s) && `${percentText(limits.deadline_kept)} of the runs keep ${spanText(limits.deadline_s)}`] },
      usd && { name: 'Costs', text: usdText(usd.median), exact: usd.median, notes: [`90 % interval: ${rangeText([usd.low, usd.high], usdText)}`, known(limits.budget_usd) && `${percentText(limits.budget_kept)} of the runs keep ${usdText(limits.budget_usd)}`] },
      { name: 'Goodput', text: percentText(goodput.median), exact: goodput.median, notes: [`ETTR ${percentText(estimate.ettr.median)}`] },
      plan.rounds && { name: 'Rounds', text: countText(Math.round(plan.steps / plan.rounds.inner_steps)), exact: Math.round(plan.steps / plan.rounds.inner_steps), notes: [`of ${countText(plan.rounds.inner_steps)} steps; ${countText(plan.rounds.asked)} clients are asked, ${countText(plan.rounds.target)} updates end one`] },
      !plan.rounds && { name: 'Interruptions', text: countText(interruptions.median), exact: interruptions.median, notes: [known(plan.job_mttf_s) && `one in ${spanText(plan.job_mttf_s)}`, known(plan.job_mttf_s) && `${spanText(plan.restart_s)} to go on`] },
      { name: 'Steps', text: countText(plan.steps), exact: plan.steps, notes: [`${timeText(plan.step_s)} each`] },
      carbon && { name: 'CO2', text: `${Number((carbon.median / 1000).toPrecision(4))} t`, exact: carbon.median },
    ]),
    warnings(coded(campaign)),
    clients(campaign),
    plan.rounds ? null : timeline(campaign),
    course(campaign),
    waterfall(campaign),
    spread(campaign),
    campaign.interval.curve.length > 1 ? interval(campaign.interval) : null,
    whatIfs(campaign),
    terms(campaign),
    movedData(campaign),
    definitions(campaign),
    basis(campaign.basis),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}
