// SPDX-License-Identifier: Apache-2.0
// The server of `gradway ui` without a browser: whom it answers, what it reads, and that its answers are the program's:
//   node ui_server_test.mjs GRADWAY
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ask, bodyOf, send, served } from '../../web/test/served.mjs';

const program = resolve(process.argv[2]);
const work = mkdtempSync(join(tmpdir(), 'gradway-'));
process.on('exit', () => rmSync(work, { recursive: true }));

const folder = join(work, 'started-here');
const outside = join(work, 'outside');
const data = join(work, 'data');
for (const one of [folder, outside, join(data, 'scenarios')]) mkdirSync(one, { recursive: true });
const scenario = readFileSync(new URL('../../scenarios/article/g6e.yaml', import.meta.url), 'utf8');
writeFileSync(join(folder, 'mine.yaml'), scenario);
writeFileSync(join(folder, 'notes.yaml'), 'shopping: [bread]\n');
writeFileSync(join(outside, 'secret.yaml'), scenario);
writeFileSync(join(data, 'scenarios/ours.yaml'), scenario);
symlinkSync(join(outside, 'secret.yaml'), join(folder, 'link.yaml'));
symlinkSync(outside, join(folder, 'linked-folder'));
const env = { ...process.env, GRADWAY_PATH: data };

const gradway = (...words) => spawnSync(program, words, { cwd: folder, env, encoding: 'utf8', maxBuffer: 1e9 });
const server = await served(program, [], { cwd: folder, env });
const { url, port } = server;
const token = new URL(url).pathname;
/** Far more points than can be simulated while a test waits for the first ones. */
const longSweep = [['scenario', 'h200-4x/gpt_small'], ['vary', 'job.batch_per_gpu=1..1000'], ['vary', 'steps=20..119']];
const run = (name, ...fields) => ask(url, 'run', [['scenario', name], ...fields]);

