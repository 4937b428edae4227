// Shows a page of its own while the computer with the memory cannot be reached. `SHELL` and `OFFLINE` are defined before this text.
"use strict";

const CACHE = `shell ${SHELL.join(" ")}`;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  const removeOld = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)));
  };
  event.waitUntil(Promise.all([removeOld(), self.registration.navigationPreload?.enable()]));
});

// Only what is the same for everyone is ever answered from the cache, and nothing is added to it later.
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (request.mode !== "navigate") {
    if (url.pathname !== OFFLINE && SHELL.includes(url.pathname)) event.respondWith(caches.match(url.pathname).then((found) => found ?? fetch(request)));
    return;
  }
  // The request of the browser itself. One that this script made would hide which page asked, and cookies would be sent to it.
  if (self.registration.navigationPreload) {
    const offline = () => caches.match(OFFLINE).then((found) => found ?? Response.error());
    event.respondWith(Promise.resolve(event.preloadResponse).then((response) => response ?? offline(), offline));
  }
});
