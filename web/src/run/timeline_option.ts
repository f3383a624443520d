// SPDX-License-Identifier: Apache-2.0
// The chart of the timeline: lanes, and below them an overview of the whole run with the visible part.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams, CustomSeriesRenderItemReturn } from 'echarts';
import type { Option } from '../chart';
import { inkOn } from '../colour';
import type { Repeated, Timeline } from '../document';
import { axisTime, countText } from '../format';
import type { Palette } from '../theme';
import { boxesOf, extent, type Box, type Lane, type View } from './slices';
import { sliceName, sliceTip } from './slice_text';

const laneHeight = 26;
const overviewHeight = 34;
const below = 24 + overviewHeight + 12;

export const timelineHeight = (lanes: Lane[]): number => 8 + lanes.length * laneHeight + below;
export const leftOf = (width: number): number => (width < 560 ? 86 : 112);
export const right = 14;

export interface Picture {
  timeline: Timeline;
  lanes: Lane[];
  view: View;
  pinned: number;
}

export const phaseColour = (timeline: Timeline, phase: number, colours: Palette): string =>
  colours.phase[timeline.phases[phase] ?? ''] ?? colours.other;

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A box as an element of the chart, cut at its sides so that its name stays visible. */
function element(picture: Picture, box: Box, colours: Palette, params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI): CustomSeriesRenderItemReturn {
  const area = params.coordSys as unknown as Area;
  const start = api.coord([box.from, box.lane])[0]!;
  const end = api.coord([box.to, box.lane])[0]!;
  const x = Math.max(start, area.x);
  const width = Math.max(Math.min(end, area.x + area.width) - x, 0.75);
  if (end < area.x || start > area.x + area.width) return null;
  const height = laneHeight - 6;
  const lane = picture.lanes[box.lane]!;
  const fill = phaseColour(picture.timeline, box.phase, colours);
  const pinned = box.slice === picture.pinned;
  const named = box.count === 1 && width > 34;
  return {
    type: 'rect',
    shape: { x, y: api.coord([box.from, box.lane])[1]! - height / 2, width, height, r: width > 6 ? 2 : 0 },
    style: {
      fill,
      opacity: lane.row.stream.startsWith('CPU') ? 0.62 : 1,
      stroke: pinned ? colours.text : colours.background,
      lineWidth: pinned ? 2 : width > 4 ? 0.6 : 0,
    },
    emphasis: { style: { stroke: colours.text, lineWidth: 1.5 } },
    // Elements are reused for other slices, so an empty name must be set explicitly.
    textConfig: { position: 'insideLeft' },
    textContent: {
      type: 'text',
      style: { text: named ? sliceName(picture.timeline, box.slice) : '', fill: inkOn(fill), fontSize: 11.5, width: Math.max(1, width - 9), overflow: 'truncate', ellipsis: '…' },
    },
  };
}

/** Dashed lines where the reported step begins and ends. */
function stepMark(timeline: Timeline, colours: Palette): object {
  return {
    type: 'custom',
    id: 'step',
    silent: true,
    clip: true,
    xAxisIndex: 0,
    yAxisIndex: 0,
    z: 1,
    data: [[timeline.step.from_us, 0, timeline.step.to_us]],
    renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
      const area = params.coordSys as unknown as Area;
      const [from, to] = [timeline.step.from_us, timeline.step.to_us].map((us) => api.coord([us, 0])[0]!) as [number, number];
      const line = (x: number) => ({ type: 'line' as const, shape: { x1: x, x2: x, y1: area.y, y2: area.y + area.height }, style: { stroke: colours.text, lineWidth: 1, lineDash: [4, 3], opacity: 0.7 } });
      const shade = { type: 'rect' as const, shape: { x: from, y: area.y, width: to - from, height: area.height }, style: { fill: colours.band, opacity: 0.35 } };
      return { type: 'group' as const, children: [shade, line(from), line(to)] };
    },
  };
}

/** A band over the period that is drawn once for many, with how often it happens. */
function repeatedBand(repeated: Repeated, colours: Palette): object {
  return {
    type: 'custom',
    id: 'repeated',
    silent: true,
    clip: true,
    z: 4,
    data: [[repeated.from_us, 0, repeated.to_us]],
    renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
      const area = params.coordSys as unknown as Area;
      const [from, to] = [repeated.from_us, repeated.to_us].map((us) => api.coord([us, 0])[0]!) as [number, number];
      const band = {
        type: 'rect' as const,
        shape: { x: from, y: area.y, width: Math.max(1, to - from), height: area.height },
        style: { fill: colours.accent, fillOpacity: 0.14, stroke: colours.accent, lineWidth: 1.5, lineDash: [6, 3] },
      };
      const label = {
        type: 'text' as const,
        x: (Math.max(from, area.x) + Math.min(to, area.x + area.width)) / 2,
        y: area.y + 9,
        style: { text: `× ${countText(1 + repeated.left_out)}`, fill: colours.text, backgroundColor: colours.background, padding: [2, 5], borderRadius: 3, fontSize: 12, fontWeight: 600, align: 'center' as const, verticalAlign: 'middle' as const },
      };
      return { type: 'group' as const, children: [band, label] };
    },
  };
}

