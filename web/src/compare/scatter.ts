// SPDX-License-Identifier: Apache-2.0
// Cost against time, with intervals and the Pareto front.
import { valueAxis } from '../axes';
import { draw, legend, section, type Option } from '../chart';
import type { ComparedRun } from '../document';
import { choice, h, tip, type TipRow } from '../dom';
import { counted, known, rangeText } from '../format';
import { measure, measuresOf, rangeOf, type Measure } from '../measures';
import { namesAbove } from '../names_above';
import { shapeOf, symbolOf } from '../shapes';
import { onTheme, palette, type Palette } from '../theme';
import { spanOf, whiskers } from '../whiskers';
import { fullName, marks, namer, platformsOf } from './choice';
import { compareTable } from './table';

interface State {
  cost: Measure;
  time: Measure;
}

const both = (runs: ComparedRun[], { cost, time }: State): ComparedRun[] =>
  runs.filter((run) => known(cost.value(run)) && known(time.value(run)));

/** The runs on the document's Pareto front, cheapest first. */
const front = (runs: ComparedRun[], state: State): ComparedRun[] =>
  both(runs, state)
    .filter((run) => run.costs.pareto && isPlane(runs, state))
    .sort((a, b) => state.cost.value(a)! - state.cost.value(b)!);

const sameBatch = (runs: ComparedRun[]): boolean =>
  new Set(runs.map(({ scenario: { job } }) => job.gpus * job.batch_per_gpu * job.accumulate)).size === 1;

/** Whether the axes are those of the Pareto front (samples/s and cost per sample); elsewhere a line would be meaningless. */
function isPlane(runs: ComparedRun[], { cost, time }: State): boolean {
  const perSample = ['million', 'run_usd'].includes(cost.id) || (cost.id === 'usd_step' && sameBatch(runs));
  return perSample && (['samples', 'run_hours'].includes(time.id) || sameBatch(runs));
}

function runTip(run: ComparedRun, state: State): string {
  const rows = [state.time, state.cost, measure('hour'), measure('samples')]
    .filter((one, i, all) => all.indexOf(one) === i && known(one.value(run)))
    .flatMap((one): TipRow[] => {
      const range = rangeOf(run, one);
      const rows: TipRow[] = [[one.name, one.text(one.value(run)), one.value(run)]];
      if (range) rows.push(['90 % interval', rangeText(range, one.text)]);
      return rows;
    });
  return tip(fullName(run), rows, [marks(run), `bottleneck: ${run.bottleneck.resource}`].filter(Boolean).join('; '));
}

/** With too many platforms to distinguish, only those on the front have their own colour and shape. */
const mostSeries = 6;

/** The platforms with their own colour. */
function coloured(runs: ComparedRun[]): string[] {
  const all = platformsOf(runs);
  return all.length <= mostSeries ? all : platformsOf(runs.filter((run) => run.costs.pareto)).slice(0, mostSeries);
}

const isMain = (run: ComparedRun, platforms: string[]): boolean => platforms.includes(run.scenario.platform);

function option(runs: ComparedRun[], state: State, colours: Palette, width: number): { option: Option; top: number } {
  const { cost, time } = state;
  const name = namer(runs);
  const platforms = coloured(runs);
  const colourOf = (run: ComparedRun): string => (isMain(run, platforms) ? colours.series[platforms.indexOf(run.scenario.platform)]! : colours.other);
  const symbol = (run: ComparedRun): string => symbolOf(isMain(run, platforms) ? platforms.indexOf(run.scenario.platform) : 0);
  // Points of the front are named first.
  const order = (run: ComparedRun): number => Number(!run.costs.pareto) * 2 + Number(!isMain(run, platforms));
  const shown = both(runs, state).sort((a, b) => order(a) - order(b));
  const of = (one: Measure) => spanOf(shown.map((run) => one.value(run)), shown.map((run) => rangeOf(run, one)));
  const at = (run: ComparedRun): [number, number] => [cost.value(run)!, time.value(run)!];
  const xAxis = valueAxis({ span: of(cost), text: cost.text, name: cost.name, colours });
  const [left, right] = [66, 26];
  const names = namesAbove(shown.map((run) => ({ name: name(run), at: at(run), high: isMain(run, platforms) ? rangeOf(run, time)?.[1] : undefined })), { axis: xAxis, left, right, width, colours });
  const option = {
    grid: { left, right, top: names.top, bottom: 50 },
    tooltip: {
      formatter: (item: unknown) => runTip(shown[(item as { dataIndex: number }).dataIndex]!, state),
    },
    xAxis,
    yAxis: valueAxis({ span: of(time), text: time.text, seconds: time.seconds, name: time.name, colours, vertical: true, nameGap: names.nameGap }),
    series: [
      {
        type: 'scatter',
        z: 5,
        data: shown.map((run) => ({
          value: at(run),
          symbol: symbol(run),
          symbolSize: run.costs.pareto ? 15 : isMain(run, platforms) ? 11 : 8,
          itemStyle: { color: colourOf(run), borderColor: run.costs.pareto ? colours.text : colours.background, borderWidth: run.costs.pareto ? 1.5 : 1 },
        })),
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 2 } },
      },
      {
        type: 'line',
        silent: true,
        symbol: 'none',
        z: 2,
        data: front(runs, state).map(at),
        lineStyle: { color: colours.text, width: 1.5, type: 'dashed' },
      },
      whiskers(shown.filter((run) => isMain(run, platforms)).map((run) => ({ at: at(run), x: rangeOf(run, cost), y: rangeOf(run, time), colour: colourOf(run) })), { z: 3 }),
      names.series,
    ],
  } as Option;
  return { option, top: names.top };
}

