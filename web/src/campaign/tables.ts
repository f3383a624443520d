// SPDX-License-Identifier: Apache-2.0
// What would help, and the cost by terms of payment.
import { section } from '../chart';
import { h } from '../dom';
import { known, nothing, percentText, rangeText, spanText, usdText } from '../format';
import { cell, tableOf, type Cell, type Table } from '../table';
import type { CampaignReport, Estimate } from './document';

const timeCells = ({ seconds, usd, goodput }: Estimate): Cell[] => [
  cell(spanText(seconds.median), seconds.median),
  cell(rangeText([seconds.low, seconds.high], spanText), seconds.low),
  cell(usdText(usd?.median), usd?.median ?? null),
  cell(usd ? rangeText([usd.low, usd.high], usdText) : nothing, usd?.low ?? null),
  cell(percentText(goodput.median), goodput.median),
];
const timeColumns = [{ name: 'takes', number: true }, { name: '90 % interval', number: true }, { name: 'costs', number: true }, { name: '90 % interval', number: true }, { name: 'goodput', number: true }];

/** An amount saved, with a minus, or added, with a plus. */
const saved = (value: number | null | undefined, text: (value: number) => string): string =>
  known(value) ? `${value < 0 ? '+' : value > 0 ? '−' : ''}${text(Math.abs(value))}` : nothing;

const whatIfTable = ({ what_ifs: all }: CampaignReport): Table => ({
  caption: 'What would help',
  columns: [{ name: 'change' }, { name: 'time, on average', number: true }, { name: 'cost, on average', number: true }, ...timeColumns],
  rows: all.map((one) => [cell(one.change), cell(saved(one.saves_s, spanText), one.saves_s), cell(saved(one.saves_usd, usdText), one.saves_usd ?? null), ...timeCells(one.estimate)]),
});

/** "spot for 50 % of the nodes, the others on demand" */
const termsText = ({ terms, share_of_nodes: share }: CampaignReport['terms'][number]): string =>
  terms.replace('_', ' ') + (share < 1 ? ` for ${percentText(share)} of the nodes, the others on demand` : '');

const termsTable = ({ terms }: CampaignReport): Table => ({
  caption: 'Terms of payment',
  columns: [{ name: 'terms' }, { name: 'per node-hour', number: true }, ...timeColumns],
  rows: terms.map((one) => [cell(termsText(one)), cell(usdText(one.usd_per_node_hour), one.usd_per_node_hour), ...timeCells(one.estimate)]),
});

export function whatIfs(report: CampaignReport): HTMLElement | null {
  const best = [...report.what_ifs].sort((a, b) => b.saves_s - a.saves_s)[0];
  if (!best) return null;
  const title = best.saves_s > 0 ? `${best.change}: ${spanText(best.saves_s)} less` : 'None of the changes would help';
  return section('what-ifs', 'What would help', title, tableOf(whatIfTable(report)));
}

export function terms(report: CampaignReport): HTMLElement | null {
  if (report.terms.length < 2) return null;
  const cheapest = [...report.terms].sort((a, b) => (a.estimate.mean_usd ?? Infinity) - (b.estimate.mean_usd ?? Infinity))[0]!;
  return section('terms', 'Terms of payment', `${termsText(cheapest)} costs least, ${usdText(cheapest.estimate.usd?.median)}`, tableOf(termsTable(report)));
}

export const definitions = (report: CampaignReport): HTMLElement =>
  h(
    'details',
    { class: 'box', id: 'definitions', 'data-print': true },
    h('summary', {}, 'Definitions'),
    h('dl', { class: 'definitions' }, ...Object.entries(report.definitions).flatMap(([key, text]) => [h('dt', {}, report.labels[key] ?? key), h('dd', {}, text)])),
  );
