// SPDX-License-Identifier: Apache-2.0
// The engine that the page carries, in a worker.
import { Asker, type Answering, type Source } from './asker';
import { compile, unpack, type Answer, type Files, type Question } from './engine';
import type { Field } from './schema';

/** The worker's script, which the build inserts. */
declare const WORKER: string;

/** A longer question is one for the program. */
const longest_s = 20;

/** What the page carries for what-ifs, unpacked. */
interface Package {
  engine: WebAssembly.Module;
  files: Files;
  /** JSON Schema of a scenario. */
  schema: Field;
}

async function unpackPackage(): Promise<Package> {
  const text = (id: string): string => document.getElementById(id)!.textContent!;
  const [engine, packed] = await Promise.all([compile(text('engine')), unpack(text('files'))]);
  return { engine, ...(JSON.parse(new TextDecoder().decode(packed)) as Pick<Package, 'files' | 'schema'>) };
}

class InWorker implements Answering {
  private worker: Worker | undefined;
  private readonly url = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }));

  constructor(private readonly given: Package) {}

  start(question: Question, answered: (answer: Answer) => void): () => void {
    const worker = (this.worker ??= new Worker(this.url));
    const end = (): void => {
      clearTimeout(limit);
      worker.terminate();
      this.worker = undefined;
    };
    const giveUp = (text: string): void => {
      end();
      answered({ status: 3, text });
    };
    const limit = setTimeout(() => giveUp(`The engine in this page gave up after ${longest_s} s.`), longest_s * 1000);
    worker.onmessage = (event: MessageEvent<Answer>) => {
      clearTimeout(limit);
      answered(event.data);
    };
    worker.onerror = (event) => giveUp(`The engine in this page stopped: ${event.message}`);
    worker.postMessage({ engine: this.given.engine, files: this.given.files, question });
    return end;
  }
}

/** Names of the platforms among the files. */
const platforms = (files: Files): string[] =>
  Object.keys(files)
    .map((name) => /^\/platforms\/([^/]+)\.yaml$/.exec(name)?.[1])
    .filter((name): name is string => name !== undefined)
    .sort();

export async function sourceInPage(): Promise<Source> {
  const given = await unpackPackage();
  return { asker: new Asker(new InWorker(given)), schema: given.schema, platforms: platforms(given.files) };
}
