// SPDX-License-Identifier: Apache-2.0
// Asks the engine in a worker. A new question replaces one that is not answered yet.
import { compile, unpack, type Answer, type Files, type Question } from './engine';
import type { Field } from './schema';

/** The worker's script, which the build inserts. */
declare const WORKER: string;

/** A longer question is one for the program. */
const longest_s = 20;

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
  private readonly url = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }));

  constructor(private readonly given: Package) {}

  ask(asked: Waiting): void {
    if (!this.current) return this.start(asked);
    if (!this.next) {
      clearTimeout(this.limit);
      this.limit = setTimeout(() => this.giveUp(), patience_ms);
    }
    this.next = asked;
  }

  private start(asked: Waiting): void {
    this.current = asked;
    this.worker ??= new Worker(this.url);
    this.worker.onmessage = (event: MessageEvent<Answer>) => this.end(event.data);
    this.worker.onerror = (event) => this.giveUp(`The engine in this page stopped: ${event.message}`);
    this.limit = setTimeout(() => this.giveUp(), longest_s * 1000);
    this.worker.postMessage({ engine: this.given.engine, files: this.given.files, question: asked.question });
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

export function asker(given: Package): (question: Question, answered: (answer: Answer) => void) => void {
  const one = new Asker(given);
  return (question, answered) => one.ask({ question, answered });
}
