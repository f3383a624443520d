// SPDX-License-Identifier: Apache-2.0
// Comparison of campaigns: which meet their limits, the fastest, the cheapest, and the excess over limits.
import { section } from '../chart';
import { counted, known, percentText, rangeText, spanText, usdText } from '../format';
import { tiles, title, type Tile } from '../header';
import { tableOf } from '../table';
import type { CampaignsDocument } from './document';
import { daysAgainstDollars } from './scatter';
import { meetsLimits, nameOf, pointsTable } from './table';

export function campaignsPage({ title: name, campaigns: all }: CampaignsDocument): HTMLElement[] {
  const { runs, limits, fastest, cheapest, tied, best } = all;
  const hasLimits = known(limits.deadline_s) || known(limits.budget_usd);
  const asked = [known(limits.deadline_s) && `in ${spanText(limits.deadline_s)}`, known(limits.budget_usd) && `for ${usdText(limits.budget_usd)}`].filter(Boolean).join(', ');
  const tile = (word: string, index: number | null, isCost: boolean): Tile | null => {
    const run = index === null ? undefined : runs[index];
    const figure = isCost ? run?.estimate?.usd : run?.estimate?.seconds;
    if (!run || !figure) return null;
    const text = isCost ? usdText : spanText;
    return { name: word, text: text(figure.median), exact: figure.median, notes: [nameOf(run, all), `90 % interval: ${rangeText([figure.low, figure.high], text)}`] };
  };
  const kept = runs.filter(meetsLimits).length;
  const parts = [
    title(name, [counted(runs.length, 'campaign'), hasLimits ? `${asked}, by ${percentText(limits.sure)} of the runs` : ''].filter(Boolean).join(' · ')),
    tiles([
      hasLimits && (tile('Best', best, true) ?? tile('Best', best, false) ?? { name: 'Best', text: 'none', exact: null, notes: ['none meets its limits'] }),
      tile(tied?.fastest ? 'Fastest (tied)' : 'Fastest', fastest ?? tied?.fastest?.runs[0] ?? null, false),
      tile(tied?.cheapest ? 'Cheapest (tied)' : 'Cheapest', cheapest ?? tied?.cheapest?.runs[0] ?? null, true),
      hasLimits && { name: 'Meet their limits', text: String(kept), exact: kept, notes: [`of ${runs.length}`] },
    ]),
    daysAgainstDollars(all),
    section('runs', 'Table', `${counted(runs.length, 'campaign')}, sorted by a click on a heading`, tableOf(pointsTable(all))),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}
