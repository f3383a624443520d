// SPDX-License-Identifier: Apache-2.0
// The campaign of median length over time: throughput, batch, storage and dollars.
import { roundEnd, timeTicks } from '../axes';
import { draw, section, type Option } from '../chart';
import { tip } from '../dom';
import { counted, countText, known, numberText, rangeText, rateText, spanText, usdText } from '../format';
import { cell, type Table } from '../table';
import type { Palette } from '../theme';
import type { CampaignReport, Span } from './document';

interface Figure {
  name: string;
  of: (span: Span) => number;
  text: (value: number) => string;
  /** Rises within a span, instead of jumping at its start. */
  grows?: boolean;
}

const figures = (report: CampaignReport): Figure[] =>
  [
    { name: `${report.course_unit}/s`, of: (span: Span): number => span.rate_per_s, text: numberText },
    { name: 'batch', of: (span: Span): number => span.global_batch, text: (value: number): string => `${numberText(value)} samples` },
    { name: 'storage', of: (span: Span): number => span.storage_bytes_per_s, text: rateText },
    { name: 'USD', of: (span: Span): number => span.usd ?? 0, text: usdText, grows: true },
  ].filter(({ of }) => report.course.some((span) => of(span) > 0));

const rangeOf = (span: Span): string => rangeText([span.from_s, span.to_s], spanText);

const courseTable = (report: CampaignReport): Table => ({
  caption: 'The campaign over time',
  columns: [{ name: 'time', number: true }, { name: `${report.course_unit}/s`, number: true }, { name: 'batch', number: true }, { name: 'storage', number: true }, { name: 'USD so far', number: true }],
  rows: report.course.map((span) => [
    cell(rangeOf(span), span.from_s),
    cell(span.trains ? numberText(span.rate_per_s) : 'restart', span.rate_per_s),
    cell(numberText(span.global_batch), span.global_batch),
    cell(rateText(span.storage_bytes_per_s), span.storage_bytes_per_s),
    cell(usdText(span.usd), span.usd ?? 0),
  ]),
});

function points({ of, grows }: Figure, course: Span[]): [number, number][] {
  if (grows) return [[0, 0], ...course.map((span): [number, number] => [span.to_s, of(span)])];
  return course.flatMap((span): [number, number][] => [[span.from_s, of(span)], [span.to_s, of(span)]]);
}

const rowHeight = 110;

function option(report: CampaignReport, colours: Palette, width: number): Option {
  const { course, typical } = report;
  const shown = figures(report);
  const { interval, text } = timeTicks(typical.seconds, width < 560 ? 3 : 8);
  const last = shown.length - 1;
  const axis = { type: 'value', min: 0, max: typical.seconds, interval, axisLine: { lineStyle: { color: colours.line } }, splitLine: { lineStyle: { color: colours.grid } } };
  return {
    grid: shown.map((_, i) => ({ left: 76, right: 18, top: 26 + i * rowHeight, height: rowHeight - 42 })),
    xAxis: shown.map((_, i) => ({ ...axis, gridIndex: i, axisLabel: { show: i === last, color: colours.muted, hideOverlap: true, showMaxLabel: false, formatter: text }, ...(i === last ? { name: 'since the start', nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: colours.muted } } : {}) })),
    yAxis: shown.map((figure, i) => ({ type: 'value', gridIndex: i, min: 0, ...roundEnd(Math.max(...course.map(figure.of)), 2), name: figure.name, nameTextStyle: { color: colours.muted, align: 'left' }, axisLabel: { color: colours.muted, formatter: (y: number) => figure.text(y).replace(/ (samples|USD)$/, '') }, splitLine: { lineStyle: { color: colours.grid } } })),
    series: shown.map((figure, i) => ({
      type: 'line',
      xAxisIndex: i,
      yAxisIndex: i,
      data: points(figure, course),
      showAllSymbol: true,
      symbolSize: 5,
      lineStyle: { width: 2, color: colours.series[i % colours.series.length] },
      itemStyle: { color: colours.series[i % colours.series.length] },
      tooltip: { formatter: ({ data: [x, y] }: { data: [number, number] }) => tip(figure.name, [['at', spanText(x), x], [figure.name, figure.text(y), y]]) },
    })),
  } as Option;
}

export function course(report: CampaignReport): HTMLElement | null {
  const spans = report.course;
  const first = spans[0];
  if (!first) return null;
  const rates = spans.filter((span) => span.trains).map((span) => span.rate_per_s);
  const batches = new Set(spans.map((span) => span.global_batch));
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const end = spans[spans.length - 1]!.usd;
  const title = `${rangeText([low, high], numberText)} ${report.course_unit}/s${batches.size > 1 ? ` with ${counted(batches.size, 'batch size')}` : ` with batches of ${countText(first.global_batch)}`}${known(end) ? `, ${usdText(end)} at the end` : ''}`;
  const chart = draw({
    label: `The campaign of median length over time: ${title}.`,
    height: () => 30 + figures(report).length * rowHeight + 30,
    table: { count: spans.length, make: () => courseTable(report) },
    option: (colours, width) => option(report, colours, width),
    stops: () => figures(report).flatMap((figure, seriesIndex) => points(figure, spans).map((_, dataIndex) => ({ seriesIndex, dataIndex }))),
  });
  return section('course', 'Over time', title, chart.element);
}
