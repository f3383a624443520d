// SPDX-License-Identifier: Apache-2.0
// The worker of a what-if: answers one question at a time, so that the page reacts while the engine runs.
import { ask, type Answer, type Files, type Question } from './engine';

export interface Asked {
  engine: WebAssembly.Module;
  files: Files;
  question: Question;
}

const scope = self as unknown as { onmessage: (event: MessageEvent<Asked>) => void; postMessage(answer: Answer): void };

scope.onmessage = async ({ data: { engine, files, question } }) => scope.postMessage(await ask(engine, files, question, 'page'));
