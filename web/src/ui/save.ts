// SPDX-License-Identifier: Apache-2.0
// Results as files, which the browser stores where it stores downloads.
import { h } from '../dom';
import type { PageDocument } from '../page_document';

export function save(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000); // browsers read it after the click
}

/** report.html of a document: this page with that document, which asks no server. */
export async function reportOf(data: PageDocument): Promise<string> {
  const page = await (await fetch('./')).text();
  const text = JSON.stringify(data).replace(/</g, '\\u003c');
  return page.replace("; connect-src 'self'", '').replace(/(<script id="data" type="application\/json">)[^]*?(<\/script>)/, (_, start: string, end: string) => start + text + end);
}
