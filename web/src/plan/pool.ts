// SPDX-License-Identifier: Apache-2.0
// Asks the engine in several workers at a time.
import { packedParts, workerUrl } from '../what_if/in_worker';
import type { Answer, PlanQuestion } from '../what_if/engine';
import type { Message, Package, Reply } from '../what_if/worker';

interface Waiting {
  question: PlanQuestion;
  answered: (answer: Answer) => void;
}

/** Where the planner's questions go: to workers of this page, or to a program that serves it. */
export interface PlanEngine {
  /** Rejected if the engine cannot run here. */
  ready: Promise<unknown>;
  ask(question: PlanQuestion): Promise<Answer>;
  /** The name of the file of a model of the reader. */
  fileOf(model: string): string;
  /** Cancels all other questions. */
  keep(isWanted: (question: PlanQuestion) => boolean): void;
}

/** Workers that share one compiled engine. */
export class Pool implements PlanEngine {
  readonly ready: Promise<Package>;
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, Waiting>();
  private queue: Waiting[] = [];
  private whole: Package | undefined;

  /** @param roots data folders that precede the installed data */
  constructor(
    private readonly size: number,
    private readonly roots: string[],
  ) {
    const first = new Worker(workerUrl());
    this.ready = new Promise((found, failed) => {
      first.onmessage = ({ data }: MessageEvent<Reply>) => {
        if ('whole' in data) {
          this.whole = data.whole;
          this.takeOver(first);
          this.next();
          found(data.whole);
        } else if ('failure' in data) {
          failed(new Error(data.failure));
        }
      };
    });
    void packedParts().then((packed) => this.send(first, { packed }));
  }

  fileOf(model: string): string {
    return `${this.roots[0] ?? '/'}models/${model}.yaml`;
  }

  ask(question: PlanQuestion): Promise<Answer> {
    return new Promise((answered) => {
      this.queue.push({ question, answered });
      this.next();
    });
  }

  keep(isWanted: (question: PlanQuestion) => boolean): void {
    this.queue = this.queue.filter(({ question }) => isWanted(question));
    for (const [worker, { question }] of this.busy) {
      if (isWanted(question)) continue;
      worker.terminate();
      this.busy.delete(worker);
    }
    this.next();
  }

  private send(worker: Worker, message: Message): void {
    worker.postMessage(message);
  }

  private takeOver(worker: Worker): void {
    worker.onmessage = ({ data }: MessageEvent<Reply>) => 'answer' in data && this.end(worker, data.answer);
    worker.onerror = (event) => {
      worker.terminate();
      this.end(worker, { status: 3, text: `The engine in this page stopped: ${event.message}` }, false);
    };
    this.idle.push(worker);
  }

  private end(worker: Worker, answer: Answer, isUsable = true): void {
    const waiting = this.busy.get(worker);
    this.busy.delete(worker);
    if (isUsable) this.idle.push(worker);
    waiting?.answered(answer);
    this.next();
  }

  private next(): void {
    if (!this.whole) return;
    while (this.queue.length > 0) {
      if (this.idle.length === 0 && this.busy.size < this.size) {
        const more = new Worker(workerUrl());
        this.send(more, { whole: this.whole });
        this.takeOver(more);
      }
      const worker = this.idle.pop();
      if (!worker) return;
      const waiting = this.queue.shift()!;
      this.busy.set(worker, waiting);
      this.send(worker, { question: waiting.question });
    }
  }
}
