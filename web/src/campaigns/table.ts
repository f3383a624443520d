// SPDX-License-Identifier: Apache-2.0
// All campaigns as a table: duration, cost, and excess over limits.
import { known, nothing, percentText, rangeText, spanText, usdText } from '../format';
import { cell, type Cell, type Table } from '../table';
import type { CampaignPoint, CampaignPoints } from './document';

/** "16-node, 50 %": the values that differ, in the order of the axes. */
export const nameOf = (point: CampaignPoint, all: CampaignPoints): string => {
  const differing = all.vary.filter(({ values }) => values.length > 1);
  return (differing.length > 0 ? differing : all.vary).map(({ key }) => point.set[key] ?? '').join(', ') || (point.layout ?? 'as written');
};

export const marksOf = (index: number, { best, fastest, cheapest, tied, limits }: CampaignPoints): string =>
  [
    index === best && (known(limits.deadline_s) || known(limits.budget_usd)) ? 'best' : '',
    index === fastest ? 'fastest' : '',
    tied?.fastest?.runs.includes(index) ? 'time tied' : '',
    index === cheapest ? 'cheapest' : '',
    tied?.cheapest?.runs.includes(index) ? 'cost tied' : '',
  ].filter(Boolean).join(', ');

/** "2.1 days late, met by 3 %" */
export const missedText = (over: number | null | undefined, kept: number | null | undefined, text: (value: number) => string, word: string): string => {
  if (!known(over)) return nothing;
  return `${over > 0 ? `${text(over)} ${word}, ` : ''}met by ${percentText(kept)}`;
};

/** Enough of its runs are in time and within the budget. */
export const meetsLimits = ({ limits }: CampaignPoint): boolean => limits !== undefined && !(known(limits.late_s) && limits.late_s > 0) && !(known(limits.over_usd) && limits.over_usd > 0);

export function pointsTable(all: CampaignPoints): Table {
  const { vary, runs, limits } = all;
  const hasErrors = runs.some((run) => run.error);
  const hasLayouts = runs.some((run) => run.layout);
  const limitCells = ({ limits: kept }: CampaignPoint): Cell[] => [
    ...(known(limits.deadline_s) ? [cell(missedText(kept?.late_s, kept?.deadline_kept, spanText, 'late'), kept?.late_s ?? null)] : []),
    ...(known(limits.budget_usd) ? [cell(missedText(kept?.over_usd, kept?.budget_kept, usdText, 'over'), kept?.over_usd ?? null)] : []),
  ];
  return {
    caption: 'All campaigns',
    columns: [
      ...vary.map(({ key }) => ({ name: key === 'job.gpus' ? 'GPUs' : key })),
      ...(hasLayouts ? [{ name: 'layout' }] : []),
      ...['takes', '90 % interval', 'costs', '90 % interval', 'goodput'].map((name) => ({ name, number: true })),
      ...(known(limits.deadline_s) ? [{ name: `in ${spanText(limits.deadline_s)}` }] : []),
      ...(known(limits.budget_usd) ? [{ name: `for ${usdText(limits.budget_usd)}` }] : []),
      ...(hasErrors ? [{ name: 'why not' }] : []),
    ],
    rows: runs.map((run, index) => {
      const { estimate } = run;
      const usd = estimate?.usd;
      return [
        ...vary.map(({ key }, i) => cell(run.set[key] ?? '', undefined, i === 0 ? marksOf(index, all) || undefined : undefined)),
        ...(hasLayouts ? [cell(run.layout ?? '')] : []),
        cell(spanText(estimate?.seconds.median), estimate?.seconds.median ?? null),
        cell(estimate ? rangeText([estimate.seconds.low, estimate.seconds.high], spanText) : nothing, estimate?.seconds.low ?? null),
        cell(usdText(usd?.median), usd?.median ?? null),
        cell(usd ? rangeText([usd.low, usd.high], usdText) : nothing, usd?.low ?? null),
        cell(percentText(estimate?.goodput.median), estimate?.goodput.median ?? null),
        ...limitCells(run),
        ...(hasErrors ? [cell(run.error ?? '')] : []),
      ];
    }),
  };
}
