// Adds live search, keyboard shortcuts and updates to pages that work without a script.

/** The parameters of an address that describe the previous request. */
const PASSING = ["done", "notice"];

const main = () => document.getElementById("main");

// Fetching and replacing

/** Returns the page at `path`, or undefined if it cannot be loaded. A page after the end of the session is the sign-in form. */
async function loadPage(path, signal) {
  try {
    const response = await fetch(path, { signal, credentials: "same-origin" });
    if (response.redirected && new URL(response.url).pathname === "/sign-in") {
      location.reload();
      return undefined;
    }
    if (!response.ok) return undefined;
    return new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    return undefined;
  }
}

/** Replaces the elements that match `selector` by those of `page`. */
function replaceParts(page, selectors) {
  for (const selector of selectors) {
    const [old, fresh] = [document.querySelector(selector), page.querySelector(selector)];
    if (old && fresh) old.replaceWith(document.adoptNode(fresh));
  }
}

/** Replaces the content of the page. The element itself stays, so that skip links and focus keep working. */
function replaceContent(page) {
  const fresh = page.getElementById("main");
  if (fresh) main().replaceChildren(...document.adoptNode(fresh).childNodes);
  updateSelection();
  startGraph();
  loadParts();
  numberItems();
  document.title = page.title;
  document.body.dataset.mark = page.body.dataset.mark ?? "";
}

// Live search

/** Time without a key after which a search starts, in milliseconds. */
const SEARCH_DELAY = 120;

function startLiveSearch() {
  const input = document.getElementById("search");
  if (!input || location.pathname !== "/memories") return;
  let timer;
  let running;
  input.addEventListener("input", (event) => {
    // The characters of an input method are incomplete until they are confirmed.
    if (event.isComposing) return;
    clearTimeout(timer);
    timer = setTimeout(() => search(input.value), SEARCH_DELAY);
  });
  input.addEventListener("compositionend", () => search(input.value));

  async function search(text) {
    running?.abort();
    running = new AbortController();
    const { signal } = running;
    const address = new URL(location.href);
    for (const name of ["page", ...PASSING]) address.searchParams.delete(name);
    if (text.trim()) address.searchParams.set("q", text);
    else address.searchParams.delete("q");
    const page = await loadPage(address, signal);
    if (!page || signal.aborted) return;
    replaceContent(page);
    history.replaceState(null, "", address);
    select(undefined);
  }
}

// Keyboard

const items = () => [...main().querySelectorAll(".card, [data-item]")].filter((item) => item.querySelector("a, button, input"));

let selected;

/** Selects an item of the list, so that keys apply to it. */
function select(item) {
  selected?.classList.remove("is-selected");
  selected = item;
  if (!item) return;
  item.classList.add("is-selected");
  (item.querySelector("h2 a") ?? item.querySelector("a, input[type=checkbox], button") ?? item).focus({ preventScroll: true });
  item.scrollIntoView({ block: "nearest" });
  showSimilar(item);
}

function moveSelection(step) {
  const all = items();
  if (!all.length) return;
  const focused = document.activeElement?.closest(".card, [data-item]");
  const at = all.indexOf(focused ?? selected);
  select(all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)]);
}

/** The item of the form that was sent last. A second key does not send it again before the next page. */
let sentItem;

addEventListener("submit", (event) => {
  if (!event.defaultPrevented) sentItem = event.target.closest("[data-item]");
});
addEventListener("pageshow", () => (sentItem = undefined));

/** Clicks the control for a key: that of the selected item, or the one outside of all items. */
function clickControl(key) {
  const item = document.activeElement?.closest(".card, [data-item]") ?? (selected?.isConnected ? selected : undefined);
  const name = `[data-key="${CSS.escape(key)}"]`;
  const outside = [...document.querySelectorAll(name)].find((control) => !control.closest(".card, [data-item]"));
  const bulk = boxes().some((box) => box.checked) && document.querySelector(`[data-bulk-key="${CSS.escape(key)}"]`);
  const control = bulk || (item?.querySelector(name) ?? outside);
  if (!control || control.disabled) return false;
  if (control.matches("input[type=text], input:not([type]), select, textarea")) {
    control.focus();
    return true;
  }
  if (control.type === "submit" && item && item === sentItem) return true;
  if (item && control.type === "submit") rememberPosition(items().indexOf(item));
  control.click();
  const opened = control.matches("summary") && control.parentElement.open;
  if (opened) control.parentElement.querySelector("textarea, input:not([type=hidden])")?.focus();
  return true;
}

