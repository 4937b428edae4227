// Parts of pages that are loaded later, and previews of links to memories, while the pointer or the focus is on them.

/** Time on a link after which its preview is shown, and time after which it is hidden, in milliseconds. */
const [LINK_DELAY, LINK_END] = [300, 150];

/** The path of the page of a memory. */
const MEMORY_PATH = /^\/memories\/[0-9a-f-]{36}$/;

let preview;
let previewedLink;
let previewTimer;

/** Returns the link to another memory at an element. A heading of a list is shown with its text already. */
function findMemoryLink(target) {
  const link = target instanceof Element ? target.closest("main a") : null;
  const isOther = link && MEMORY_PATH.test(link.pathname) && link.origin === location.origin && link.pathname !== location.pathname;
  return isOther && !link.closest("h2, h3, nav, svg") ? link : undefined;
}

function hidePreview() {
  clearTimeout(previewTimer);
  previewedLink?.removeAttribute("aria-describedby");
  preview?.remove();
  preview = previewedLink = undefined;
}

async function showPreview(link) {
  hidePreview();
  previewedLink = link;
  const page = await loadPage(`${link.pathname}/preview`);
  const card = page?.getElementById("preview");
  if (!card || previewedLink !== link || !link.isConnected) return;
  preview = document.adoptNode(card);
  document.body.append(preview);
  link.setAttribute("aria-describedby", preview.id);
  const [place, size] = [link.getBoundingClientRect(), preview.getBoundingClientRect()];
  const isBelow = place.bottom + size.height < innerHeight || place.top < size.height;
  preview.style.left = `${Math.max(8, Math.min(place.left, innerWidth - size.width - 8))}px`;
  preview.style.top = `${isBelow ? place.bottom + 4 : place.top - size.height - 4}px`;
}

function planPreview(target, delay) {
  clearTimeout(previewTimer);
  if (preview?.contains(target)) return;
  const link = findMemoryLink(target);
  if (!link) previewTimer = setTimeout(hidePreview, LINK_END);
  else if (link !== previewedLink) previewTimer = setTimeout(() => showPreview(link), delay);
}

// A finger has no place to rest on.
document.addEventListener("pointerover", (event) => event.pointerType === "mouse" && planPreview(event.target, LINK_DELAY));
document.addEventListener("focusin", (event) => planPreview(event.target.matches(":focus-visible") ? event.target : null, LINK_DELAY));
document.addEventListener("focusout", () => planPreview(null, 0));
document.addEventListener("keydown", (event) => event.key === "Escape" && hidePreview());
addEventListener("scroll", hidePreview, { passive: true });

/** Fills each place of a part of the page, which contains a link to that part. */
async function loadParts() {
  for (const place of document.querySelectorAll("[data-part]")) {
    const link = place.querySelector("a");
    const part = link && (await loadPage(link.href))?.getElementById("part");
    if (part) place.replaceChildren(...document.adoptNode(part).childNodes);
  }
}

loadParts();
