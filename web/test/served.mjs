// SPDX-License-Identifier: Apache-2.0
// The real `gradway ui`, and questions to it without a browser.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';

/** Starts the server and waits for its address. @param options of spawn: cwd, env */
export async function served(program, args = [], options = {}) {
  const child = spawn(program, ['ui', ...args], { stdio: ['ignore', 'ignore', 'pipe'], ...options });
  const ended = once(child, 'exit');
  let errors = '';
  child.stderr.setEncoding('utf8');
  const url = await new Promise((found, failed) => {
    child.stderr.on('data', (text) => {
      const line = /open (http:\S+) in a browser; Ctrl-C ends it\n/.exec((errors += text));
      if (line) found(line[1]);
    });
    child.once('exit', (status) => failed(new Error(`the server ended with ${status}: ${errors}`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid,
    /** Ends it as Ctrl-C does. @returns its exit status */
    async end(signal = 'SIGINT') {
      child.kill(signal);
      const [status] = await ended;
      return status;
    },
  };
}

/** A request with any headers, which fetch would not send. */
export const send = (url, { method = 'GET', headers = {}, body } = {}) =>
  new Promise((done, failed) => {
    const asked = request(url, { method, headers, agent: false }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => done({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() }));
      response.on('error', failed);
    });
    asked.on('error', failed);
    asked.end(body);
  });

/** Fields as web/src/ui/server.ts sends them. */
export const bodyOf = (fields) => fields.map(([name, value]) => `${name}\0${value}\0`).join('');

/** The answer to a question: its status, its text, and what was said of its progress. */
export async function ask(url, kind, fields, headers = {}) {
  const { status, text } = await send(`${url}ask/${kind}`, { method: 'POST', headers, body: bodyOf(fields) });
  if (status !== 200) throw new Error(`status ${status}: ${text}`);
  const [, progress, number, answer] = /^((?:progress .*\n)*)answer (\d+)\n([^]*)$/.exec(text);
  return { status: Number(number), text: answer, progress: progress.split('\n').slice(0, -1) };
}
