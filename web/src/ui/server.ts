// SPDX-License-Identifier: Apache-2.0
// Asks the program that serves this page. cli/ui/ describes questions and answers.
import type { Answering, Described, Progress } from '../what_if/asker';
import { Turns, type PlanEngine } from '../plan/turns';
import type { Answer, Files, PlanQuestion, Question } from '../what_if/engine';

/** A question of one of the server's kinds. */
export interface ServerQuestion extends Pick<Question, 'scenario' | 'set' | 'fit'> {
  /** Of the planner. */
  plan?: string;
  /** Keys and their values, as of `--vary`. */
  vary?: string[];
  /** Files that are only in the memory of this page. */
  files?: Files;
}

const wrongInput = 2;
const unfinished = 3;

/** Its fields as pairs of a name and a value, each ended by NUL. A value with NUL would be cut into two. */
function bodyOf({ scenario, set, vary = [], files = {}, fit, plan }: ServerQuestion): string {
  const fields = [['scenario', scenario], ...set.map(([key, value]) => ['set', `${key}=${value}`]), ...vary.map((text) => ['vary', text])];
  if (fit) fields.push(['fit', 'true']);
  if (plan !== undefined) fields.push(['plan', plan]);
  for (const [name, text] of Object.entries(files)) fields.push(['file', name], ['text', text]);
  return fields.map(([name, value]) => `${name}\0${value!.replace(/\0/g, '\uFFFD')}\0`).join('');
}

/** Reads "progress SHARE WORDS" lines, then "answer STATUS" and the text to the end. @returns null: it ended before that */
async function answerIn(body: ReadableStream<Uint8Array>, progress: (progress: Progress) => void): Promise<Answer | null> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let status: number | undefined;
  let lines = '';
  for (;;) {
    const { done, value } = await reader.read();
    const text = decoder.decode(value, { stream: !done });
    if (status !== undefined) parts.push(text);
    else lines += text;
    for (let end = lines.indexOf('\n'); status === undefined && end >= 0; end = lines.indexOf('\n')) {
      const [what, first, ...rest] = lines.slice(0, end).split(' ');
      lines = lines.slice(end + 1);
      if (what === 'progress') progress({ share: first === '-' ? null : Number(first), text: rest.join(' ') });
      else {
        status = Number(first);
        parts.push(lines);
      }
    }
    if (done) return status === undefined ? null : { status, text: parts.join('') };
  }
}

/** @param restart the command that starts the server again */
export class Server {
  constructor(private readonly restart: string) {}

  /** @param kind a row of the server's table of questions
   * @param given up when the signal is aborted; then there is no answer */
  async ask(kind: string, question: ServerQuestion, given: AbortSignal, progress: (progress: Progress) => void = () => undefined): Promise<Answer | null> {
    try {
      const headers = { 'Content-Type': 'application/octet-stream' };
      const response = await fetch(`ask/${kind}`, { method: 'POST', body: bodyOf(question), headers, signal: given });
      if (response.status === 413) return { status: wrongInput, text: 'error: the chosen files are too large for one question\n  hint: start gradway ui in their folder, and open them from the list' };
      if (!response.ok) return { status: unfinished, text: `error: the server refused the question: ${await response.text()}` };
      const answer = await answerIn(response.body!, progress);
      if (answer) return answer;
    } catch {
      if (given.aborted) return null;
    }
    return { status: unfinished, text: `The program that serves this page has ended. Start it again:\n\n${this.restart}\n\nThen open the address that it prints.` };
  }

  /** What answers the questions of a panel. @param files in the memory of this page that they may name */
  answering(files: () => Files): Answering {
    let last: { question: string; answer: Answer } | undefined; // figures and charts are in one answer
    return {
      start: ({ scenario, set, fit }, answered, progress) => {
        const up = new AbortController();
        const question = { scenario, set, fit, files: files() };
        const key = JSON.stringify(question);
        const known = last?.question === key ? Promise.resolve(last.answer) : this.ask('run', question, up.signal, progress);
        void known.then((answer) => {
          if (!answer || up.signal.aborted) return;
          last = { question: key, answer };
          answered(answer);
        });
        return () => up.abort();
      },
    };
  }
}

/** Asks the server a few questions of the planner at a time, so that it answers them on all of its cores. */
export class ServerPlanner implements PlanEngine {
  readonly ready = Promise.resolve();
  readonly older = Promise.resolve('');
  readonly described: Promise<Described>;
  private readonly turns: Turns;

  /** @param left aborted when the page shows something else */
  constructor(private readonly server: Server, described: Described, size: number, left: AbortSignal) {
    this.described = Promise.resolve(described);
    this.turns = new Turns(size, ({ plan, text, own }, answered) => {
      const up = new AbortController();
      void server.ask(`plan-${plan}`, { scenario: '', set: [], plan: text, files: own }, up.signal).then((answer) => answer && answered(answer));
      return () => up.abort();
    });
    left.addEventListener('abort', () => this.keep(() => false));
  }

  fileOf(model: string): string {
    return `models/${model}.yaml`;
  }

  answering(own: () => Files): Answering {
    return this.server.answering(own);
  }

  ask(question: PlanQuestion): Promise<Answer> {
    return this.turns.ask(question);
  }

  keep(isWanted: (question: PlanQuestion) => boolean): void {
    this.turns.keep(isWanted);
  }
}
