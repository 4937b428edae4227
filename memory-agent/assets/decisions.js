// Decisions without a reload: an item leaves its list at once, and its form is sent in the background, one after the other.
"use strict";

/** Ends when all forms so far are answered. */
let lastSend = Promise.resolve();

/** The changes that `u` undoes, the last one at the end: their operations, and the items that left the list. */
const undoable = JSON.parse(sessionStorage.getItem("undoable") ?? "[]").map((operations) => ({ operations, items: [] }));

/** Maximum number of changes that are remembered. */
const MAX_CHANGES = 100;

/** The number of items below which the list is filled up. */
const FEW_ITEMS = 10;

/** The place of each item in its list, and the values of the boxes of the items that left it. */
const itemPlaces = new WeakMap();
const leftKeys = new Set();
let lastPlace = 0;

function numberItems() {
  for (const item of items()) if (!itemPlaces.has(item)) itemPlaces.set(item, (lastPlace += 1));
}

const decisionList = () => main().querySelector("[data-decisions]");

const listNamed = (name) => main().querySelector(`[data-decisions="${name}"]`);

const boxes = () => [...main().querySelectorAll("[data-select], .card-select")];

const keyOf = (item) => item.querySelector("[data-select]")?.value ?? item.dataset.item;

const idOf = (item) => keyOf(item)?.split(":")[0];