function finding(runs: ComparedRun[], state: State): string {
  const name = namer(runs);
  const first = front(runs, state);
  const low = first[0];
  const high = first[first.length - 1];
  if (!low || !high) return 'Cost against time';
  if (low === high) return low.costs.fastest && low.costs.cheapest ? `${name(low)} is both the fastest and the cheapest` : `${name(low)} is first in both, but others are tied with it`;
  const which = [low.costs.cheapest ? ', cheapest,' : '', high.costs.fastest ? ', fastest' : ''];
  return `${first.length} of ${runs.length} are on the Pareto front: from ${name(low)}${which[0]} to ${name(high)}${which[1]}`;
}

/** Null without prices. */
export function costAgainstTime(runs: ComparedRun[]): HTMLElement | null {
  const costs = measuresOf(runs, ['million', 'usd_step', 'run_usd', 'hour']);
  const times = measuresOf(runs, ['step', 'samples', 'run_hours']);
  if (costs.length === 0 || times.length === 0) return null;
  // Speed is samples/s; with equal samples per step, step time is equivalent and easier to read.
  const ids = sameBatch(runs) ? ['step', 'samples'] : ['samples', 'step'];
  const state: State = { cost: costs[0]!, time: times.find((one) => one.id === ids[0]) ?? times[0]! };
  const unpriced = runs.length - both(runs, state).length;
  const platforms = coloured(runs);
  const chart = draw({
    label: finding(runs, state),
    height: (width) => (width < 560 ? 360 : 440) + option(runs, state, palette(), width).top,
    stops: () => both(runs, state).map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: runs.length, make: () => compareTable(runs) },
    option: (colours, width) => option(runs, state, colours, width).option,
  });
  const pick = (change: Partial<State>): void => {
    Object.assign(state, change);
    chart.redraw();
  };
  const key = h('div', {});
  const showKey = (): void => {
    const { series, text, other } = palette();
    key.replaceChildren(
      legend([
        ...platforms.map((platform, i): [string, string, string] => [series[i]!, platform, `shape ${shapeOf(i)}`]),
        ...(platforms.length < platformsOf(runs).length ? ([[other, 'other platforms: hover for the name', `shape ${shapeOf(0)}`]] as [string, string, string][]) : []),
        [text, 'Pareto front: no other is both faster and cheaper', 'dash'],
      ]),
    );
  };
  showKey();
  onTheme(showKey);
  return section(
    'cost',
    'Cost against time',
    finding(runs, state),
    h(
      'div',
      { class: 'controls' },
      choice('Cost', costs.map((one) => [one.id, one.name]), state.cost.id, (id) => pick({ cost: measure(id) })),
      choice('Time', times.map((one) => [one.id, one.name]), state.time.id, (id) => pick({ time: measure(id) })),
    ),
    key,
    chart.element,
    h('p', { class: 'hint' }, 'Lines: 90 % intervals.', unpriced > 0 && ` ${counted(unpriced, 'choice')} without a price ${unpriced === 1 ? 'is' : 'are'} left out here.`),
  );
}
