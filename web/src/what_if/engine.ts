// SPDX-License-Identifier: Apache-2.0
// Asks gradway.wasm (wasm) what `gradway run SCENARIO --json` would print.

/** Texts by name. Those of the installed data start with '/', such as '/models/vit_l_32.yaml'; others are the user's. */
export type Files = Record<string, string>;

/** Files for all questions. A run needs few of them, so that they are encoded when they are read. */
export class GivenFiles {
  readonly names: string;
  private readonly encoded = new Map<string, Uint8Array>();

  constructor(private readonly texts: Files) {
    this.names = Object.keys(texts).join('\0');
  }

  /** The same and others; these first. */
  and(others: Files): GivenFiles {
    return Object.keys(others).length === 0 ? this : new GivenFiles({ ...this.texts, ...others });
  }

  bytes(name: string): Uint8Array {
    let bytes = this.encoded.get(name);
    if (!bytes) this.encoded.set(name, (bytes = new TextEncoder().encode(this.texts[name])));
    return bytes;
  }
}

/** What is asked. report: report.json, the same bytes as the program's; figures: the report and the `yaml` of the scenario; page: the
 * document of report.html, too, for which a job with many micro-batches is simulated a second time */
export type Wanted = 'report' | 'figures' | 'page';

export interface Question {
  /** A name, such as 'article/g6e' of '/scenarios/article/g6e.yaml', or the name of one of the files. */
  scenario: string;
  /** Keys and values, in YAML, as of `--set`; a later one replaces an earlier one. */
  set: [key: string, value: string][];
  /** Data folders that precede the installed data: names that files start with. */
  roots?: string[];
  wanted: Wanted;
  /** The run has the largest batch that fits, as with `--fit`. */
  fit?: boolean;
  /** Files besides those of the page. */
  own?: Files;
}

/** A question of the planner. */
export interface PlanQuestion {
  /** layout: of the first cluster; first-layout: the same, sooner, perhaps a slower one; campaigns: on all clusters, whose layouts are known; scenario: of the first cluster, as YAML; model: of a
   * config.json, as YAML. */
  plan: 'first-layout' | 'layout' | 'campaigns' | 'scenario' | 'model';
  /** JSON (see DATA.md), or the text of config.json. */
  text: string;
  roots: string[];
  /** Files besides those of the page. */
  own: Files;
}

export interface Answer {
  /** Exit status of `gradway run`: 0 done, 1 a bug, 2 wrong input, 3 the simulation could not finish. */
  status: number;
  /** The document; if the status is not 0, the program's message. */
  text: string;
}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  gradway_text(size: number): number;
  gradway_files(): void;
  gradway_root(): void;
  gradway_set(): void;
  gradway_fit(): void;
  gradway_run(): number;
  gradway_figures(): number;
  gradway_page(): number;
  gradway_plan(): number;
  gradway_answer(): number;
  gradway_answer_size(): number;
}

/** The bytes of a text in base64; newer browsers do this natively, in a tenth of the time. */
function bytesOf(packed: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, packed);
  const coded = atob(packed);
  const bytes = new Uint8Array(coded.length);
  for (let i = 0; i < coded.length; ++i) bytes[i] = coded.charCodeAt(i);
  return bytes;
}

/** The bytes of a text that holds them in base64, compressed by gzip. */
export function unpacked(packed: string): Response {
  const bytes = bytesOf(packed);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')), { headers: { 'Content-Type': 'application/wasm' } });
}

/** Compiles the engine, once for all questions, while it is decompressed. @param packed gradway.wasm */
export const compile = (packed: string): Promise<WebAssembly.Module> => WebAssembly.compileStreaming(unpacked(packed));

const noSuchFile = 8; // WASI's errno badf
const unfinished = 3;

/** The system calls that the C library needs: output is discarded, and there are no environment variables. */
function system() {
  let memory: WebAssembly.Memory;
  const number = (at: number, value: number) => new DataView(memory.buffer).setUint32(at, value, true);
  const imports = {
    fd_write(_file: number, parts: number, count: number, written: number) {
      const view = new DataView(memory.buffer);
      let size = 0;
      for (let i = 0; i < count; ++i) size += view.getUint32(parts + 8 * i + 4, true);
      number(written, size);
      return 0;
    },
    fd_read: () => noSuchFile,
    fd_close: () => 0,
    fd_seek: () => noSuchFile,
    fd_fdstat_get: () => noSuchFile,
    environ_sizes_get(count: number, size: number) {
      number(count, 0);
      number(size, 0);
      return 0;
    },
    environ_get: () => 0,
    proc_exit(status: number) {
      throw new Error(`the engine ended with status ${status}`);
    },
  };
  return { imports, attach: (to: WebAssembly.Memory) => (memory = to) };
}

/** How the engine reads the files. @param memory of the engine */
const reading = (files: GivenFiles, memory: () => WebAssembly.Memory) => {
  const named = (at: number, length: number): Uint8Array => files.bytes(new TextDecoder().decode(new Uint8Array(memory().buffer, at, length)));
  return {
    file_size: (name: number, length: number) => named(name, length).length,
    read_file: (name: number, length: number, to: number) => new Uint8Array(memory().buffer).set(named(name, length), to),
  };
};

/** A question that an instance of the engine has been given, ready to be answered. @return the status */
type Asking = (gradway: Exports, give: (text: string) => void) => number;

const asking = ({ scenario, set, wanted, fit }: Question): Asking => (gradway, give) => {
  for (const [key, value] of set) {
    give(key);
    give(value);
    gradway.gradway_set();
  }
  if (fit) gradway.gradway_fit();
  give(scenario);
  return { report: () => gradway.gradway_run(), figures: () => gradway.gradway_figures(), page: () => gradway.gradway_page() }[wanted]();
};

const planning = ({ plan, text }: PlanQuestion): Asking => (gradway, give) => {
  give(plan);
  give(text);
  return gradway.gradway_plan();
};

/** Answers a question in a fresh instance of the engine.
 * @param engine gradway.wasm, compiled
 * @param given all that the question names */
export async function ask(engine: WebAssembly.Module, given: GivenFiles, question: Question | PlanQuestion): Promise<Answer> {
  const files = given.and(question.own ?? {});
  const { imports, attach } = system();
  const instance = await WebAssembly.instantiate(engine, { wasi_snapshot_preview1: imports, gradway: reading(files, () => gradway.memory) });
  const gradway = instance.exports as unknown as Exports;
  attach(gradway.memory);
  const encoder = new TextEncoder();
  const give = (text: string) => {
    const bytes = encoder.encode(text);
    const at = gradway.gradway_text(bytes.length);
    new Uint8Array(gradway.memory.buffer, at, bytes.length).set(bytes);
  };
  try {
    gradway._initialize();
    give(files.names);
    gradway.gradway_files();
    for (const root of question.roots ?? []) {
      give(root);
      gradway.gradway_root();
    }
    const status = ('plan' in question ? planning(question) : asking(question))(gradway, give);
    const answer = new Uint8Array(gradway.memory.buffer, gradway.gradway_answer(), gradway.gradway_answer_size());
    return { status, text: new TextDecoder().decode(answer) };
  } catch (error) {
    return { status: unfinished, text: `error: the engine in this page stopped: ${error instanceof Error ? error.message : error}\n` };
  }
}