/** Sends fields to a path. Returns the reply, or the reason of a failure. */
async function sendFields(path, fields) {
  fields.set("background", "yes");
  try {
    const response = await fetch(path, { method: "POST", body: new URLSearchParams(fields), credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (response.ok && page.querySelector("main [data-count]")) return { page };
    const parts = [...page.querySelectorAll("main .message, main .message + p")].map((part) => part.textContent);
    const isUnsent = response.status === 401 || response.status === 403;
    return { reason: parts.join("; ") || "reload the page, and sign in if it asks for it", isUnsent };
  } catch {
    return { reason: "the program does not answer", isUnsent: true };
  }
}

/** Takes the decided items of a form out of their list, and sends it. */
function onSubmit(event) {
  const { target: form, submitter } = event;
  if (form.getAttribute("action") === "/undo" && !form.matches("[data-redo]")) {
    if (form.matches(".undo-bar") && decisionList()) {
      event.preventDefault();
      undoLast();
    } else {
      const operations = form.querySelector("[name=operation]")?.value;
      forgetChange(undoable.find((change) => change.operations === operations));
      storeChanges();
    }
    return;
  }
  if (!form.matches("[data-decide]") || submitter?.hasAttribute("formaction")) return;
  const isBulk = form.id === "bulk";
  const taken = isBulk ? boxes().filter((box) => box.checked).map((box) => box.closest("[data-item]")) : [form.closest("[data-item]")];
  if (!taken[0]?.closest("[data-decisions]")) return;
  event.preventDefault();
  const isTextEdited = (item) => [...item.querySelectorAll("textarea[name=content]")].some((own) => own.value !== own.defaultValue);
  const edited = isBulk && taken.find(isTextEdited);
  if (edited) {
    select(edited);
    document.getElementById("live").textContent = "A selected proposal has an edited text. Decide on it alone.";
    return;
  }
  const fields = new FormData(form);
  if (submitter?.name) fields.set(submitter.name, submitter.value);
  if (!isBulk && isTextEdited(taken[0])) fields.set("content", taken[0].querySelector("textarea[name=content]").value);
  const at = items().indexOf(taken[0]);
  const change = rememberChange(undefined, taken);
  for (const item of taken) {
    leftKeys.add(keyOf(item));
    item.querySelector(".refusal")?.remove();
    for (const box of item.querySelectorAll("[data-select]")) box.checked = false;
    item.remove();
  }
  updateSelection();
  select(items()[Math.min(at, items().length - 1)]);
  lastSend = lastSend.then(() => finishDecision(form, fields, change)).catch(() => {});
}

async function finishDecision(form, fields, change) {
  const { page, reason } = await sendFields(form.getAttribute("action"), fields);
  const reasons = new Map([...(page?.querySelectorAll("[data-refused]") ?? [])].map((own) => [own.dataset.refused, own.textContent]));
  // A form of one item may name it without its repeats.
  const only = change.items.length === 1 ? [...reasons.values()][0] : undefined;
  const refused = change.items.filter((item) => !page || only || reasons.has(keyOf(item)));
  for (const item of refused) {
    const refusal = document.createElement("p");
    refusal.className = "notice failure refusal";
    refusal.setAttribute("role", "alert");
    refusal.textContent = `Not changed: ${reason ?? reasons.get(keyOf(item)) ?? only}`;
    item.prepend(refusal);
    putBack(item, listNamed(change.list));
  }
  change.items = change.items.filter((item) => !refused.includes(item));
  change.operations = page?.querySelector(".undo-bar [name=operation]")?.value ?? "";
  if (!change.operations) forgetChange(change);
  storeChanges();
  if (page) showReply(page);
  if (!items().length) await fillList();
  else if (items().length < FEW_ITEMS) filling ??= fillList().finally(() => (filling = undefined));
}

/** Inserts an item in its former place in a list, if the page has the list. */
function putBack(item, list) {
  leftKeys.delete(keyOf(item));
  if (items().some((own) => keyOf(own) === keyOf(item))) return;
  const next = [...(list?.children ?? [])].find((own) => itemPlaces.get(item) < itemPlaces.get(own));
  if (next) next.before(item);
  else if (list) list.append(item);
}

/** Shows the counts and the undo bar of a reply. */
function showReply(page) {
  replies += 1;
  replaceParts(page, [".navigation-bar", ".navigation-groups"]);
  showCounts(page);
  const notice = page.querySelector("main .notice");
  if (notice) document.getElementById("live").textContent = notice.textContent;
  document.querySelector(".undo-bar")?.remove();
  const bar = page.querySelector(".undo-bar");
  if (!bar) return;
  bar.querySelector("[name=next]").value = location.pathname + location.search;
  document.getElementById("live").after(document.adoptNode(bar));
}

function showCounts(page) {
  for (const count of main().querySelectorAll("[data-count]")) {
    const fresh = page.querySelector(`[data-count="${count.dataset.count}"]`);
    if (fresh) count.textContent = fresh.textContent;
  }
}

// Undo

/** Remembers the change of an undo bar, or one that is being sent. */
function rememberChange(bar, taken) {
  if (bar?.hasAttribute("data-redo")) return undefined;
  const operations = bar?.querySelector("[name=operation]").value ?? "";
  if (!operations && !taken.length) return undefined;
  const change = { operations, items: taken, list: taken[0]?.closest("[data-decisions]").dataset.decisions };
  if (!operations || undoable.at(-1)?.operations !== operations) undoable.push(change);
  if (MAX_CHANGES < undoable.length) undoable.shift();
  storeChanges();
  return change;
}

function forgetChange(change) {
  const at = undoable.indexOf(change);
  if (0 <= at) undoable.splice(at, 1);
}

function storeChanges() {
  try {
    sessionStorage.setItem("undoable", JSON.stringify(undoable.map((change) => change.operations).filter(Boolean)));
  } catch {
    // Drafts may fill the storage. The changes of this page can be undone all the same.
  }
}

/** Undoes the last change that is not undone. Returns whether there is one. */
function undoLast() {
  const button = document.querySelector(".undo-bar:not([data-redo]) button");
  if (button && !decisionList() && !undoable.at(-1)?.items.length) {
    button.click();
    return true;
  }
  const change = undoable.pop();
  if (!change) return false;
  lastSend = lastSend.then(async () => {
    storeChanges();
    // A decision that was refused is not made.
    if (!change.operations) return;
    const fields = new FormData();
    fields.set("csrf", document.querySelector("[name=csrf]").value);
    fields.set("operation", change.operations);
    fields.set("next", location.pathname);
    const { page, reason, isUnsent } = await sendFields("/undo", fields);
    if (!page) {
      if (isUnsent) undoable.push(change);
      storeChanges();
      document.getElementById("live").textContent = reason;
      return;
    }
    for (const item of change.items) putBack(item, listNamed(change.list));
    const shown = change.items.find((item) => item.isConnected);
    if (!shown && !isEdited()) {
      const fresh = await loadPage(pageAddress());
      if (fresh) replaceContent(fresh);
    }
    showReply(page);
    if (shown) select(shown);
  }).catch(() => {});
  return true;
}

/** Returns the address of this page without the parameters of the previous request. */
function pageAddress() {
  const address = new URL(location.href);
  for (const name of PASSING) address.searchParams.delete(name);
  const list = decisionList();
  if (list) address.searchParams.set("list", list.dataset.decisions);
  return address;
}

// The list

/** The number of replies so far; a page that was requested before the last one has former counts. */
let replies = 0;

/** The request for more items that is not answered yet. */
let filling;

async function fillList() {
  const before = replies;
  const page = await loadPage(pageAddress());
  if (page) updateItems(page, before === replies);
}

/** Returns whether a person looks at an item, or has begun to decide on it. */
const isUsed = (item) => item === selected || item.matches(":hover, :focus-within") || item.querySelector("details[open], [data-select]:checked") !== null;

/** Updates the lists of decisions by those of `page` without moving what is under the pointer. Returns whether there are such lists. */
function updateItems(page, isCurrent = true) {
  if (!decisionList()) return false;
  if (isCurrent) showCounts(page);
  const isEmpty = !page.querySelector("[data-decisions] > [data-item]");
  for (const list of main().querySelectorAll("[data-decisions]")) updateList(list, page);
  // A section that is new, or that returned after an undo, moves nothing at the end.
  for (const section of page.querySelectorAll(".start-page > section")) {
    const isKnown = main().querySelector(`[aria-labelledby="${section.getAttribute("aria-labelledby")}"]`);
    if (!isKnown) main().querySelector(".start-page").append(document.adoptNode(section));
  }
  numberItems();
  for (const part of main().querySelectorAll("[data-renew]:not(:hover, :focus-within)")) {
    replaceParts(page, [`main [data-renew="${part.dataset.renew}"]`]);
  }
  if (!items().length && isEmpty) replaceContent(page);
  else if (!selected?.isConnected && document.activeElement === document.body) select(items()[0]);
  return true;
}

function updateList(list, page) {
  const own = () => [...list.children];
  const fresh = [...page.querySelectorAll(`[data-decisions="${list.dataset.decisions}"] > [data-item]`)];
  const freshKeys = new Set(fresh.map(keyOf));
  const known = new Set(own().map(keyOf));
  // Items that another program decided on. Those behind the last fresh one may be on the next page.
  const end = page.querySelector("main .pager") ? own().findLastIndex((item) => freshKeys.has(keyOf(item))) : own().length;
  for (const item of own().slice(0, Math.max(end, 0))) {
    if (!freshKeys.has(keyOf(item)) && !isUsed(item) && !item.querySelector(".refusal")) item.remove();
  }
  for (const item of fresh.filter((item) => !known.has(keyOf(item)) && !leftKeys.has(keyOf(item)))) {
    const former = own().find((known) => idOf(known) === idOf(item));
    if (!former) list.append(document.adoptNode(item));
    else if (former.querySelector(".refusal") || !isUsed(former)) replaceItem(former, document.adoptNode(item));
  }
  if (!list.children.length) list.closest(".start-page > section")?.remove();
}

/** Replaces an item by its new version. */
function replaceItem(former, item) {
  const refusal = former.querySelector(".refusal");
  if (refusal) item.prepend(refusal);
  itemPlaces.set(item, itemPlaces.get(former));
  former.replaceWith(item);
  if (selected === former) select(item);
}

/** The delay after which the similar memories of an item are searched, in milliseconds. */
const SIMILAR_DELAY = 200;
let similarTimer;

/** Shows the similar memories of an item that a person looks at. */
function showSimilar(item) {
  const link = item?.querySelector("[data-similar]");
  clearTimeout(similarTimer);
  if (!link) return;
  similarTimer = setTimeout(async () => {
    if (!link.isConnected) return;
    link.removeAttribute("data-similar");
    const page = await loadPage(link.href);
    const found = page?.querySelector(".neighbours");
    if (found) link.closest(".neighbours")?.replaceWith(document.adoptNode(found));
  }, SIMILAR_DELAY);
}

// Selection

/** The box that was ticked last, from which a range starts. */
let lastTicked;

/** Ticks a box, or with `isRange` all boxes up to it. */
function tick(box, isTicked, isRange) {
  const all = boxes();
  const [from, to] = [isRange && lastTicked?.isConnected ? all.indexOf(lastTicked) : all.indexOf(box), all.indexOf(box)].sort((one, other) => one - other);
  for (const own of all.slice(from, to + 1)) own.checked = isTicked;
  lastTicked = box;
  updateSelection();
}

/** Ticks the box of the selected item, or unticks it. Returns whether there is one. */
function toggleSelected(isRange) {
  const item = document.activeElement?.closest(".card, [data-item]") ?? (selected?.isConnected ? selected : undefined);
  const box = item?.querySelector("[data-select], .card-select");
  if (box) tick(box, isRange || !box.checked, isRange);
  return Boolean(box);
}

function onSelectionClick(event) {
  const { target } = event;
  if (target.matches?.("[data-select], .card-select")) {
    tick(target, target.checked, event.shiftKey);
  } else if (target.closest?.("[data-select-all]")) {
    event.preventDefault();
    const isTicked = boxes().some((box) => !box.checked);
    for (const box of boxes()) box.checked = isTicked;
    updateSelection();
  }
}
