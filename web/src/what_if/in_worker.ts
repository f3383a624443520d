// SPDX-License-Identifier: Apache-2.0
// The engine that the page carries, in a worker.
import { Asker, type Answering, type Source } from './asker';
import type { Answer, Files, Question } from './engine';
import type { Message, Package, Reply } from './worker';

/** The worker's script, which the build inserts. */
declare const WORKER: string;

/** The script of a worker that answers questions. */
export const workerUrl = (): string => URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }));

/** What the page carries, for the first worker to unpack. The browser reads it after this script, which can draw meanwhile.
 * @return older: the date of the engine, if it was built from older sources than the program that wrote the page; else '' */
export async function packedParts(): Promise<{ engine: string; files: string; older: string }> {
  if (document.readyState === 'loading') await new Promise((read) => document.addEventListener('DOMContentLoaded', read, { once: true }));
  const text = (id: string): string => document.getElementById(id)!.textContent!;
  const [engine, older = ''] = text('engine').split('\n', 2).reverse();
  return { engine: engine!, files: text('files'), older };
}

/** A longer question is one for the program. */
const longest_s = 20;

class InWorker implements Answering {
  private worker: Worker | undefined;
  private whole: Package | undefined;
  private limit: ReturnType<typeof setTimeout> | undefined;
  private answered: (answer: Answer) => void = () => undefined;
  private rehearsed: (answer: Answer) => void = () => undefined;
  private readonly url = workerUrl();
  private rests: () => void = () => undefined;
  /** Resolved while no question is being answered. */
  rest: Promise<void> = Promise.resolve();

  /** @param unpacked called once a worker has unpacked what the page carries, or cannot */
  constructor(private readonly unpacked: (whole: Package | Error) => void) {
    this.begin();
  }

  start(question: Question, answered: (answer: Answer) => void): () => void {
    this.answered = answered;
    this.rest = new Promise((rests) => (this.rests = rests));
    const worker = this.worker ?? this.begin();
    this.limit = setTimeout(() => this.giveUp(`The engine in this page gave up after ${longest_s} s.`), longest_s * 1000);
    this.send(worker, { question });
    return () => this.end();
  }

  rehearse(question: Question, rehearsed: (answer: Answer) => void): void {
    this.rehearsed = rehearsed;
    if (this.worker) this.send(this.worker, { rehearsal: question });
  }

  private send(worker: Worker, message: Message): void {
    worker.postMessage(message);
  }

  private begin(): Worker {
    const worker = (this.worker = new Worker(this.url));
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.receive(data);
    worker.onerror = (event) => this.giveUp(`The engine in this page stopped: ${event.message}`);
    if (this.whole) this.send(worker, { whole: this.whole });
    else void packedParts().then((packed) => this.send(worker, { packed }));
    return worker;
  }

  private receive(reply: Reply): void {
    if ('whole' in reply) return this.unpacked((this.whole = reply.whole));
    if ('rehearsed' in reply) return this.rehearsed(reply.rehearsed);
    clearTimeout(this.limit);
    if ('failure' in reply) this.unpacked(new Error(reply.failure));
    else this.answered(reply.answer);
    this.rests();
  }

  private end(): void {
    clearTimeout(this.limit);
    this.worker?.terminate();
    this.worker = undefined;
    this.rests();
  }

  private giveUp(text: string): void {
    this.end();
    this.answered({ status: 3, text });
  }
}

/** Names of the platforms among the files, without those for analysis, whose GPUs take no time. */
export const platformsAmong = (files: Files): string[] =>
  Object.keys(files)
    .map((name) => /^\/platforms\/([^/]+)\.yaml$/.exec(name)?.[1])
    .filter((name): name is string => name !== undefined && !name.startsWith('synthetic-'))
    .sort();

let engineRests = (): Promise<unknown> => Promise.resolve();

/** Resolved when the engine of this page is unpacked and has answered what it has been asked. */
export const whenEngineRests = (): Promise<unknown> => engineRests();

/** Starts the engine of this page, which is then unpacked while the page draws. */
export function sourceInPage(): Source {
  let answering: InWorker;
  const described = new Promise<Package>((found, failed) => {
    answering = new InWorker((whole) => (whole instanceof Error ? failed(whole) : found(whole)));
  }).then(({ schema, files }) => ({ schema, platforms: platformsAmong(files) }));
  engineRests = () => Promise.allSettled([described, answering.rest]);
  return { asker: new Asker(answering!), described, rehearse: (question, rehearsed) => answering.rehearse(question, rehearsed) };
}
