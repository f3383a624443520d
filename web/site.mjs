// SPDX-License-Identifier: Apache-2.0
// Writes the site: the planner with its engine, the rows of docs/ACCURACY.md, and the documents as pages.
//   node site.mjs GRADWAY FOLDER
// The folder needs no server of its own: any web server sends it, and a browser opens it from a disk. Its files depend on the checkout and
// the program only.
import { buildSync } from 'esbuild';
import { Marked } from 'marked';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..');
const [program, folder] = process.argv.slice(2);
/** What the page shows first, until the reader asks something else. */
const first = ['--model', 'llama3_8b', '--tokens', '300B', '--gpus', '64', '--platforms', 'aws-p5.48xlarge,coreweave-8x-h100,nebius-8x-h100,azure-nd96isr-mi300x-v5'];
const gradway = (...words) => execFileSync(program, words, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] });

/** The module of the page that forms its questions. */
async function questionsOfPage() {
  const { outputFiles } = buildSync({ entryPoints: [join(here, 'src/plan/choices.ts')], bundle: true, write: false, format: 'esm' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** The program's answers to the first questions of the page. */
async function firstAnswers(plan) {
  const { campaignQuestion, clustersOf, layoutQuestion, spaced } = await questionsOfPage();
  const choices = spaced(plan.choices);
  const answers = {};
  const ask = (kind, question) => (answers[`${kind} ${question}`] = gradway('plan', '--answer', kind, '--question', question).trimEnd());
  const layouts = clustersOf(choices).map((cluster) => [cluster, JSON.parse(ask('layout', layoutQuestion(choices, cluster)))]);
  const seeds = 100; // of the page
  ask('campaigns', campaignQuestion(choices, true, seeds, layouts));
  return answers;
}

/** The rows of each file of cases that docs/ACCURACY.md validates without changes. */
function accuracyRows() {
  const commands = readFileSync(join(root, 'docs/ACCURACY.md'), 'utf8').matchAll(/^\$ build\/release\/gradway validate scenarios\/(\S+)\.yaml$/gm);
  const files = [...new Set([...commands].map(([, file]) => file))];
  return files.flatMap((file) => {
    const { source, cases } = JSON.parse(gradway('validate', `scenarios/${file}.yaml`, '--json'));
    return cases.map(({ anchor, group, ...row }) => ({ file, source, ...row }));
  });
}

const titleOf = (text) => /^# (.*)$/m.exec(text)?.[1].replace(/[*_`]/g, '') ?? 'gradway';
const slugOf = (text) => text.toLowerCase().replace(/<[^>]*>|&[a-z0-9#]+;/g, '').replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

/** A document as a page. @param name of the page, such as 'plan.html' */
function documentPage(name, text, names) {
  const address = (href) => {
    const [path, anchor] = href.split('#', 2);
    const page = path === '' ? name : `${path.replace(/^(\.\/|docs\/|\.\.\/)*/, '').replace(/^README\.md$/, 'index.md').replace(/\.md$/, '.html')}`;
    return /^[a-z]+:/.test(href) ? href : names.has(page) ? `${page}${anchor ? `#${anchor}` : ''}` : null;
  };
  const renderer = {
    heading({ tokens, depth }) {
      const inside = this.parser.parseInline(tokens);
      return `<h${depth} id="${slugOf(inside)}">${inside}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const inside = this.parser.parseInline(tokens);
      const to = address(href);
      return to === null ? inside : `<a href="${to}">${inside}</a>`;
    },
    image({ href, text: alt }) {
      return `<img src="${href.replace(/^docs\//, '')}" alt="${alt}">`;
    },
    html({ text: source }) {
      return source.replace(/</g, '&lt;');
    },
    table(token) {
      const row = (cells, tag) => `<tr>${cells.map((one) => `<${tag}>${this.parser.parseInline(one.tokens)}</${tag}>`).join('')}</tr>`;
      return `<div class="scroll" role="region" aria-label="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${token.rows.map((one) => row(one, 'td')).join('\n')}</tbody></table></div>\n`;
    },
    code({ text: source }) {
      return `<pre tabindex="0"><code>${source.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</code></pre>\n`;
    },
  };
  const body = new Marked().use({ gfm: true, renderer }).parse(text);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${titleOf(text).replace(/&/g, '&amp;').replace(/</g, '&lt;')} – gradway</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<nav aria-label="Site"><a href="../index.html">Planner</a> <a href="guide.html">Guide</a> <a href="ACCURACY.html">Accuracy</a></nav>
<main>
${body}</main>
</body>
</html>
`;
}

function writeDocuments(to) {
  mkdirSync(to, { recursive: true });
  const sources = [['index.html', 'README.md'], ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).sort().map((name) => [name.replace(/\.md$/, '.html'), `docs/${name}`])];
  const names = new Set(sources.map(([name]) => name));
  for (const [name, source] of sources) writeFileSync(join(to, name), documentPage(name, readFileSync(join(root, source), 'utf8'), names));
  for (const name of readdirSync(join(root, 'docs')).filter((one) => /\.(svg|png)$/.test(one))) copyFileSync(join(root, 'docs', name), join(to, name));
  copyFileSync(join(here, 'site/docs.css'), join(to, 'style.css'));
}

async function writePlanner(file) {
  gradway('plan', ...first, '--out', file, '--force');
  const tag = /(<script id="data" type="application\/json">)([^]*?)(<\/script>)/;
  const page = readFileSync(file, 'utf8');
  const data = JSON.parse(tag.exec(page)[2]);
  const models = JSON.parse(gradway('list', 'models', '--json')).models;
  data.site = {
    links: [['Guide', 'docs/guide.html']],
    answers: await firstAnswers(data.plan),
    accuracy: accuracyRows(),
    parameters: Object.fromEntries(models.map(({ name, parameters }) => [name, parameters])),
  };
  const text = JSON.stringify(data).replace(/</g, '\\u003c');
  writeFileSync(file, page.replace(tag, (_, start, old, end) => start + text + end).replace('worker-src blob:', "worker-src blob: 'self'"));
}

/** All files below a folder. */
const below = (path) => readdirSync(path, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? below(join(path, one.name)) : [join(path, one.name)]));

/** Keeps the site in browsers that have opened it once: sent by a server, it then opens without a network. */
function writeWorker(to) {
  const files = below(to).map((file) => relative(to, file)).filter((name) => name !== 'worker.js').sort();
  const digest = createHash('sha256');
  for (const name of files) digest.update(name).update(readFileSync(join(to, name)));
  const code = readFileSync(join(here, 'site/worker.js'), 'utf8');
  writeFileSync(join(to, 'worker.js'), code.replace('@VERSION@', digest.digest('hex').slice(0, 16)).replace('@FILES@', JSON.stringify(files)));
}

if (process.argv.length !== 4) {
  console.error('site.mjs: error: usage: node site.mjs GRADWAY FOLDER');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
await writePlanner(join(folder, 'index.html'));
writeDocuments(join(folder, 'docs'));
writeWorker(folder);
const size = below(folder).reduce((sum, file) => sum + readFileSync(file).length, 0);
console.log(`${folder}: ${readFileSync(join(folder, 'index.html')).length} bytes of index.html, ${size} bytes in all`);
