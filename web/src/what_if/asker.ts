// SPDX-License-Identifier: Apache-2.0
// Asks one question at a time. Of the questions that arrive meanwhile only the latest is asked next.
import type { Answer, Question } from './engine';
import type { Field } from './schema';

/** How far the work on a question is. */
export interface Progress {
  /** 0 to 1; null: unknown. */
  share: number | null;
  text: string;
}

/** What answers questions: the engine in the page, or a server. */
export interface Answering {
  /** Starts the work on a question, while no other is being answered.
   * @returns ends the work, which then is not answered */
  start(question: Question, answered: (answer: Answer) => void, progress: (progress: Progress) => void): () => void;
}

/** What can be asked. */
export interface Described {
  /** JSON Schema of a scenario. */
  schema: Field;
  /** Names of the platforms. */
  platforms: string[];
}

/** What a panel of other settings needs. Questions may be asked before it is known what can be asked. */
export interface Source {
  asker: Asker;
  described: Promise<Described>;
  /** Answers a question ahead of others that are alike, whose answers then come sooner: browsers compile the engine during its first answer.
   * None comes if that is interrupted. */
  rehearse?: (question: Question, rehearsed: (answer: Answer) => void) => void;
}

interface Waiting {
  question: Question;
  answered: (answer: Answer) => void;
  progress: (progress: Progress) => void;
}

/** How long a replaced question may still take: ending its work costs more than waiting for a short one. */
const patience_ms = 300;

export class Asker {
  private current: Waiting | undefined;
  private next: Waiting | undefined;
  private end: () => void = () => undefined;
  private patience: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly answering: Answering) {}

  /** A question that another one replaces gets no answer. */
  ask(question: Question, answered: (answer: Answer) => void, progress: (progress: Progress) => void = () => undefined): void {
    const asked = { question, answered, progress };
    if (!this.current) return this.start(asked);
    if (!this.next) this.patience = setTimeout(() => this.replace(), patience_ms);
    this.next = asked;
  }

  /** Gives up all questions. */
  cancel(): void {
    this.next = undefined;
    if (this.current) this.replace();
  }

  private start(asked: Waiting): void {
    this.current = asked;
    this.end = this.answering.start(
      asked.question,
      (answer) => this.finish(answer),
      (progress) => this.next ?? asked.progress(progress),
    );
  }

  private replace(): void {
    this.end();
    this.finish();
  }

  private finish(answer?: Answer): void {
    clearTimeout(this.patience);
    const { current, next } = this;
    this.current = this.next = undefined;
    if (next) this.start(next);
    else if (answer) current?.answered(answer);
  }
}
