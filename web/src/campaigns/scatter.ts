// SPDX-License-Identifier: Apache-2.0
// Days against dollars, with 90 % intervals and limits.
import { valueAxis } from '../axes';
import { draw, section, type Option } from '../chart';
import type { Range } from '../document';
import { tip } from '../dom';
import { known, rangeText, spanText, usdText } from '../format';
import { namesAbove } from '../names_above';
import { symbolOf } from '../shapes';
import { palette, type Palette } from '../theme';
import { spanOf, whiskers } from '../whiskers';
import type { CampaignPoint, CampaignPoints } from './document';
import { marksOf, nameOf, pointsTable } from './table';

type Priced = CampaignPoint & { estimate: NonNullable<CampaignPoint['estimate']> & { usd: NonNullable<NonNullable<CampaignPoint['estimate']>['usd']> } };

const priced = (all: CampaignPoints): Priced[] => all.runs.filter((run): run is Priced => known(run.estimate?.usd?.median));

const usdOf = ({ estimate: { usd } }: Priced): Range => [usd.low, usd.high];
const timeOf = ({ estimate: { seconds } }: Priced): Range => [seconds.low, seconds.high];

function pointTip(run: Priced, all: CampaignPoints): string {
  const { seconds, usd } = run.estimate;
  return tip(nameOf(run, all), [
    ['takes', spanText(seconds.median), seconds.median],
    ['nine of ten', rangeText(timeOf(run), spanText)],
    ['costs', usdText(usd.median), usd.median],
    ['nine of ten', rangeText(usdOf(run), usdText)],
  ], marksOf(all.runs.indexOf(run), all));
}

function option(all: CampaignPoints, colours: Palette, width: number): { option: Option; top: number } {
  const shown = priced(all);
  const { deadline_s: deadline, budget_usd: budget } = all.limits;
  const usd = spanOf([...shown.map((run) => run.estimate.usd.median), budget], shown.map(usdOf));
  const seconds = spanOf([...shown.map((run) => run.estimate.seconds.median), deadline], shown.map(timeOf));
  const colour = (run: Priced): string => (all.runs.indexOf(run) === all.best ? colours.series[1]! : colours.series[0]!);
  const line = (from: [number, number], to: [number, number]): object => ({ type: 'line', silent: true, showSymbol: false, z: 1, data: [from, to], lineStyle: { color: colours.muted, type: 'dashed', width: 1.5 }, tooltip: { show: false } });
  const xAxis = valueAxis({ span: usd, text: usdText, name: 'cost of the campaign', colours });
  const [left, right] = [76, 26];
  const names = namesAbove(shown.map((run) => ({ name: nameOf(run, all), at: [run.estimate.usd.median, run.estimate.seconds.median], high: timeOf(run)[1] })), { axis: xAxis, left, right, width, colours });
  const option = {
    grid: { left, right, top: names.top, bottom: 50 },
    tooltip: { formatter: (item: unknown) => pointTip(shown[(item as { dataIndex: number }).dataIndex]!, all) },
    xAxis,
    yAxis: valueAxis({ span: seconds, text: spanText, seconds: 1, name: 'time of the campaign', colours, vertical: true, nameGap: names.nameGap }),
    series: [
      {
        type: 'scatter',
        z: 5,
        data: shown.map((run) => ({ value: [run.estimate.usd.median, run.estimate.seconds.median], symbol: symbolOf(0), symbolSize: 12, itemStyle: { color: colour(run), borderColor: colours.background, borderWidth: 1 } })),
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 2 } },
      },
      whiskers(shown.map((run) => ({ at: [run.estimate.usd.median, run.estimate.seconds.median], x: usdOf(run), y: timeOf(run), colour: colour(run) })), { z: 3 }),
      names.series,
      ...(known(deadline) ? [line([usd[0], deadline], [usd[1], deadline])] : []),
      ...(known(budget) ? [line([budget, seconds[0]], [budget, seconds[1]])] : []),
    ],
  } as Option;
  return { option, top: names.top };
}

/** Null without prices. */
export function daysAgainstDollars(all: CampaignPoints): HTMLElement | null {
  const shown = priced(all);
  if (shown.length < 2) return null;
  const best = all.best === null ? undefined : all.runs[all.best];
  const title = best ? `${nameOf(best, all)}: ${spanText(best.estimate?.seconds.median)} for ${usdText(best.estimate?.usd?.median)}` : 'None meets its limits';
  const chart = draw({
    label: `${title}. Time of each campaign against its cost.`,
    height: (width) => (width < 560 ? 340 : 420) + option(all, palette(), width).top,
    stops: () => shown.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: all.runs.length, make: () => pointsTable(all) },
    option: (colours, width) => option(all, colours, width).option,
  });
  return section('days-dollars', 'Days and dollars', title, chart.element);
}
