// SPDX-License-Identifier: Apache-2.0
// Asks the engine in a worker. A new question ends the one before.
import { compile, unpack, type Answer, type Files, type Question } from './engine';
import type { Field } from './schema';

/** The worker's script, which the build inserts. */
declare const WORKER: string;

/** A longer question is one for the program. */
export const longest_s = 20;

/** What the page carries for what-ifs, unpacked. */
export interface Package {
  engine: WebAssembly.Module;
  files: Files;
  /** JSON Schema of a scenario. */
  schema: Field;
}

export async function unpackPackage(): Promise<Package> {
  const text = (id: string): string => document.getElementById(id)!.textContent!;
  const [engine, packed] = await Promise.all([compile(text('engine')), unpack(text('files'))]);
  return { engine, ...(JSON.parse(new TextDecoder().decode(packed)) as Pick<Package, 'files' | 'schema'>) };
}

/** An asker of questions. Answers to replaced questions never come. */
export function asker({ engine, files }: Package): (question: Question, answered: (answer: Answer) => void) => void {
  const url = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }));
  let idle: Worker | undefined;
  let busy: Worker | undefined;
  return (question, answered) => {
    busy?.terminate();
    const worker = idle ?? new Worker(url);
    [busy, idle] = [worker, undefined];
    const end = (answer: Answer, isReusable: boolean): void => {
      clearTimeout(limit);
      if (busy !== worker) return;
      busy = undefined;
      if (isReusable) idle = worker;
      else worker.terminate();
      answered(answer);
    };
    const limit = setTimeout(() => end({ status: 3, text: `The engine in this page gave up after ${longest_s} s.` }, false), longest_s * 1000);
    worker.onmessage = (event: MessageEvent<Answer>) => end(event.data, true);
    worker.onerror = (event) => end({ status: 3, text: `The engine in this page stopped: ${event.message}` }, false);
    worker.postMessage({ engine, files, question });
  };
}
