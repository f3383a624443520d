// SPDX-License-Identifier: Apache-2.0
// Asks the engine in a worker. A new question replaces one that is not answered yet.
import type { Answer, Question } from './engine';
import type { Message, Package, Reply } from './worker';

/** The worker's script, which the build inserts. */
declare const WORKER: string;

/** The script of a worker that answers questions. */
export const workerUrl = (): string => URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }));

/** What the page carries, for the first worker to unpack. */
export function packedParts(): { engine: string; files: string } {
  const text = (id: string): string => document.getElementById(id)!.textContent!;
  return { engine: text('engine'), files: text('files') };
}

/** A longer question is one for the program. */
const longest_s = 20;

/** How long a replaced question may still take: ending its worker costs more than waiting for a short one. */
const patience_ms = 300;

interface Waiting {
  question: Question;
  answered: (answer: Answer) => void;
}

/** Asks one question at a time. Of the questions that arrive meanwhile only the latest is asked next; the others get no answer. */
class Asker {
  private worker: Worker | undefined;
  private current: Waiting | undefined;
  private next: Waiting | undefined;
  private limit: ReturnType<typeof setTimeout> | undefined;
  private whole: Package | undefined;
  private readonly url = workerUrl();

  constructor(private readonly unpacked: (whole: Package | Error) => void) {
    this.startWorker();
  }

  ask(asked: Waiting): void {
    if (!this.current) return this.start(asked);
    if (!this.next) {
      clearTimeout(this.limit);
      this.limit = setTimeout(() => this.giveUp(), patience_ms);
    }
    this.next = asked;
  }

  private send(message: Message): void {
    this.worker!.postMessage(message);
  }

  /** The first worker unpacks what the page carries. */
  private first(): Message {
    return this.whole ? { whole: this.whole } : { packed: packedParts() };
  }

  private startWorker(): void {
    this.worker = new Worker(this.url);
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      if ('answer' in data) return this.end(data.answer);
      if ('whole' in data) return this.unpacked((this.whole = data.whole));
      clearTimeout(this.limit);
      this.unpacked(new Error(data.failure));
    };
    this.worker.onerror = (event) => this.giveUp(`The engine in this page stopped: ${event.message}`);
    this.send(this.first());
  }

  private start(asked: Waiting): void {
    this.current = asked;
    if (!this.worker) this.startWorker();
    this.limit = setTimeout(() => this.giveUp(), longest_s * 1000);
    this.send({ question: asked.question });
  }

  private giveUp(text = `The engine in this page gave up after ${longest_s} s.`): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.end({ status: 3, text });
  }

  private end(answer: Answer): void {
    clearTimeout(this.limit);
    const { current, next } = this;
    this.current = this.next = undefined;
    if (next) this.start(next);
    else current?.answered(answer);
  }
}

/** The engine of this page. Questions may be asked before it is unpacked. */
export interface Engine {
  unpacked: Promise<Package>;
  ask(question: Question, answered: (answer: Answer) => void): void;
}

/** Starts the engine, which is then unpacked while the page draws. */
export function startEngine(): Engine {
  let one: Asker;
  const unpacked = new Promise<Package>((found, failed) => {
    one = new Asker((whole) => (whole instanceof Error ? failed(whole) : found(whole)));
  });
  return { unpacked, ask: (question, answered) => one.ask({ question, answered }) };
}
