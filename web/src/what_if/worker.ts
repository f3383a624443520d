// SPDX-License-Identifier: Apache-2.0
// The worker of a what-if: unpacks the engine and answers one question at a time, so that the page reacts meanwhile.
import { ask, compile, GivenFiles, unpacked, type Answer, type Files, type PlanQuestion, type Question } from './engine';
import type { Field } from './schema';

/** What the page carries for what-ifs, unpacked. */
export interface Package {
  engine: WebAssembly.Module;
  files: Files;
  /** JSON Schema of a scenario. */
  schema: Field;
}

/** One message has the package: as the texts of the page, or as an earlier worker unpacked it. Others have questions, which wait for it. */
export type Message = { packed: { engine: string; files: string } } | { whole: Package } | { question: Question | PlanQuestion } | { rehearsal: Question };

/** The package, if the message had the texts of the page; then the answer to each question. */
export type Reply = { whole: Package } | { failure: string } | { answer: Answer } | { rehearsed: Answer };

const scope = self as unknown as { onmessage: (event: MessageEvent<Message>) => void; postMessage(reply: Reply): void };
let give: (given: Promise<{ engine: WebAssembly.Module; files: GivenFiles }>) => void;
const ready = new Promise<{ engine: WebAssembly.Module; files: GivenFiles }>((found) => (give = found));

async function unpack(texts: { engine: string; files: string }): Promise<Package> {
  const [engine, rest] = await Promise.all([compile(texts.engine), unpacked(texts.files).json() as Promise<Pick<Package, 'files' | 'schema'>>]);
  return { engine, ...rest };
}

const given = ({ engine, files }: Package) => ({ engine, files: new GivenFiles(files) });

scope.onmessage = ({ data }) => {
  if ('whole' in data) {
    give(Promise.resolve(given(data.whole)));
  } else if ('packed' in data) {
    const whole = unpack(data.packed);
    give(whole.then(given));
    whole.then(
      (unpacked) => scope.postMessage({ whole: unpacked }),
      (error) => scope.postMessage({ failure: error instanceof Error ? error.message : String(error) }),
    );
  } else {
    ready.then(
      async ({ engine, files }) => {
        const answer = await ask(engine, files, 'question' in data ? data.question : data.rehearsal);
        scope.postMessage('question' in data ? { answer } : { rehearsed: answer });
      },
      () => {}, // the page knows that the engine cannot be unpacked
    );
  }
};
