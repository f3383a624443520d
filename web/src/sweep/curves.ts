// SPDX-License-Identifier: Apache-2.0
// A measure over one axis: curves if the axis is numeric, else bars.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { logarithmic, valueAxis } from '../axes';
import type { Option } from '../chart';
import { known } from '../format';
import { rangeOf } from '../measures';
import { symbolOf } from '../shapes';
import type { Palette } from '../theme';
import { spanOf, whiskers, type Whisker } from '../whiskers';
import { keyName } from './axis';
import { pointAt, type Best, type State } from './state';
import { drawnValues, places } from './thinned';
import { pointTip } from './tip';

/** The points of each curve, in the order of the axis. */
export function curves(state: State, best: Best): { name: string; points: number[] }[] {
  const { across, by } = drawnValues(state, best);
  return by.map((name) => ({ name, points: across.map((x) => pointAt(state, x, name)) }));
}

/** Marks that do not fit on an axis are omitted. */
const mostTicks = 40;

function xAxis(state: State, drawn: string[], colours: Palette): object {
  const { numbers, values } = state.x;
  const common = {
    name: keyName(state.x.key),
    nameLocation: 'middle',
    nameGap: 30,
    nameTextStyle: { color: colours.muted, fontSize: 12.5 },
    axisLine: { lineStyle: { color: colours.line } },
  };
  if (!numbers) return { ...common, type: 'category', data: drawn, axisTick: { show: false }, axisLabel: { color: colours.text, interval: 0, hideOverlap: true } };
  const [low, high] = spanOf(numbers, []);
  const isLog = logarithmic([low, high]) || (low > 0 && high / low >= 8);
  const pad = isLog ? (high / low) ** 0.04 : (high - low) * 0.04;
  const marked = places(numbers.length, mostTicks);
  const text = new Map(marked.map((i) => [numbers[i]!, values[i]!]));
  const ticks = [...text.keys()];
  const near = (number: number): string => text.get(ticks.reduce((a, b) => (Math.abs(b - number) < Math.abs(a - number) ? b : a)))!;
  return {
    ...common,
    type: isLog ? 'log' : 'value',
    logBase: 2,
    min: isLog ? low / pad : low - pad,
    max: isLog ? high * pad : high + pad,
    axisTick: { show: true, customValues: ticks },
    axisLabel: { color: colours.text, customValues: ticks, formatter: near, hideOverlap: true },
    splitLine: { show: false },
  };
}

/** The interval of a single curve, as a band. */
function band(points: [number, number, number][], colours: Palette): object {
  return {
    type: 'custom',
    silent: true,
    clip: true,
    z: 1,
    data: [points[0]!.slice(0, 2)],
    renderItem: (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
      const low = points.map(([x, from]) => api.coord([x, from]));
      const high = points.map(([x, , to]) => api.coord([x, to])).reverse();
      return { type: 'polygon', shape: { points: [...low, ...high] }, style: { fill: colours.band } } as never;
    },
  };
}

export function curvesOption(state: State, best: Best, colours: Palette, width: number): Option {
  const { measure, x } = state;
  const lines = curves(state, best);
  const drawn = drawnValues(state, best).across.map((value) => x.place.get(value)!);
  const runs = (points: number[]) => points.map((index) => state.runs[index]).filter((run) => run?.metrics);
  const shown = lines.flatMap((line) => runs(line.points));
  const span = spanOf(shown.map((run) => measure.value(run!)), shown.map((run) => rangeOf(run!, measure)));
  const placeOf = (i: number): number | string => x.numbers?.[drawn[i]!] ?? x.values[drawn[i]!]!;
  const colourOf = (line: number): string => colours.series[line % colours.series.length]!;
  const bounds: Whisker[] = [];
  const banded: [number, number, number][] = [];
  lines.forEach((line, at) =>
    line.points.forEach((index, i) => {
      const run = state.runs[index];
      const range = run && rangeOf(run, measure);
      const value = run && measure.value(run);
      if (!range || !known(value)) return;
      if (x.numbers && lines.length === 1) banded.push([x.numbers[drawn[i]!]!, range[0], range[1]]);
      else bounds.push({ at: [placeOf(i), value], y: range, colour: x.numbers ? colourOf(at) : colours.text, ...(!x.numbers && { of: [at, lines.length] as [number, number] }) });
    }),
  );
  const first = new Set(best.points);
  const series = lines.map((line, at) => ({
    type: x.numbers ? 'line' : 'bar',
    name: line.name,
    data: line.points.map((index, i) => {
      const run = state.runs[index];
      const value = run ? measure.value(run) : null;
      const isBest = first.has(index);
      return {
        value: x.numbers ? [placeOf(i), known(value) ? value : null] : known(value) ? value : null,
        point: index,
        ...(isBest && {
          symbolSize: 15,
          label: { show: true, formatter: best.tied ? 'tied' : 'best', position: 'top', distance: 6, color: colours.text, fontWeight: 600, backgroundColor: colours.background, padding: [1, 4], borderRadius: 3 },
        }),
      };
    }),
    symbol: symbolOf(at),
    symbolSize: 9,
    barGap: '15%',
    barCategoryGap: '35%',
    barMaxWidth: 60,
    z: 3,
    lineStyle: { width: 2, color: colourOf(at), type: (['solid', 'dashed', 'dotted'] as const)[at % 3] },
    itemStyle: { color: colourOf(at), borderColor: colours.background, borderWidth: 1 },
    emphasis: { focus: 'none', itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
  }));
  const many = lines.length > 1;
  return {
    grid: { left: 64, right: 18, top: many ? 62 : 40, bottom: 48 },
    // One line on a phone: it scrolls where names do not fit.
    ...(many && { legend: { left: 0, top: 0, type: lines.length > 10 || width < 560 ? 'scroll' : 'plain', data: lines.map((line) => line.name), textStyle: { color: colours.text }, itemGap: 16 } }),
    tooltip: {
      formatter: (item: unknown) => {
        const point = (item as { data?: { point?: number } }).data?.point ?? -1;
        return pointTip(state, point, best);
      },
    },
    xAxis: xAxis(state, drawn.map((i) => x.values[i]!), colours),
    yAxis: valueAxis({ span, text: measure.text, seconds: measure.seconds, name: measure.name, colours, vertical: true }),
    series: [...series, ...(banded.length > 1 ? [band(banded, colours)] : []), ...(bounds.length > 0 ? [whiskers(bounds)] : [])],
  } as Option;
}
