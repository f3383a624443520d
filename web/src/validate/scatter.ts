// SPDX-License-Identifier: Apache-2.0
// Predicted against measured: the line of agreement, bands around it, each case with its interval.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { logarithmic, valueAxis } from '../axes';
import { draw, legend, section, type Option } from '../chart';
import type { Case, Range } from '../document';
import { h } from '../dom';
import { timeText } from '../format';
import { onTheme, palette, type Palette } from '../theme';
import { spanOf, whiskers } from '../whiskers';
import { caseTable, caseTip } from './table';

const bands = [0.1, 0.05];

const inside = (cases: Case[], error: number): number => cases.filter((one) => Math.abs(one.error) <= error).length;

function finding(cases: Case[]): string {
  const near = inside(cases, bands[1]!);
  if (near === cases.length) return 'All predictions are within 5 % of the measurement';
  if (near * 2 >= cases.length) return `${near} of ${cases.length} predictions are within 5 % of the measurement`;
  return `${inside(cases, bands[0]!)} of ${cases.length} predictions are within 10 % of the measurement`;
}

/** Far enough beyond both ends to fill the chart, whose ends are round numbers. */
const beyond = (span: Range): Range => [logarithmic(span) ? span[0] / 10 : 0, span[1] * 10];

/** A band around the line of agreement; straight on both kinds of axes. */
function wedge(span: Range, error: number, colours: Palette): object {
  return {
    type: 'custom',
    silent: true,
    clip: true,
    z: 1,
    data: [span],
    renderItem: (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
      const [low, high] = beyond(span);
      const corner = (x: number, factor: number): number[] => api.coord([x, x * factor]);
      const points = [corner(low, 1 - error), corner(high, 1 - error), corner(high, 1 + error), corner(low, 1 + error)];
      return { type: 'polygon', shape: { points }, style: { fill: colours.band } } as never;
    },
  };
}

/** The line where prediction and measurement are equal. */
function identity(span: Range, colours: Palette): object {
  return {
    type: 'custom',
    silent: true,
    clip: true,
    z: 2,
    data: [span],
    renderItem: (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
      const [low, high] = beyond(span);
      const [x1, y1] = api.coord([low, low]) as [number, number];
      const [x2, y2] = api.coord([high, high]) as [number, number];
      return { type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: colours.text, lineWidth: 1.2, lineDash: [5, 4] } } as never;
    },
  };
}

function option(cases: Case[], colours: Palette): Option {
  const span = spanOf(cases.flatMap((one) => [one.measured_s, one.predicted_s]), cases.map((one) => one.interval_s));
  const axis = (name: string, vertical: boolean): object => valueAxis({ span, text: timeText, name, colours, vertical });
  return {
    grid: { left: 66, right: 18, top: 34, bottom: 50 },
    tooltip: { formatter: (item: unknown) => caseTip(cases[(item as { dataIndex: number }).dataIndex]!) },
    xAxis: axis('measured', false),
    yAxis: axis('predicted', true),
    series: [
      {
        type: 'scatter',
        z: 5,
        symbolSize: 10,
        data: cases.map((one) => ({
          value: [one.measured_s, one.predicted_s],
          itemStyle: { color: Math.abs(one.error) <= bands[0]! ? colours.series[0] : colours.series[1] },
          symbol: Math.abs(one.error) <= bands[0]! ? 'circle' : 'diamond',
        })),
        itemStyle: { borderColor: colours.background, borderWidth: 1, opacity: 0.9 },
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 2 } },
      },
      ...bands.map((error) => wedge(span, error, colours)),
      identity(span, colours),
      whiskers(cases.map((one) => ({ at: [one.measured_s, one.predicted_s], y: one.interval_s, colour: colours.muted })), { z: 3 }),
    ],
  } as Option;
}

export function predictedAgainstMeasured(cases: Case[]): HTMLElement {
  const chart = draw({
    label: `${finding(cases)}. Predicted against measured step times of ${cases.length} cases.`,
    height: (width) => Math.round(Math.min(540, Math.max(340, width * 0.8))),
    stops: () => cases.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: cases.length, make: () => caseTable(cases) },
    option: (colours) => option(cases, colours),
  });
  const key = h('div', {});
  const showKey = (): void => {
    const { series, text, band, muted } = palette();
    key.replaceChildren(
      legend([
        [text, 'prediction = measurement', 'dash'],
        [band, 'within 5 % and 10 %', 'box'],
        [series[0]!, 'within 10 %', 'shape circle'],
        [series[1]!, 'beyond', 'shape diamond'],
        [muted, '90 % interval', 'thin'],
      ]),
    );
  };
  showKey();
  onTheme(showKey);
  return section('predicted', 'Predicted against measured', finding(cases), key, chart.element);
}
