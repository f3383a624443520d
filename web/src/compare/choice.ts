// SPDX-License-Identifier: Apache-2.0
// A compared choice: a platform with a number of GPUs.
import type { ComparedRun } from '../document';
import { counted } from '../format';

const gpusOf = (run: ComparedRun): number => run.scenario.job.gpus;

/** "aws-p5.48xlarge × 8": the number of GPUs only if it differs. */
export function namer(runs: ComparedRun[]): (run: ComparedRun) => string {
  const several = new Set(runs.map(gpusOf)).size > 1;
  return (run) => (several ? `${run.scenario.platform} × ${gpusOf(run)}` : run.scenario.platform);
}

export const fullName = (run: ComparedRun): string => `${run.scenario.platform}, ${counted(gpusOf(run), 'GPU')}${run.metrics.idle_gpus ? ` and ${run.metrics.idle_gpus} idle` : ''}`;

export const platformsOf = (runs: ComparedRun[]): string[] => [...new Set(runs.map((run) => run.scenario.platform))];

export const marks = (run: ComparedRun): string =>
  [run.costs.fastest && 'fastest', run.costs.cheapest && 'cheapest', ...(run.costs.tied ?? []).map((what) => `tied in ${what}`), run.costs.pareto && 'Pareto'].filter(Boolean).join(', ');
