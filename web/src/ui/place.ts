// SPDX-License-Identifier: Apache-2.0
// What is shown, as the part of the address after '?'. The changes of a panel follow after '#'.

export interface Place {
  /** The planner. */
  plan: boolean;
  /** A name of the server's list, or a file; '': the list. */
  scenario: string;
  /** Whether the file is only in the memory of the page. */
  inMemory: boolean;
  /** Of a sweep: keys that are set for all points. */
  set: [key: string, value: string][];
  /** Of a sweep: keys and their values; none: no sweep. */
  vary: string[];
}

export const listOfScenarios: Place = { plan: false, scenario: '', inMemory: false, set: [], vary: [] };

export function placeOf(search: string): Place {
  const parts = new URLSearchParams(search);
  const file = parts.get('file');
  const set = parts.getAll('set').map((text): [string, string] => {
    const at = text.indexOf('=');
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return { plan: parts.has('plan'), scenario: file ?? parts.get('scenario') ?? '', inMemory: file !== null, set, vary: parts.getAll('vary') };
}

/** The address of a place, relative to the page. */
export function addressOf({ plan, scenario, inMemory, set, vary }: Place): string {
  if (plan) return '?plan';
  const parts = new URLSearchParams();
  if (scenario) parts.set(inMemory ? 'file' : 'scenario', scenario);
  for (const [key, value] of set) parts.append('set', `${key}=${value}`);
  for (const text of vary) parts.append('vary', text);
  return scenario ? `?${parts}` : './';
}
