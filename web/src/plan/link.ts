// SPDX-License-Identifier: Apache-2.0
// What a link to the planner carries besides the choices: a model of the reader, and other settings of one cluster.
import { fragmentOf as whatIfOf, changesOf, type Changes } from '../what_if/changes';
import { choicesOf, fragmentOf } from './choices';
import type { Choices } from './document';

export interface Extras {
  /** The YAML of the chosen model, compressed, in base64 for addresses; '': a model of the page. */
  own: string;
  /** The cluster of a what-if, "PLATFORM GPUS"; '': none. */
  what_if: string;
  /** Its changes, as in the link of a report. */
  set: string;
}

export const noExtras: Extras = { own: '', what_if: '', set: '' };

const longest: Record<keyof Extras, number> = { own: 20000, what_if: 200, set: 5000 };

export function extrasOf(fragment: string): Extras {
  const extras = { ...noExtras };
  if (choicesOf(fragment, {} as Choices) === null) return extras;
  for (const [key, value] of new URLSearchParams(fragment.slice(fragment.indexOf(':') + 1)))
    if (Object.prototype.hasOwnProperty.call(noExtras, key) && value.length <= longest[key as keyof Extras]) extras[key as keyof Extras] = value;
  return extras;
}

/** The part of a link after '#'; '' if nothing differs from the page. */
export function linkOf(choices: Choices, before: Choices, extras: Extras): string {
  const more = (Object.keys(extras) as (keyof Extras)[]).filter((key) => extras[key] !== '');
  const fragment = fragmentOf(choices, before);
  if (more.length === 0) return fragment;
  return `${fragment || '#plan:'}${fragment ? '&' : ''}${new URLSearchParams(more.map((key) => [key, extras[key]])).toString()}`;
}

export const changesIn = ({ set }: Extras): Changes | null => (set === '' ? null : changesOf(`#set:${set}`));
export const setOf = (changes: Changes): string => whatIfOf(changes).replace(/^#set:/, '');

const through = (bytes: Blob, stream: CompressionStream | DecompressionStream): Promise<ArrayBuffer> => new Response(bytes.stream().pipeThrough(stream)).arrayBuffer();

/** A text for an address. */
export async function packed(text: string): Promise<string> {
  const bytes = new Uint8Array(await through(new Blob([text]), new CompressionStream('deflate-raw')));
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/** @returns null if the text of a link is damaged */
export async function unpacked(text: string): Promise<string | null> {
  try {
    const coded = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
    return new TextDecoder().decode(await through(new Blob([Uint8Array.from(coded, (one) => one.charCodeAt(0))]), new DecompressionStream('deflate-raw')));
  } catch {
    return null;
  }
}