/** Compute and communication of the first rank over the whole run. */
function overview(picture: Picture, whole: View, width: number, colours: Palette): object {
  const shown = picture.lanes.filter((lane) => lane.label === 'compute' || lane.label === 'NCCL').slice(0, 2);
  const boxes = boxesOf(picture.timeline, shown, whole, width / 2);
  return {
    type: 'custom',
    silent: true,
    clip: true,
    xAxisIndex: 1,
    yAxisIndex: 1,
    data: boxes.map((box) => [box.from, box.lane, box.to]),
    encode: { x: [0, 2], y: 1 },
    renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
      const box = boxes[params.dataIndex]!;
      const area = params.coordSys as unknown as Area;
      const lane = area.height / Math.max(1, shown.length);
      const [x, end] = [box.from, box.to].map((us) => api.coord([us, 0])[0]!) as [number, number];
      return {
        type: 'rect' as const,
        shape: { x, y: area.y + box.lane * lane + 3, width: Math.max(0.75, end - x), height: lane - 6 },
        style: { fill: phaseColour(picture.timeline, box.phase, colours), opacity: 0.75 },
      };
    },
  };
}

/** None if all periods are drawn. */
export const repeatedBands = (repeated: Repeated | null | undefined, colours: Palette): object[] => (repeated ? [repeatedBand(repeated, colours)] : []);

/** The boxes of the view as a series; replaced whenever the view changes. */
export function slicesSeries(picture: Picture, width: number, colours: Palette): object {
  const boxes = boxesOf(picture.timeline, picture.lanes, picture.view, width - leftOf(width) - right);
  return {
    type: 'custom',
    id: 'slices',
    clip: true,
    xAxisIndex: 0,
    yAxisIndex: 0,
    z: 3,
    data: boxes.map((box) => [box.from, box.lane, box.to, box.slice, box.count]),
    encode: { x: [0, 2], y: 1 },
    renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) =>
      element(picture, boxes[params.dataIndex]!, colours, params, api),
    tooltip: { formatter: (item: { dataIndex: number }) => sliceTip(picture.timeline, boxes[item.dataIndex]!) },
  };
}

export function timelineOption(picture: Picture, width: number, colours: Palette): Option {
  const left = leftOf(width);
  const whole = extent(picture.timeline);
  const height = timelineHeight(picture.lanes);
  const top = height - overviewHeight - 8;
  return {
    grid: [
      { left, right, top: 8, height: picture.lanes.length * laneHeight },
      { left, right, top, height: overviewHeight },
    ],
    xAxis: [
      {
        type: 'value',
        min: whole.from,
        max: whole.to,
        axisLine: { show: true, lineStyle: { color: colours.line } },
        axisTick: { show: true, lineStyle: { color: colours.line } },
        splitNumber: width < 560 ? 3 : 8,
        axisLabel: { color: colours.muted, hideOverlap: true, formatter: (us: number) => axisTime(us, picture.view.to - picture.view.from), showMinLabel: picture.view.from === 0, showMaxLabel: false },
        splitLine: { lineStyle: { color: colours.grid } },
      },
      { gridIndex: 1, type: 'value', min: whole.from, max: whole.to, show: false },
    ],
    yAxis: [
      {
        type: 'category',
        inverse: true,
        data: picture.lanes.map((_, index) => String(index)),
        axisLine: { show: false },
        axisTick: { show: false },
        axisLabel: {
          color: colours.text,
          interval: 0,
          fontSize: width < 560 ? 11 : 12,
          formatter: (index: string) => {
            const lane = picture.lanes[Number(index)]!;
            return lane.heading ? `{heading|${lane.label}}` : lane.label;
          },
          rich: { heading: { color: colours.muted, fontWeight: 600, fontSize: 11.5 } },
        },
        splitArea: { show: true, areaStyle: { color: ['transparent', colours.name === 'dark' ? 'rgba(255,255,255,0.025)' : 'rgba(0,0,0,0.02)'] } },
      },
      { gridIndex: 1, type: 'category', data: ['overview'], show: false },
    ],
    dataZoom: [
      { type: 'inside', xAxisIndex: 0, filterMode: 'none', startValue: picture.view.from, endValue: picture.view.to, zoomOnMouseWheel: false, moveOnMouseWheel: false, preventDefaultMouseMove: false, minValueSpan: 0.02 },
      {
        type: 'slider',
        xAxisIndex: 0,
        filterMode: 'none',
        startValue: picture.view.from,
        endValue: picture.view.to,
        minValueSpan: 0.02,
        left,
        right,
        top,
        height: overviewHeight,
        showDataShadow: false,
        showDetail: false,
        brushSelect: false,
        moveHandleSize: 0,
        backgroundColor: 'transparent',
        borderColor: colours.line,
        fillerColor: colours.band,
        handleStyle: { color: colours.background, borderColor: colours.accent },
        emphasis: { handleStyle: { borderColor: colours.text } },
      },
    ],
    series: [stepMark(picture.timeline, colours), ...repeatedBands(picture.timeline.repeated, colours), slicesSeries(picture, width, colours), overview(picture, whole, width, colours)] as Option['series'],
  };
}