const checks = {
  'the address has a token of 128 random bits, another one each time': async () => {
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
    const other = await served(program, [], { cwd: folder, env });
    assert.notEqual(new URL(other.url).pathname, token);
    assert.equal(await other.end(), 0);
  },

  'the page may ask its own server and nobody else': async () => {
    const { status, headers, text } = await send(url);
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['access-control-allow-origin'], undefined);
    assert.match(headers['content-security-policy'], /^default-src 'none'; .*; connect-src 'self'; frame-ancestors 'none'$/);
    assert.match(text, /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; [^"]*; connect-src 'self'">/);
    assert.doesNotMatch(headers['content-security-policy'], /https?:|\*/);
  },

  'a page in a file may ask nobody': () => {
    assert.equal(gradway('run', 'article/g6e', '--out', join(work, 'report')).status, 0);
    assert.doesNotMatch(readFileSync(join(work, 'report/report.html'), 'utf8').slice(0, 2000), /connect-src/);
  },

  'without the token nothing is answered': async () => {
    const wrong = token.replace(/[0-9a-f]/, (one) => (one === '0' ? '1' : '0'));
    for (const path of ['/', '/index.html', `${token.slice(0, -2)}/`, wrong, `${token.slice(0, -1)}0/`, '//', `/x${token}`])
      assert.equal((await send(`http://127.0.0.1:${port}${path}`)).status, 403, path);
    assert.equal((await send(`http://127.0.0.1:${port}${wrong}ask/run`, { method: 'POST', body: bodyOf([['scenario', 'mine.yaml']]) })).status, 403);
  },

  'a name of another host is refused, so that no name can be pointed here': async () => {
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', `127.0.0.1:${port + 1}`, `127.0.0.1:${port}.evil.example`, `[::1]:${port}`])
      assert.ok([400, 403].includes((await send(url, { headers: { Host: host } })).status), host);
    assert.equal((await send(url, { headers: { Host: `localhost:${port}` } })).status, 200);
    for (const head of ['', `Host: 127.0.0.1:${port}\r\nHost: evil.example\r\n`, `Host: 127.0.0.1:${port}\r\nHost: 127.0.0.1:${port}\r\n`])
      assert.match(await firstLineOf(`GET ${token} HTTP/1.1\r\n${head}\r\n`), /^HTTP\/1\.1 403 /, head);
  },

  'a page of another origin cannot ask': async () => {
    const body = bodyOf([['scenario', 'mine.yaml']]);
    for (const origin of ['https://evil.example', `http://evil.example:${port}`, `https://127.0.0.1:${port}`, `http://127.0.0.1:${port + 1}`, 'null', 'file://'])
      assert.equal((await send(`${url}ask/run`, { method: 'POST', headers: { Origin: origin }, body })).status, 403, origin);
    for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`])
      assert.equal((await send(`${url}ask/run`, { method: 'POST', headers: { Origin: origin }, body })).status, 200, origin);
    assert.equal((await send(`${url}ask/run`, { method: 'OPTIONS', headers: { Origin: 'https://evil.example' } })).status, 405);
  },

  'other paths, kinds and methods are refused': async () => {
    assert.equal((await send(`${url}ask/run`)).status, 404);
    assert.equal((await send(`${url}ask/shell`, { method: 'POST', body: '' })).status, 404);
    assert.equal((await send(url, { method: 'POST', body: '' })).status, 404);
    assert.equal((await send(url, { method: 'DELETE' })).status, 405);
    for (const path of ['../', '%2e%2e/', '..%2fscenarios/', 'ask', 'ask/', 'ask/run/../run', 'index.html'])
      assert.match(await firstLineOf(`GET ${token}${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`), /^HTTP\/1\.1 404 /, path);
    assert.ok((await send(`${url}${'a'.repeat(9000)}`)).status >= 400);
  },

  'a question that is too large is refused, and the next one is answered': async () => {
    const large = await send(`${url}ask/run`, { method: 'POST', body: 'x'.repeat((32 << 20) + 1) }).catch(({ code }) => ({ status: code }));
    assert.ok([413, 'EPIPE', 'ECONNRESET'].includes(large.status), `${large.status}`);
    assert.equal((await run('mine.yaml')).status, 0);
  },

  'a body that grows without end, or when it is unpacked, is refused': async () => {
    const head = (more) => `POST ${token}ask/run HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${more}\r\n`;
    const chunk = `100000\r\n${'x'.repeat(1 << 20)}\r\n`;
    for (const [more, part] of [['Transfer-Encoding: chunked\r\n', chunk], ['', 'x'.repeat(1 << 20)]])
      assert.doesNotMatch(await answerTo(head(more), part, 40), /answer/);
    assert.match(await answerTo(`${head('Content-Encoding: gzip\r\nContent-Length: 5\r\n')}hello`), /^HTTP\/1\.1 415 /);
    assert.equal((await run('mine.yaml')).status, 0);
  },

  'a head that is too long is refused as soon as it is': async () => {
    const field = `X-Field: ${'y'.repeat(1000)}\r\n`;
    const begin = `GET ${token} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
    assert.match(await answerTo(`${begin}${field.repeat(15)}\r\n`), /^HTTP\/1\.1 200 /);
    for (const [first, part] of [[begin, field], ['GET /', 'a'.repeat(1000)], ['', 'x'.repeat(1000)], [`${begin}X: `, 'y'.repeat(1000)]])
      assert.match(await answerTo(first, part, 17), /^(HTTP\/1\.1 431 |$)/, first);
    assert.equal((await send(url)).status, 200);
  },

  'hosts and origins count as they were sent': async () => {
    const post = (more) => `POST ${token}ask/scenarios HTTP/1.1\r\n${more}Content-Length: 0\r\n\r\n`;
    const own = `Host: 127.0.0.1:${port}\r\n`;
    assert.match(await firstLineOf(post(`${own}Origin: http://127.0.0.1:${port}\r\n`)), /^HTTP\/1\.1 200 /);
    for (const more of [`${own}Origin:\r\n`, `${own}Origin: \r\n`, `Host: 127.0.0.1:${port}\0\r\n`, `Host: 127.0.0.1:${port}\0.evil.example\r\n`, `host : 127.0.0.1:${port}\r\n`])
      assert.doesNotMatch(await firstLineOf(post(more)), / 200 /, more);
  },

  'connections that send little do not keep others out': async () => {
    const slow = Array.from({ length: 60 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}));
    const drip = setInterval(() => slow.forEach((socket) => socket.writable && socket.write('G')), 100);
    try {
      for (let i = 0; i < 3; ++i) assert.equal((await send(url)).status, 200);
    } finally {
      clearInterval(drip);
      slow.forEach((socket) => socket.destroy());
    }
  },

  'no other address of this machine listens': async () => {
    const others = Object.values(networkInterfaces()).flat().filter(({ address, scopeid }) => address !== '127.0.0.1' && !scopeid).map(({ address }) => address);
    for (const address of [...others, '127.0.0.2']) {
      const socket = connect({ host: address, port, timeout: 5000 });
      const [error] = await Promise.race([once(socket, 'error'), once(socket, 'connect'), once(socket, 'timeout')]);
      socket.destroy();
      assert.ok(error?.code === 'ECONNREFUSED' || error?.code === 'EHOSTUNREACH' || error?.code === 'ENETUNREACH' || error?.code === 'EADDRNOTAVAIL', `${address} answers`);
    }
  },

  'answers are the bytes of the program': async () => {
    for (const [name, set] of [['article/g6e', []], ['mine.yaml', ['job.gpus=4']], ['ours', ['strategy.bucket_cap=100 MiB', 'job.batch_per_gpu=48']], ['h200-4x/gpt_small', []]]) {
      const fields = set.map((text) => ['set', text]);
      const words = set.flatMap((text) => ['--set', text]);
      const report = gradway('run', name, ...words, '--json');
      assert.equal(report.status, 0, report.stderr);
      assert.equal((await ask(url, 'report', [['scenario', name], ...fields])).text, report.stdout, name);
      const page = await run(name, ...fields);
      assert.equal(page.status, 0);
      assert.equal(page.text, gradway('run', name, ...words, '--page-data').stdout);
      const { report: shown, yaml } = JSON.parse(page.text);
      const json = JSON.parse(report.stdout);
      for (const part of ['metrics', 'interval', 'scenario', 'warnings']) assert.deepEqual(shown[part], json[part], part);
      writeFileSync(join(work, 'again.yaml'), yaml);
      assert.deepEqual(JSON.parse(gradway('run', join(work, 'again.yaml'), '--json').stdout).metrics, json.metrics);
    }
  },

  'a sweep is that of the program, with its failed points': async () => {
    const fields = [['scenario', 'article/g6e'], ['set', 'job.batch_per_gpu=48'], ['vary', 'job.gpus=2,3000000,4'], ['vary', 'strategy.comm_hook=none,bf16']];
    const words = ['sweep', 'article/g6e', '--set', 'job.batch_per_gpu=48', '--vary', 'job.gpus=2,3000000,4', '--vary', 'strategy.comm_hook=none,bf16'];
    const failed = await ask(url, 'sweep', fields);
    assert.equal(failed.status, 2);
    assert.match(failed.text, /^--vary job\.gpus=3000000: error: /);
    fields[2] = ['vary', 'job.gpus=2,4'];
    words[5] = 'job.gpus=2,4';
    const { status, text } = await ask(url, 'sweep', fields);
    assert.equal(status, 0);
    const { sweep, csv } = JSON.parse(text);
    assert.deepEqual(sweep.vary, [{ key: 'job.gpus', values: ['2', '4'] }, { key: 'strategy.comm_hook', values: ['none', 'bf16'] }]);
    assert.equal(csv, gradway(...words, '--csv').stdout);
    assert.equal((await ask(url, 'sweep-reports', fields)).text, gradway(...words, '--json').stdout);
  },

  'the list of scenarios is that of the program, with the files of the folder': async () => {
    const { text } = await send(url);
    const start = JSON.parse(/<script id="data" type="application\/json">([^]*?)<\/script>/.exec(text)[1]);
    assert.equal(start.kind, 'ui');
    assert.deepEqual(start.own, ['link.yaml', 'mine.yaml']);
    assert.ok(start.scenarios.includes('article/g6e') && start.scenarios.includes('ours'));
    assert.ok(start.platforms.includes('dgx-h100'));
    assert.deepEqual(start.schema_of_scenarios, JSON.parse(gradway('schema').stdout));
    const listed = JSON.parse((await ask(url, 'scenarios', [])).text).scenarios;
    assert.deepEqual(listed.map(({ name }) => name), start.scenarios);
    assert.match(listed.find(({ name }) => name === 'article/g6e').description, /^vit_l_32 on 8 GPUs of aws-g6e/);
  },

  'files outside the folders are not read': async () => {
    const names = ['../outside/secret.yaml', join(outside, 'secret.yaml'), 'link.yaml', 'link', 'linked-folder/secret.yaml', './../outside/secret.yaml', 'x/../../outside/secret.yaml', '/etc/passwd', '../../../../etc/passwd', '--help', '--out=x'];
    for (const name of names) {
      const { status, text } = await run(name);
      assert.equal(status, 2, name);
      assert.match(text, /^error: the page may not read '/, name);
      assert.doesNotMatch(text, /vit_l_32|root:/, name);
    }
    for (const file of ['../outside/x.yaml', '/x.yaml', '-x.yaml', 'linked-folder/x.yaml']) {
      const { status, text } = await run(file, ['file', file], ['text', scenario]);
      assert.equal(status, 2, file);
      assert.match(text, /^error: the page may not read '/, file);
    }
    for (const value of ['model=../outside/secret', `model=${join(outside, 'secret')}`, 'platform=linked-folder/secret']) {
      const { status, text } = await run('mine.yaml', ['set', value]);
      assert.equal(status, 2, value);
      assert.match(text, /invalid (model|platform) name/, value);
    }
    assert.ok(!existsSync(join(folder, 'x')));
  },

  'the planner reads no files by their paths': async () => {
    const question = (model, platform) => JSON.stringify({ model, framework: 'pytorch', global_batch: 64, failures: 'none', set: [], deadline: '', budget: '', seeds: 1, clusters: [{ platform, gpus: 8, layout: [] }] });
    for (const path of ['/etc/passwd', join(outside, 'secret.yaml'), '../outside/secret.yaml', 'link.yaml', 'linked-folder/secret.yaml', 'notes.yaml'])
      for (const [kind, text] of ['plan-first-layout', 'plan-layout', 'plan-campaigns', 'plan-scenario'].flatMap((kind) => [[kind, question(path, 'dgx-h100')], [kind, question('gpt_124m', path)]])) {
        const answer = await ask(url, kind, [['plan', text]]);
        assert.equal(answer.status, 2, path);
        assert.match(answer.text, /^error: (invalid (model|platform) name|'[^']*' is a file name, not the name of a (model|platform))/, path);
        assert.doesNotMatch(answer.text, /vit_l_32|root:|bread/, path);
      }
    assert.equal((await ask(url, 'plan-scenario', [['plan', question('gpt_124m', 'dgx-h100')]])).status, 0);
  },

  'a value cannot become an option': async () => {
    const { status, text } = await run('mine.yaml', ['set', '--out=written']);
    assert.equal(status, 2);
    assert.match(text, /^--set --out=written: error: unknown key '--out'/);
    assert.deepEqual(readdirSync(folder).sort(), ['link.yaml', 'linked-folder', 'mine.yaml', 'notes.yaml']);
  },

  'files of the page replace those of the folder, with the models that they name': async () => {
    const model = readFileSync(new URL('../../models/ddp-24.yaml', import.meta.url), 'utf8');
    const own = scenario.replace(/^model: .*/m, 'model: dropped').replace(/^(anchor|input):[^]*?(?=^\w)/gm, '');
    const first = await run('mine.yaml', ['file', 'mine.yaml'], ['text', own]);
    assert.equal(first.status, 2);
    assert.match(first.text, /mine\.yaml:\d+:\d+: error: unknown model 'dropped'/);
    const files = [['file', 'mine.yaml'], ['text', own], ['file', 'dropped.yaml'], ['text', model]];
    const second = await run('mine.yaml', ...files);
    assert.equal(second.status, 0, second.text);
    assert.equal(JSON.parse(second.text).report.scenario.model, 'dropped');
    assert.equal((await run('mine.yaml', ['file', 'mine.yaml'], ['text', own])).status, 2, 'nothing is kept');
    assert.equal(JSON.parse((await run('mine.yaml')).text).report.scenario.model, 'vit_l_32');
    assert.ok(!existsSync(join(folder, 'dropped.yaml')));
  },

  'a mistake is answered with its place and a hint': async () => {
    const { status, text } = await run('mine.yaml', ['file', 'mine.yaml'], ['text', scenario.replace(/^platform: .*/m, 'platform: aws-g6e.48xlarg')]);
    assert.equal(status, 2);
    assert.match(text, /^mine\.yaml:\d+:\d+: error: unknown platform 'aws-g6e\.48xlarg'[^]*\n +hint: did you mean 'aws-g6e\.48xlarge'/);
    for (const body of ['scenario', 'scenario\0', 'scenario\0x\0other\0y\0'])
      assert.match((await send(`${url}ask/run`, { method: 'POST', body })).text, /^answer 2\nerror: the question of the page is damaged/);
  },

  'long work tells its progress, and ends with its connection': async () => {
    const asked = request(`${url}ask/sweep`, { method: 'POST', agent: false });
    asked.end(bodyOf(longSweep));
    const [response] = await once(asked, 'response');
    let text = '';
    let worker;
    for await (const part of response) {
      text += part;
      if (!/^progress 0\.\d+ point [1-9]\d* of 100000/m.test(text)) continue;
      worker = await working();
      assert.equal((await run('mine.yaml')).status, 0, 'others are answered meanwhile');
      assert.ok(existsSync(`/proc/${worker}`));
      break; // ends the connection
    }
    assert.match(text, /^progress 0\.\d+ point \d+ of 100000/m);
    await until(() => !existsSync(`/proc/${worker}`));
  },

  'a question whose process ends is answered, and so is the next': async () => {
    const asked = request(`${url}ask/sweep`, { method: 'POST', agent: false });
    asked.end(bodyOf(longSweep));
    const [response] = await once(asked, 'response');
    let text = '';
    let worker;
    for await (const part of response) {
      text += part;
      if (worker === undefined && /^progress 0\.\d+ point [1-9]\d* of 100000/m.test(text)) process.kill((worker = await working()), 'SIGKILL');
    }
    assert.match(text, /^answer 3\nerror: the simulation's process has ended with signal 9 \(Killed\)\n  hint: /m);
    assert.equal((await run('mine.yaml')).status, 0);
  },
};

/** Processes that a process has started. */
function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number));
}

/** The process of the server that computes now. */
async function working() {
  const before = new Map(childrenOf(server.pid).map((pid) => [pid, ticksOf(pid)]));
  const found = () => [...before].find(([pid, ticks]) => ticksOf(pid) > ticks + 5)?.[0];
  await until(found);
  return found();
}

/** Time that a process has computed, in ticks. */
function ticksOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** Waits for what will come, however long this machine takes; the test as a whole has a limit. */
async function until(condition) {
  while (!condition()) await new Promise((done) => setTimeout(done, 20));
}

/** What is answered to a text, and to a part that is sent again and again. */
async function answerTo(text, part = '', times = 0) {
  const socket = connect({ host: '127.0.0.1', port });
  let answer = '';
  socket.setEncoding('latin1').on('data', (more) => (answer += more));
  const closed = new Promise((done) => socket.on('error', () => {}).on('close', done));
  for (const more of [text, ...Array(times).fill(part)]) socket.write(more);
  await closed;
  return answer;
}

/** The first line of the answer to a request that no library would send. */
async function firstLineOf(text) {
  const socket = connect({ host: '127.0.0.1', port });
  socket.write(text);
  let answer = '';
  for await (const part of socket) if ((answer += part).includes('\r\n')) break;
  return answer.slice(0, answer.indexOf('\r\n'));
}

let failed = 0;
for (const [what, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok: ${what}`);
  } catch (error) {
    failed += 1;
    console.error(`FAILED: ${what}\n${error.stack}`);
  }
}

const children = childrenOf(server.pid);
try {
  assert.equal(await server.end(), 0, 'Ctrl-C ends it with exit status 0');
  for (const pid of children) assert.ok(!existsSync(`/proc/${pid}`), 'its processes end with it');
  await assert.rejects(send(url), { code: 'ECONNREFUSED' });
  const outsider = await served(program, [join(outside, 'secret.yaml')], { cwd: folder, env });
  assert.equal((await ask(outsider.url, 'run', [['scenario', join(outside, 'secret.yaml')]])).status, 0, 'the scenario of the command line is read wherever it is');
  assert.equal(await outsider.end('SIGTERM'), 0);
  const taken = await served(program, ['--port', String(port)], { cwd: folder, env });
  assert.equal(taken.port, port);
  const second = gradway('ui', '--port', String(port));
  assert.equal(second.status, 2);
  assert.equal(second.stderr, `error: the port ${port} cannot be used: Address already in use\n  hint: give another one with '--port', or leave it out for a free one\n`);
  assert.equal(await taken.end(), 0);
  const mistyped = gradway('ui', 'article/g6');
  assert.equal(mistyped.status, 2);
  assert.match(mistyped.stderr, /^article\/g6: error: there is no such file\n  hint: did you mean 'article\/g6e'/);
  assert.equal(gradway('ui', '--port', '70000').status, 2);
  const killed = await served(program, [], { cwd: folder, env });
  const asked = request(`${killed.url}ask/sweep`, { method: 'POST', agent: false }).on('error', () => {});
  asked.end(bodyOf(longSweep));
  const [response] = await once(asked, 'response');
  let progress = '';
  response.on('error', () => {}).on('data', (part) => (progress += part));
  await until(() => /^progress 0\.\d+ point [1-9]\d* of/m.test(progress));
  const atWork = childrenOf(killed.pid);
  assert.ok(atWork.length > 0);
  await killed.end('SIGKILL');
  await until(() => atWork.every((pid) => !existsSync(`/proc/${pid}`) || / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))));
} catch (error) {
  failed += 1;
  console.error(`FAILED: start and end\n${error.stack}`);
}
process.exit(failed === 0 ? 0 : 1);