/** Stores the place in the list, so that the next page continues there. */
function rememberPosition(at) {
  sessionStorage.setItem("position", JSON.stringify({ path: location.pathname, at }));
}

/** Selects the item after the one on which the previous page decided. */
function restorePosition() {
  const stored = JSON.parse(sessionStorage.getItem("position") ?? "null");
  sessionStorage.removeItem("position");
  if (stored?.path !== location.pathname) return;
  const all = items();
  select(all[Math.min(stored.at, all.length - 1)]);
}

const isTyping = (target) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select"));

function onKey(event) {
  const { target, key } = event;
  if (key === "Enter" && (event.ctrlKey || event.metaKey) && target instanceof HTMLTextAreaElement) {
    event.preventDefault();
    target.form?.requestSubmit();
    return;
  }
  if (key === "Escape" && isTyping(target)) {
    target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(target)) return;
  // A held key decides once.
  if (event.repeat && !["j", "k"].includes(key)) return;
  const actions = {
    "/": () => {
      const input = document.getElementById("search");
      input?.focus();
      input?.select();
    },
    j: () => moveSelection(1),
    k: () => moveSelection(-1),
    u: () => undoLast() || explainUndo(),
    x: () => toggleSelected(event.shiftKey),
    X: () => toggleSelected(true),
  };
  // Space works on a control as usual.
  if (key === " " && !target.closest("button, summary, input") && toggleSelected(event.shiftKey)) {
    event.preventDefault();
  } else if (actions[key]) {
    event.preventDefault();
    actions[key]();
  } else if (key.length === 1 && clickControl(key)) {
    event.preventDefault();
  }
}

/** Says where a change is undone after its bar is gone. */
function explainUndo() {
  const link = document.createElement("a");
  link.href = "/activity";
  link.textContent = "Activity";
  document.getElementById("live").replaceChildren("No change was made just now. All changes can be undone in ", link);
}

// Selection

/** Disables the buttons for selected items unless enough are selected. */
function updateSelection() {
  const isEmpty = !main().querySelector("[data-select]:checked");
  for (const button of main().querySelectorAll("[data-needs-selection]")) button.disabled = isEmpty;
  const isPair = main().querySelectorAll(".card-select:checked").length === 2;
  for (const button of main().querySelectorAll("[data-needs-two]")) button.disabled = !isPair;
}

/** Sends the category that was chosen for each selected item with the form for all. */
function addCategories({ target, formData }) {
  if (target.id !== "bulk") return;
  for (const box of main().querySelectorAll("[data-select]:checked")) {
    const chosen = box.closest("[data-item]")?.querySelector("select[name=category]");
    if (chosen?.value) formData.set(`category:${box.value.split(":")[0]}`, chosen.value);
  }
}

// Updates

/** Returns whether replacing the content would disturb the person: move what is under the pointer, or lose input. */
function isInUse() {
  const content = main();
  const focused = document.activeElement;
  const hasFocus = focused && focused !== content && content.contains(focused);
  const hasSelection = !getSelection()?.isCollapsed;
  return content.matches(":hover") || hasFocus || hasSelection || content.querySelector("details[open]") !== null || isEdited();
}

/** Returns whether the page shows a refused form or a form that was not sent: its address shows another page, without the text. */
const isRefused = () => document.querySelector("#form-error, .message-page, .versions form, .unsent") !== null;

