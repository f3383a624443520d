// SPDX-License-Identifier: Apache-2.0
// What the reader has chosen: the link that carries it, and the questions that follow from it.
import type { Choices, FoundLayout } from './document';

export interface Cluster {
  platform: string;
  gpus: number;
}

const start = '#plan:';
const longestValue = 2000;

/** The choices of a link; null: it has none. Keys that do not exist, and values that cannot be chosen, are ignored. */
export function choicesOf(fragment: string, before: Choices): Choices | null {
  if (!fragment.startsWith(start)) return null;
  const choices = { ...before };
  for (const [key, value] of new URLSearchParams(fragment.slice(start.length)))
    if (Object.prototype.hasOwnProperty.call(before, key) && value.length <= longestValue && !/\p{Cc}/u.test(value)) choices[key as keyof Choices] = value;
  return choices;
}

/** The part of a link after '#': the choices that differ from those of the page. */
export function fragmentOf(choices: Choices, before: Choices): string {
  const changed = (Object.keys(choices) as (keyof Choices)[]).filter((key) => choices[key] !== before[key]);
  return changed.length === 0 ? '' : start + new URLSearchParams(changed.map((key) => [key, choices[key]])).toString();
}

/** Each value once. */
export const listOf = (text: string): string[] => [...new Set(text.split(',').map((one) => one.trim()).filter(Boolean))];

/** A number as people write it, "1 024" too; NaN if it is none. A zero in front is the rest of "1,024", whose comma separates values. */
const integer = (text: string): number => (/^[1-9][\d\s_]*$/.test(text) ? Number(text.replace(/[\s_]/g, '')) : NaN);

/** Samples per step, "1,024" too: there is one value only. */
const samplesPerStep = (text: string): number => integer(text.replace(/,(?=\d{3}(?!\d))/g, ''));

/** Every platform with every number of GPUs. */
export const clustersOf = ({ platforms, gpus }: Choices): Cluster[] => listOf(platforms).flatMap((platform) => listOf(gpus).map((count) => ({ platform, gpus: integer(count) })));

/** Why nothing can be planned yet; '': nothing is missing. */
export function missing(choices: Choices): string {
  if (choices.model === '') return 'Choose a model.';
  if (listOf(choices.platforms).length === 0) return 'Choose at least one platform.';
  if (listOf(choices.gpus).length === 0) return 'Say how many GPUs, such as 64 or 64, 128.';
  const wrong = listOf(choices.gpus).find((count) => !(integer(count) >= 1));
  if (wrong !== undefined) return `“${wrong}” is not a number of GPUs: write numbers such as 64, 1024, without separators of thousands.`;
  if (choices.global_batch !== '' && !(samplesPerStep(choices.global_batch) >= 1)) return `“${choices.global_batch}” is not a number of samples per step.`;
  return '';
}

/** All that a layout depends on, besides its cluster. */
const job = ({ model, framework, sequence, global_batch: batch }: Choices) => ({
  model,
  framework,
  global_batch: batch === '' ? 0 : samplesPerStep(batch),
  set: sequence === '' ? [] : [['job.sequence', sequence]],
});

const noLimits = { deadline: '', budget: '', failures: 'none', seeds: 1 };

export const layoutQuestion = (choices: Choices, cluster: Cluster): string =>
  JSON.stringify({ ...job(choices), ...noLimits, clusters: [{ ...cluster, layout: [] }] });

/** @param isText the model's samples are sequences of tokens */
export function campaignQuestion(choices: Choices, isText: boolean, seeds: number, clusters: [Cluster, FoundLayout][]): string {
  const { set, ...rest } = job(choices);
  const campaign = [[isText ? 'campaign.tokens' : 'campaign.samples', choices.data], ['campaign.terms', choices.terms]];
  return JSON.stringify({
    ...rest,
    set: [...set, ...campaign],
    failures: choices.failures,
    deadline: choices.deadline,
    budget: choices.budget,
    seeds,
    clusters: clusters.map(([cluster, { layout }]) => ({ ...cluster, layout })),
  });
}
