// SPDX-License-Identifier: Apache-2.0
// The memory of a GPU at the peak, by part.
import { draw, section } from '../chart';
import type { Report } from '../document';
import { h, tip } from '../dom';
import { bytesText } from '../format';
import { cell } from '../table';

const names: Record<string, string> = {
  gathered_bytes: 'gathered parameters',
  comm_hook_bytes: 'communication hook',
  optimizer_bytes: 'optimizer state',
  slack_bytes: "allocator's slack",
  context_bytes: 'CUDA context',
  nccl_bytes: 'NCCL',
};

const nameOf = (key: string): string => names[key] ?? key.replace(/_bytes$/, '').replace(/_/g, ' ');

/** The figures that tools show: PyTorch's over the run, and that of nvidia-smi. */
function ofTools({ peak_of_run: peak }: Report): HTMLElement | null {
  if (!peak?.nvidia_smi_interval_bytes) return null;
  const [low, high] = peak.nvidia_smi_interval_bytes;
  const when = peak.part === 'step' ? 'in a step' : `in this part of the run: ${peak.part.replace(/_/g, ' ')}`;
  return h(
    'p',
    { class: 'hint' },
    `PyTorch allocates ${bytesText(peak.allocated_bytes)} at most (max_memory_allocated), ${when}. nvidia-smi shows ${bytesText(peak.nvidia_smi_bytes)} (90 % interval: ${bytesText(low)} to ${bytesText(high)}) while memory does not end.`,
  );
}

export function memory(report: Report): HTMLElement | null {
  const all = report.memory;
  const needed = all.needed_bytes;
  const parts = Object.entries(all ?? {})
    .filter(([key, bytes]) => key !== 'needed_bytes' && bytes > 0)
    .sort((a, b) => b[1] - a[1]);
  if (parts.length === 0 || needed === undefined) return null;
  const title = `The job needs ${bytesText(needed)} per GPU; the largest part: ${nameOf(parts[0]![0])}`;
  const chart = draw({
    label: `${title}. ${parts.map(([key, bytes]) => `${nameOf(key)} ${bytesText(bytes)}`).join(', ')}.`,
    height: () => 30 + parts.length * 27,
    stops: () => parts.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: {
      count: parts.length,
      make: () => ({
        caption: 'Memory per GPU at the peak',
        columns: [{ name: 'part' }, { name: 'bytes', number: true }],
        rows: [...parts, ['needed_bytes', needed] as [string, number]].map(([key, bytes]) => [cell(key === 'needed_bytes' ? 'all' : nameOf(key)), cell(bytesText(bytes), bytes)]),
      }),
    },
    option: (colours) => ({
      grid: { left: 150, right: 80, top: 2, bottom: 26 },
      tooltip: {
        formatter: (item: unknown) => {
          const [key, bytes] = parts[(item as { dataIndex: number }).dataIndex]!;
          return tip(nameOf(key), [['bytes', bytesText(bytes), bytes]]);
        },
      },
      xAxis: { type: 'value', splitNumber: 4, axisLabel: { color: colours.muted, hideOverlap: true, formatter: (x: number) => bytesText(x) }, splitLine: { lineStyle: { color: colours.grid } } },
      yAxis: {
        type: 'category',
        inverse: true,
        data: parts.map(([key]) => nameOf(key)),
        axisLine: { lineStyle: { color: colours.line } },
        axisTick: { show: false },
        axisLabel: { color: colours.text, fontSize: 12.5, width: 142, overflow: 'truncate', interval: 0 },
      },
      series: [
        {
          type: 'bar',
          barWidth: '58%',
          data: parts.map(([, bytes]) => bytes),
          itemStyle: { color: colours.series[0]! },
          label: { show: true, position: 'right', color: colours.text, formatter: (item: { dataIndex: number }) => bytesText(parts[item.dataIndex]![1]) },
          emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
        },
      ],
    }),
  });
  return section('memory', 'Memory', title, chart.element, ofTools(report));
}
