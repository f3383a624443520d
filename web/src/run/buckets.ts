// SPDX-License-Identifier: Apache-2.0
// Buckets over time: when the last gradient of each is ready, when its reduction starts and ends.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { timeTicks } from '../axes';
import { draw, section, themedLegend, type Option } from '../chart';
import type { Bucket, Timeline } from '../document';
import { tip } from '../dom';
import { bytesText, countText, counted, exactUs, timeText } from '../format';
import { stripes } from '../patterns';
import { cell } from '../table';
import { palette, type Palette } from '../theme';

const wait = (bucket: Bucket): number => Math.max(0, bucket.start_us - bucket.ready_us);
const us = (microseconds: number): string => timeText(microseconds * 1e-6);

function finding(all: Bucket[]): string {
  if (all.length === 1) return `One bucket of ${bytesText(all[0]!.size_bytes)}, reduced in ${us(all[0]!.end_us - all[0]!.start_us)}`;
  const waits = all.map(wait);
  const longest = waits.indexOf(Math.max(...waits));
  if (waits[longest]! < 1) return `${all.length} buckets, each reduced as soon as it is ready`;
  const busy = all.reduce((sum, bucket) => sum + bucket.end_us - bucket.start_us, 0) / all.length;
  if (waits[longest]! < 0.1 * busy) return `${all.length} buckets, each reduced in ${us(busy)} on average, soon after it is ready`;
  return `${all.length} buckets; bucket ${longest} waits longest, ${us(waits[longest]!)} from ready to its start`;
}

const layers = (bucket: Bucket): string =>
  bucket.first_layer === bucket.last_layer ? bucket.first_layer : `${bucket.first_layer} to ${bucket.last_layer}`;

export function buckets(all: Bucket[] | undefined, timeline: Timeline | undefined): HTMLElement | null {
  if (!all || all.length === 0) return null;
  const title = finding(all);
  const row = all.length > 24 ? 17 : 24;
  const chart = draw({
    label: `${title}.`,
    height: () => all.length * row + 44,
    stops: () => all.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: {
      count: all.length,
      make: () => ({
        caption: 'Buckets in the order of their reduction',
        columns: [
          { name: 'bucket', number: true },
          { name: 'size', number: true },
          { name: 'gradients', number: true },
          { name: 'layers' },
          { name: 'ready', number: true },
          { name: 'start', number: true },
          { name: 'end', number: true },
        ],
        rows: all.map((bucket, index) => [
          cell(String(index), index),
          cell(bytesText(bucket.size_bytes), bucket.size_bytes),
          cell(countText(bucket.gradients), bucket.gradients),
          cell(layers(bucket)),
          cell(exactUs(bucket.ready_us), bucket.ready_us),
          cell(exactUs(bucket.start_us), bucket.start_us),
          cell(exactUs(bucket.end_us), bucket.end_us),
        ]),
      }),
    },
    option: (colours, width) => option(all, timeline, row, colours, width),
  });
  const kinds = [...new Set(all.map((bucket) => bucket.collective))].filter(Boolean).join(', ') || 'reduction';
  const key = themedLegend(() => [[palette().part.hidden!, 'ready, waiting to be reduced', 'stripes'], [palette().part.exposed!, kinds]]);
  return section('buckets', 'Buckets', title, key, chart.element);
}

function bucketTip(bucket: Bucket, index: number): string {
  return tip(`bucket ${index}, ${counted(bucket.gradients, 'gradient')}`, [
    ['size', bytesText(bucket.size_bytes), bucket.size_bytes],
    ['layers', layers(bucket)],
    ['ready', exactUs(bucket.ready_us), bucket.ready_us],
    ['start', exactUs(bucket.start_us), bucket.start_us],
    ['end', exactUs(bucket.end_us), bucket.end_us],
    ['waits', us(wait(bucket))],
    [bucket.collective || 'reduction', us(bucket.end_us - bucket.start_us)],
  ]);
}

function option(all: Bucket[], timeline: Timeline | undefined, row: number, colours: Palette, width: number): Option {
  const to = timeline?.step.to_us ?? Math.max(...all.map((bucket) => bucket.end_us));
  // The picture begins at a round time before the first bucket, because reductions late in a long step would be too narrow.
  const ready = Math.min(...all.map((bucket) => bucket.ready_us));
  const from = ready > to / 2 ? ready : 0;
  const { interval, text } = timeTicks((to - from) * 1e-6, width < 560 ? 2 : 8, to * 1e-6);
  return {
    grid: { left: width < 560 ? 88 : 104, right: 14, top: 4, bottom: 36 },
    tooltip: {
      formatter: (item: unknown) => {
        const { dataIndex } = item as { dataIndex: number };
        return bucketTip(all[dataIndex]!, dataIndex);
      },
    },
    xAxis: {
      type: 'value',
      min: Math.floor(from / (interval * 1e6)) * interval * 1e6,
      max: to,
      interval: interval * 1e6,
      axisLine: { show: true, onZero: false, lineStyle: { color: colours.line } },
      axisLabel: { color: colours.muted, hideOverlap: true, showMaxLabel: false, formatter: (at: number) => text(at * 1e-6) },
      splitLine: { lineStyle: { color: colours.grid } },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: all.map((_, index) => String(index)),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: {
        color: colours.muted,
        fontSize: 12,
        interval: 0,
        formatter: (index: string) => `{name|${index}}  ${bytesText(all[Number(index)]!.size_bytes)}`,
        rich: { name: { color: colours.text, fontWeight: 600, fontSize: 12 } },
      },
    },
    series: [
      {
        type: 'custom',
        clip: true,
        data: all.map((bucket, index) => [bucket.ready_us, index, bucket.start_us, bucket.end_us]),
        encode: { x: [0, 3], y: 1 },
        renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
          const bucket = all[params.dataIndex]!;
          const [ready, start, end] = [bucket.ready_us, bucket.start_us, bucket.end_us].map((at) => api.coord([at, params.dataIndex])[0]!) as [number, number, number];
          const middle = api.coord([bucket.ready_us, params.dataIndex])[1]!;
          const height = row - 7;
          const rect = (x: number, to: number, fill: string, pattern?: object): object => ({
            type: 'rect',
            shape: { x, y: middle - height / 2, width: Math.max(1.5, to - x), height },
            style: { fill, decal: pattern },
            emphasis: { style: { stroke: colours.text, lineWidth: 1.5 } },
          });
          return {
            type: 'group',
            children: [
              ...(start - ready > 0.5 ? [rect(ready, start, colours.part.hidden!, stripes('hidden', colours))] : []),
              rect(start, end, colours.part.exposed!),
            ],
          } as never;
        },
      },
    ],
  };
}
