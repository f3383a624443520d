// SPDX-License-Identifier: Apache-2.0
// Answers requests for the files of the site from the browser's own copy, which is kept after the first visit.
const name = 'gradway-@VERSION@';
const files = @FILES@;

self.addEventListener('install', (event) => event.waitUntil(caches.open(name).then((cache) => cache.addAll(['./', ...files])).then(() => self.skipWaiting())));

self.addEventListener('activate', (event) =>
  event.waitUntil(caches.keys().then((all) => Promise.all(all.filter((one) => one.startsWith('gradway-') && one !== name).map((one) => caches.delete(one))))),
);

self.addEventListener('fetch', (event) => {
  if (event.request.method === 'GET') event.respondWith(caches.open(name).then((cache) => cache.match(event.request)).then((kept) => kept ?? fetch(event.request)));
});
