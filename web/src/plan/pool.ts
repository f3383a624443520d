// SPDX-License-Identifier: Apache-2.0
// Asks the engine in several workers at a time.
import { packedParts, platformsAmong, workerUrl } from '../what_if/in_worker';
import type { Answering, Described } from '../what_if/asker';
import type { Answer, Files, PlanQuestion, Question } from '../what_if/engine';
import type { Message, Package, Reply } from '../what_if/worker';
import { Turns, type PlanEngine } from './turns';

/** Workers that share one compiled engine. */
export class Pool implements PlanEngine {
  readonly ready: Promise<Package>;
  readonly described: Promise<Described>;
  /** The date of an engine that is older than the program that wrote the page. */
  readonly older: Promise<string>;
  private readonly idle: Worker[] = [];
  private readonly turns: Turns;

  /** @param roots data folders that precede the installed data */
  constructor(
    size: number,
    private readonly roots: string[],
  ) {
    this.turns = new Turns(size, (question, answered) => this.start(question, answered));
    const first = new Worker(workerUrl());
    this.ready = new Promise((found, failed) => {
      first.onmessage = ({ data }: MessageEvent<Reply>) => {
        if ('failure' in data) return failed(new Error(data.failure));
        if (!('whole' in data)) return;
        this.idle.push(first);
        found(data.whole);
      };
    });
    const parts = packedParts();
    this.older = parts.then(({ older }) => older);
    this.described = this.ready.then(({ schema, files }) => ({ schema, platforms: platformsAmong(files) }));
    this.described.catch(() => {}); // the page says that the engine cannot run
    void parts.then((packed) => this.send(first, { packed }));
  }

  fileOf(model: string): string {
    return `${this.roots[0] ?? '/'}models/${model}.yaml`;
  }

  ask(question: PlanQuestion): Promise<Answer> {
    return this.turns.ask(question);
  }

  keep(isWanted: (question: PlanQuestion) => boolean): void {
    this.turns.keep(isWanted);
  }

  answering(own: () => Files): Answering {
    return { start: (question, answered) => this.start({ ...question, own: own() }, answered) };
  }

  private send(worker: Worker, message: Message): void {
    worker.postMessage(message);
  }

  private another(whole: Package): Worker {
    const worker = new Worker(workerUrl());
    this.send(worker, { whole });
    return worker;
  }

  private start(question: PlanQuestion | Question, answered: (answer: Answer) => void): () => void {
    let isWanted = true;
    let worker: Worker | undefined;
    const begin = (whole: Package): void => {
      if (!isWanted) return;
      const busy = (worker = this.idle.pop() ?? this.another(whole));
      busy.onmessage = ({ data }: MessageEvent<Reply>) => {
        if (!('answer' in data)) return;
        this.idle.push(busy);
        answered(data.answer);
      };
      busy.onerror = (event) => {
        busy.terminate();
        answered({ status: 3, text: `The engine in this page stopped: ${event.message}` });
      };
      this.send(busy, { question });
    };
    this.ready.then(begin, () => {}); // the page says that the engine cannot run
    return () => {
      isWanted = false;
      worker?.terminate();
    };
  }
}