/** Returns whether a form has input that was not sent. */
function isEdited() {
  const fields = [...main().querySelectorAll("input, textarea, select")];
  return fields.some((field) => {
    if (field.type === "hidden") return false;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field instanceof HTMLSelectElement) {
      const initial = [...field.options].some((option) => option.defaultSelected);
      return [...field.options].some((option, at) => option.selected !== (initial ? option.defaultSelected : at === 0));
    }
    return field.value !== field.defaultValue;
  });
}

const addresses = (root) => new Set([...root.querySelectorAll(".card h2 a, [data-item] a")].map((link) => link.getAttribute("href")));

/** Describes how `page` differs from the current one; empty if it does not. */
function describeChanges(page) {
  const fresh = page.getElementById("main");
  if (!fresh || withoutTokens(fresh) === withoutTokens(main())) return "";
  const known = addresses(main());
  const added = [...addresses(fresh)].filter((address) => !known.has(address)).length;
  return added ? `${added} new` : "This page has changed";
}

/** Returns the text of an element without the parts that are loaded later. */
function withoutTokens(element) {
  const copy = element.cloneNode(true);
  copy.querySelectorAll("[data-part]").forEach((part) => part.remove());
  return copy.textContent.replace(/\s+/g, " ");
}

function showNotice(text, page) {
  const notice = document.getElementById("live");
  const show = document.createElement("button");
  show.type = "button";
  show.textContent = "Show";
  show.addEventListener("click", () => {
    notice.replaceChildren();
    if (isEdited()) location.reload();
    else replaceContent(page);
    select(undefined);
    main().focus();
  });
  notice.replaceChildren(`${text} `, show);
  // Nothing is disturbed any more once the pointer has left.
  const showLater = () => {
    if (!show.isConnected) main().removeEventListener("pointerleave", showLater);
    else if (!isInUse()) show.click();
  };
  main().addEventListener("pointerleave", showLater);
}

async function onChange(mark) {
  document.body.dataset.mark = mark;
  const page = await loadPage(pageAddress());
  const navigation = document.querySelector(".site-navigation");
  // The number of items that wait in the inbox.
  if (page && !navigation.matches(":hover, :focus-within")) replaceParts(page, [".navigation-bar", ".navigation-groups"]);
  if (isRefused() || (page && updateItems(page))) return;
  const changes = page && describeChanges(page);
  if (!changes) return;
  if (isInUse()) {
    showNotice(changes, page);
  } else {
    document.getElementById("live").replaceChildren();
    replaceContent(page);
  }
}

function startUpdates() {
  if (!document.querySelector(".site-header")) return;
  let source;
  const open = () => {
    source?.close();
    source = new EventSource(`/events?since=${encodeURIComponent(document.body.dataset.mark ?? "")}`);
    source.addEventListener("change", (event) => onChange(event.data));
  };
  // A browser opens few connections per server, so hidden tabs close theirs.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) source?.close();
    else open();
  });
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => event.persisted && open());
  if (!document.hidden) open();
}

/** Removes the undo bar when it has faded out, and its parameters, so that a reload does not show it again. */
function startUndoBar() {
  const address = new URL(location.href);
  if (PASSING.some((name) => address.searchParams.has(name))) {
    for (const name of PASSING) address.searchParams.delete(name);
    history.replaceState(null, "", address);
  }
  document.addEventListener("animationend", ({ target }) => target.matches(".undo-bar") && target.remove());
  rememberChange(document.querySelector(".undo-bar"), []);
}

document.addEventListener("keydown", onKey);
document.addEventListener("change", updateSelection);
document.addEventListener("formdata", addCategories);
document.addEventListener("submit", onSubmit);
document.addEventListener("click", onSelectionClick);
document.addEventListener("mouseover", ({ target }) => showSimilar(target.closest?.("[data-item]")));
// The browser may restore the selection after the page was left.
addEventListener("pageshow", updateSelection);
updateSelection();
numberItems();
// In a low window the sections scroll.
const currentSection = document.querySelector(".navigation-groups [aria-current]");
currentSection?.offsetParent?.scrollTo(0, currentSection.offsetTop - innerHeight / 2);
startLiveSearch();
startUpdates();
startUndoBar();
restorePosition();
