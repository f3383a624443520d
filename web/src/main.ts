// SPDX-License-Identifier: Apache-2.0
// The page: reads its document and shows it by its kind.
import { campaignPage } from './campaign/page';
import { campaignsPage } from './campaigns/page';
import { mountChartsInTurn } from './chart';
import { comparePage } from './compare/page';
import type { PageDocument } from './page_document';
import { h } from './dom';
import { explainPage } from './explain';
import { bar, footer } from './header';
import { layoutsPage, optimizePage } from './optimize';
import { printing } from './print';
import { planPage } from './plan/page';
import { runPage } from './run/page';
import { sweepPage } from './sweep/page';
import type { UiDocument } from './ui/document';
import { uiPage } from './ui/page';
import { validatePage } from './validate/page';
import { whenEngineRests } from './what_if/in_worker';

function contents(data: Exclude<PageDocument, UiDocument>): HTMLElement[] {
  switch (data.kind) {
    case 'run':
      return runPage(data);
    case 'campaign':
      return campaignPage(data);
    case 'campaigns':
      return campaignsPage(data);
    case 'sweep':
      return sweepPage(data);
    case 'compare':
      return comparePage(data);
    case 'explain':
      return explainPage(data);
    case 'optimize':
      return optimizePage(data);
    case 'layouts':
      return layoutsPage(data);
    case 'plan':
      return planPage(data);
    case 'validate':
      return validatePage(data);
    default:
      return [h('p', { class: 'box warnings' }, `This page cannot show a document of the kind '${(data as { kind: string }).kind}'.`)];
  }
}

async function show(page: HTMLElement, text: string): Promise<void> {
  if (text.trim() === '') {
    page.append(h('p', { class: 'box warnings' }, 'This page was written without its data.'));
    return;
  }
  const data = JSON.parse(text) as PageDocument;
  if (data.kind === 'ui') {
    uiPage(page, data);
  } else {
    document.title = `${data.title} – gradway ${data.kind}`;
    const parts = contents(data);
    page.append(bar(data, parts), h('main', {}, ...parts), footer(data));
    await mountChartsInTurn(whenEngineRests());
  }
  if ('site' in data && data.site && location.protocol !== 'file:') void navigator.serviceWorker?.register('worker.js').catch(() => {}); // it only keeps the page for later
  printing();
  document.documentElement.dataset.ready = '';
}

void show(document.getElementById('page')!, document.getElementById('data')!.textContent ?? '');
