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

const mostGpus = 2 ** 20;
const plain = /^[1-9]\d*$/;
const grouped = /^[1-9]\d{0,2}([,\s_]\d{3})+$/;
const ungrouped = (text: string): string => text.replace(/[,\s_]/g, '');

/** A number as people write it, "1,024" too; NaN if it is none. */
const integer = (text: string): number => (plain.test(text) || grouped.test(text) ? Number(ungrouped(text)) : NaN);

/** Numbers with commas between them: "64, 128", "1,024, 2,048". Without a space, "64,128" may be meant as one number: then it is one text,
 * as is all else that is no number. */
function countsOf(text: string): (number | string)[] {
  const counts = text.split(/,(?=\s)|,$/).map((one) => one.trim()).filter(Boolean).flatMap((one) => {
    const isOneOrMore = grouped.test(one) && Number(ungrouped(one)) <= mostGpus;
    const parts = isOneOrMore ? [one] : one.split(',');
    return parts.map((part) => (plain.test(part) || (isOneOrMore && /\D0/.test(part)) ? integer(part) : part));
  });
  return [...new Set(counts)];
}

/** Why a text is no number of GPUs, and what to write. */
const wrongCount = (text: string): string =>
  grouped.test(text)
    ? `“${text}” can be one number or several: write ${ungrouped(text)}, or ${text.split(/\D/).join(', ')} with spaces.`
    : `“${text}” is not a number of GPUs: write numbers such as 64, 128.`;

/** The choices of the program, whose lists have no spaces. */
export const spaced = (choices: Choices): Choices => ({ ...choices, gpus: listOf(choices.gpus).join(', ') });

/** Every platform with every number of GPUs. */
export const clustersOf = ({ platforms, gpus }: Choices): Cluster[] =>
  listOf(platforms).flatMap((platform) => countsOf(gpus).flatMap((count) => (typeof count === 'number' ? [{ platform, gpus: count }] : [])));

/** Why nothing can be planned yet; '': nothing is missing. @param isModel whether the page has a model of this name */
export function missing(choices: Choices, isModel: (name: string) => boolean): string {
  if (choices.model === '') return 'Choose a model.';
  if (!isModel(choices.model)) return `Choose another model, or the config.json of “${choices.model}”, which this page does not have.`;
  if (listOf(choices.platforms).length === 0) return 'Choose at least one platform.';
  const counts = countsOf(choices.gpus);
  if (counts.length === 0) return 'Say how many GPUs, such as 64 or 64, 128.';
  const wrong = counts.find((count): count is string => typeof count === 'string');
  if (wrong !== undefined) return wrongCount(wrong);
  if (choices.global_batch !== '' && Number.isNaN(integer(choices.global_batch))) return `“${choices.global_batch}” is not a number of samples per step: write a number such as 1024.`;
  return '';
}

/** All that a layout depends on, besides its cluster. */
const job = ({ model, framework, sequence, global_batch: batch, gpus }: Choices) => ({
  model,
  framework,
  compared_gpus: countsOf(gpus).filter((count) => typeof count === 'number'),
  global_batch: batch === '' ? 0 : integer(batch),
  set: sequence === '' ? [] : [['job.sequence', sequence]],
});

const noLimits = { deadline: '', budget: '', failures: 'none', seeds: 1 };

export const layoutQuestion = (choices: Choices, cluster: Cluster): string =>
  JSON.stringify({ ...job(choices), ...noLimits, clusters: [{ ...cluster, layout: [] }] });

/** The keys of a campaign, too. @param isText the model's samples are sequences of tokens */
const campaign = (choices: Choices, isText: boolean) => {
  const { set, ...rest } = job(choices);
  return { ...rest, set: [...set, [isText ? 'campaign.tokens' : 'campaign.samples', choices.data], ['campaign.terms', choices.terms]] };
};

/** Its answer says what is wrong with a campaign's keys, with a hint. */
export const checkQuestion = (choices: Choices, isText: boolean, cluster: Cluster): string =>
  JSON.stringify({ ...campaign(choices, isText), ...noLimits, clusters: [{ ...cluster, layout: [] }] });

export function campaignQuestion(choices: Choices, isText: boolean, seeds: number, clusters: [Cluster, FoundLayout][]): string {
  return JSON.stringify({
    ...campaign(choices, isText),
    failures: choices.failures,
    deadline: choices.deadline,
    budget: choices.budget,
    seeds,
    clusters: clusters.map(([cluster, { layout }]) => ({ ...cluster, layout })),
  });
}
