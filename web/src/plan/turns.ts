// SPDX-License-Identifier: Apache-2.0
// Asks a few questions at a time; the others wait for their turn.
import type { Answering, Described } from '../what_if/asker';
import type { Answer, Files, PlanQuestion } from '../what_if/engine';

/** Where the planner's questions go: to workers of this page, or to a program that serves it. */
export interface PlanEngine {
  /** Rejected if the engine cannot run here. */
  ready: Promise<unknown>;
  /** The date of an engine that is older than the program; else ''. */
  older: Promise<string>;
  ask(question: PlanQuestion): Promise<Answer>;
  /** The name of the file of a model of the reader. */
  fileOf(model: string): string;
  /** Cancels all other questions. */
  keep(isWanted: (question: PlanQuestion) => boolean): void;
  /** What answers questions on a scenario. @param own files that they may name */
  answering(own: () => Files): Answering;
  described: Promise<Described>;
}

/** Searches come after all else, first looks before the others: a reader waits for what they find, with its days and dollars. */
const lateness = ({ plan }: PlanQuestion): number => ['first-layout', 'layout'].indexOf(plan);

export class Turns {
  private readonly busy = new Map<PlanQuestion, () => void>();
  private queue: { question: PlanQuestion; answered: (answer: Answer) => void }[] = [];

  /** @param size questions at a time
   * @param start starts the work on a question. It returns what ends the work, which then is not answered */
  constructor(
    private readonly size: number,
    private readonly start: (question: PlanQuestion, answered: (answer: Answer) => void) => () => void,
  ) {}

  ask(question: PlanQuestion): Promise<Answer> {
    return new Promise((answered) => {
      this.queue.push({ question, answered });
      this.queue.sort((a, b) => lateness(a.question) - lateness(b.question));
      this.next();
    });
  }

  keep(isWanted: (question: PlanQuestion) => boolean): void {
    this.queue = this.queue.filter(({ question }) => isWanted(question));
    for (const [question, end] of this.busy) {
      if (isWanted(question)) continue;
      this.busy.delete(question);
      end();
    }
    this.next();
  }

  private next(): void {
    while (this.queue.length > 0 && this.busy.size < this.size) {
      const { question, answered } = this.queue.shift()!;
      const end = this.start(question, (answer) => {
        this.busy.delete(question);
        answered(answer);
        this.next();
      });
      this.busy.set(question, end);
    }
  }
}
