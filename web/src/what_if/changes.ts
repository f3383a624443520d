// SPDX-License-Identifier: Apache-2.0
// What the reader has changed: its history, the link that carries it, the command that repeats it.

/** Changed keys and their values, in the order of the changes. */
export type Changes = ReadonlyMap<string, string>;

export const noChanges: Changes = new Map();

const start = '#set:';
const longestValue = 200;

const isGood = (key: string, value: string): boolean => /^[A-Za-z0-9_.]{1,80}$/.test(key) && value !== '' && value.length <= longestValue && !/\p{Cc}/u.test(value);

/** The same changes with another value of a key; '': the key is not changed. Values that no scenario can have are ignored. */
export function changed(changes: Changes, key: string, value: string): Changes {
  const next = new Map(changes);
  next.delete(key);
  if (isGood(key, value)) next.set(key, value);
  return next;
}

/** The changes of some keys only. */
export const restricted = (changes: Changes, isKept: (key: string) => boolean): Changes => new Map([...changes].filter(([key]) => isKept(key)));

export const isSame = (a: Changes, b: Changes): boolean => fragmentOf(a) === fragmentOf(b);

/** The part of a link after '#'; '' if nothing is changed. */
export const fragmentOf = (changes: Changes): string =>
  changes.size === 0 ? '' : start + [...changes].map((pair) => pair.map(encodeURIComponent).join('=')).join('&');

/** Where the changes are kept, so that a link to the page has them. */
export interface Kept {
  /** null: there are none. */
  read(): Changes | null;
  write(changes: Changes): void;
}

/** In the address of the page, after '#'. */
export const inAddress: Kept = {
  read: () => changesOf(location.hash),
  write: (changes) => {
    const fragment = fragmentOf(changes);
    if (fragment || changesOf(location.hash)) window.history.replaceState(null, '', fragment || '#what-if');
  },
};

/** The changes of a link; null: it has none. */
export function changesOf(fragment: string): Changes | null {
  if (!fragment.startsWith(start)) return null;
  let changes = noChanges;
  for (const pair of fragment.slice(start.length).split('&')) {
    const [key, value] = pair.split('=', 2).map(decoded);
    if (key && value) changes = changed(changes, key, value);
  }
  return changes;
}

/** '' if the text is not encoded as links are. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** A word for a shell, quoted if it has characters that a shell would interpret; as shell_word of the program. */
export const shellWord = (word: string): string => (/^[\w\-.,=/:+%@]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`);

/** A command with the keys that it sets, and those that it varies. */
export const commandOf = (command: string, set: readonly [string, string][], vary: readonly string[] = []): string =>
  [command, ...set.map(([key, value]) => `--set ${shellWord(`${key}=${value}`)}`), ...vary.map((text) => `--vary ${shellWord(text)}`)].join(' ');

/** Changes with a history. */
export class History {
  private readonly all: Changes[];
  private at = 0;

  constructor(first: Changes) {
    this.all = [first];
  }
  get now(): Changes {
    return this.all[this.at]!;
  }
  get canUndo(): boolean {
    return this.at > 0;
  }
  get canRedo(): boolean {
    return this.at + 1 < this.all.length;
  }
  /** What was undone is forgotten. */
  add(changes: Changes): void {
    if (isSame(changes, this.now)) return;
    this.all.splice(++this.at, Infinity, changes);
  }
  undo(): void {
    if (this.canUndo) --this.at;
  }
  redo(): void {
    if (this.canRedo) ++this.at;
  }
}
