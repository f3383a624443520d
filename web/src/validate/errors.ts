// SPDX-License-Identifier: Apache-2.0
// The error of each case, sorted: too slow above, too fast below.
import { draw, section, type Option } from '../chart';
import type { Case } from '../document';
import { button } from '../dom';
import { signedPercentText } from '../format';
import type { Palette } from '../theme';
import { caseTable, caseTip } from './table';

const most = 30;
const row = 22;

/** The largest errors of both signs, in order of the error. */
const worst = (cases: Case[], count: number): Case[] =>
  [...cases]
    .sort((a, b) => Math.abs(b.error) - Math.abs(a.error))
    .slice(0, count)
    .sort((a, b) => b.error - a.error);

function option(shown: Case[], colours: Palette, width: number): Option {
  const narrow = width < 560;
  const far = Math.max(...shown.map((one) => Math.abs(one.error)), 0.01);
  return {
    grid: { left: narrow ? 130 : 250, right: 64, top: 6, bottom: 28 },
    tooltip: { formatter: (item: unknown) => caseTip(shown[(item as { dataIndex: number }).dataIndex]!) },
    xAxis: { type: 'value', min: -far, max: far, axisLabel: { color: colours.muted, hideOverlap: true, showMinLabel: false, showMaxLabel: false, formatter: (x: number) => `${Number((x * 100).toPrecision(3))} %` }, splitLine: { lineStyle: { color: colours.grid } } },
    yAxis: {
      type: 'category',
      inverse: true,
      data: shown.map((_, index) => String(index)),
      axisLine: { onZero: false, show: false },
      axisTick: { show: false },
      axisLabel: { color: colours.text, interval: 0, fontSize: 12, width: narrow ? 122 : 240, overflow: 'truncate', formatter: (index: string) => shown[Number(index)]!.name },
    },
    series: [
      {
        type: 'bar',
        barWidth: '62%',
        data: shown.map((one) => ({
          value: one.error,
          itemStyle: { color: one.error > 0 ? colours.series[1] : colours.series[0] },
          // The label is right of zero if the bar goes left, because names are at the left end.
          label: { position: 'right' },
        })),
        label: { show: true, color: colours.text, fontSize: 11.5, formatter: (item: { dataIndex: number }) => signedPercentText(shown[item.dataIndex]!.error) },
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
      },
    ],
  } as Option;
}

export function errors(cases: Case[]): HTMLElement {
  const slow = cases.filter((one) => one.error > 0).length;
  const title = `${slow} of ${cases.length} are predicted too slow, ${cases.filter((one) => one.error < 0).length} too fast`;
  let shown = worst(cases, most);
  const chart = draw({
    label: `${title}.`,
    height: () => shown.length * row + 40,
    stops: () => shown.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: cases.length, make: () => caseTable(worst(cases, cases.length)) },
    option: (colours, width) => option(shown, colours, width),
  });
  const more =
    cases.length > most &&
    button(`Show all ${cases.length}`, `Show all ${cases.length} cases, not only the ${most} largest errors`, () => {
      const all = shown.length > most;
      shown = worst(cases, all ? most : cases.length);
      (more as HTMLButtonElement).textContent = all ? `Show all ${cases.length}` : `Show the ${most} largest errors`;
      chart.redraw();
    });
  return section('errors', 'Errors', title, chart.element, more);
}
