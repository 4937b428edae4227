// Forms: drafts of typed text, the preview, the completion of links, and editing in place

const DRAFT = "draft ";

/** The keys of the drafts that were sent with the last form. */
const SENT = "sent drafts";

const TYPED = "textarea, input:not([type]), input[type=text], input[type=date], input[type=datetime-local], .editor select";

const initialValue = (field) => field.defaultValue ?? ([...field.options].find((option) => option.defaultSelected) ?? field.options[0])?.value;

// A field may be called "method".
const isPost = (form) => form?.getAttribute("method") === "post";

/** Returns whether the text of a field is stored until it is saved. A code or a password never is. */
const hasDraft = (field) => field.matches(TYPED) && isPost(field.form) && field.name && field.name !== "code";

const hiddenValue = (form, name) => form.querySelector(`input[type=hidden][name="${name}"]`)?.value;

/** Returns the key of a field: its page, its form and its name. A refused form names the page that contains it. */
function draftKey(field) {
  const own = [...field.form.querySelectorAll("input[type=hidden]")].filter(({ name }) => !["csrf", "next", "version", "form-page"].includes(name));
  const page = hiddenValue(field.form, "form-page");
  // A text that the address hands over has a draft of its own.
  const given = new URLSearchParams(page === undefined ? location.search : page.split("?")[1]).get(field.name);
  const place = (page ?? location.pathname).split("?")[0];
  return [DRAFT, place, field.form.getAttribute("action"), ...own.map(({ value }) => value), given ?? "", field.name].join(" ");
}

const versionKey = (key) => `${key} version`;

function storeDraft(field) {
  try {
    if (field.value === initialValue(field)) sessionStorage.removeItem(draftKey(field));
    else {
      sessionStorage.setItem(draftKey(field), field.value);
      const version = hiddenValue(field.form, "version");
      if (version) sessionStorage.setItem(versionKey(draftKey(field)), version);
    }
  } catch {
    // A full storage keeps the drafts that it has.
  }
}

/** A draft belongs to the version on which it was typed, so that a newer one is a conflict and not overwritten. */
function restoreVersion(field) {
  const own = field.form.querySelector('input[name="version"]');
  const version = sessionStorage.getItem(versionKey(draftKey(field)));
  if (!own || !version) return;
  own.dataset.fresh ??= own.value;
  own.value = version;
}

const removeDrafts = (keys) => keys.forEach((key) => [key, versionKey(key)].forEach((name) => sessionStorage.removeItem(name)));

/** Enters the stored texts again, and offers to discard them. */
function restoreDrafts() {
  const isWaiting = document.querySelector(".unsent");
  // After Back or a reload, the form may not have been saved.
  const isNext = performance.getEntriesByType("navigation")[0]?.type === "navigate" && document.referrer;
  if (!isWaiting) {
    if (isNext && !isRefused()) removeDrafts(JSON.parse(sessionStorage.getItem(SENT) ?? "[]"));
    sessionStorage.removeItem(SENT);
  }
  const restored = new Map();
  for (const field of main().querySelectorAll(TYPED)) {
    const text = hasDraft(field) && sessionStorage.getItem(draftKey(field));
    if (typeof text !== "string" || text === field.value) continue;
    field.value = text;
    restoreVersion(field);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    restored.set(field.form, [...(restored.get(field.form) ?? []), field]);
    const part = field.closest("details");
    if (part) part.open = true;
  }
  for (const [form, fields] of restored) {
    const note = document.createElement("p");
    note.className = "draft-note muted small";
    note.setAttribute("role", "status");
    const discard = document.createElement("button");
    Object.assign(discard, { type: "button", className: "small-button", textContent: "Discard" });
    discard.addEventListener("click", () => {
      removeDrafts(fields.map(draftKey));
      for (const field of fields) field.value = initialValue(field);
      const version = form.querySelector('input[name="version"]');
      if (version?.dataset.fresh) version.value = version.dataset.fresh;
      note.remove();
      fields[0].focus();
      fields[0].dispatchEvent(new Event("input", { bubbles: true }));
    });
    note.append("Restored what you had typed. ", discard);
    form.prepend(note);
  }
}

// Sending happens after all other listeners, some of which send the form in the background.
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("action") === "/sign-out") removeDrafts(Object.keys(sessionStorage).filter((key) => key.startsWith(DRAFT)));
  if (event.defaultPrevented || !isPost(form) || event.submitter?.name === "preview") return;
  // A second click while the next page loads would send it twice.
  if ("sent" in form.dataset) return event.preventDefault();
  form.dataset.sent = "";
  const keys = [...form.elements].filter((field) => hasDraft(field)).map(draftKey);
  if (keys.length) sessionStorage.setItem(SENT, JSON.stringify(keys));
});
addEventListener("pageshow", () => document.querySelectorAll("[data-sent]").forEach((form) => delete form.dataset.sent));
document.addEventListener("input", (event) => event.target instanceof Element && hasDraft(event.target) && storeDraft(event.target));

// Preview

/** Time without a key after which the preview is made, in milliseconds. */
const PREVIEW_DELAY = 350;

function startEditor(form) {
  form.dataset.started = "";
  const area = form.elements.content;
  startCompletion(area, form.querySelector(".titles"));
  const preview = form.querySelector(".preview");
  let timer;
  let running;
  async function show() {
    running?.abort();
    running = new AbortController();
    const body = new URLSearchParams(new FormData(form));
    body.set("preview", "yes");
    try {
      const response = await fetch(form.getAttribute("action"), { method: "POST", body, signal: running.signal });
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      preview.replaceChildren(...document.adoptNode(page.querySelector(".preview")).childNodes);
      preview.hidden = !area.value.trim();
    } catch {
      // The next key tries again.
    }
  }
  form.querySelector("[data-preview]").hidden = true;
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, PREVIEW_DELAY);
  });
  if (area.value.trim()) show();
}

// Completion of links

/** Offers the titles of memories in `list` after `[[` in the text field `area`. */
function startCompletion(area, list) {
  area.setAttribute("aria-autocomplete", "list");
  area.setAttribute("aria-controls", list.id);
  let running;
  let active = -1;
  const options = () => [...list.children];
  const begun = () => /\[\[([^[\]|\n]{0,80})$/.exec(area.value.slice(0, area.selectionStart))?.[1];

  function close() {
    running?.abort();
    list.hidden = true;
    list.replaceChildren();
    area.removeAttribute("aria-activedescendant");
  }
  function activate(at) {
    active = at;
    options().forEach((option, number) => option.setAttribute("aria-selected", String(number === at)));
    area.setAttribute("aria-activedescendant", `${list.id}-${at}`);
    options()[at]?.scrollIntoView({ block: "nearest" });
  }
  function insert(option) {
    const start = area.selectionStart - begun().length;
    const end = area.selectionStart + (area.value.startsWith("]]", area.selectionStart) ? 2 : 0);
    area.setRangeText(`${option.dataset.link}]]`, start, end, "end");
    close();
    area.focus();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
  async function offer() {
    const text = begun();
    if (text === undefined) return close();
    running?.abort();
    running = new AbortController();
    try {
      const response = await fetch(`/write/titles?q=${encodeURIComponent(text)}`, { signal: running.signal });
      const found = await response.json();
      list.replaceChildren(
        ...found.map(({ title, link }, number) => {
          const option = document.createElement("li");
          Object.assign(option, { id: `${list.id}-${number}`, textContent: title, dir: "auto" });
          option.setAttribute("role", "option");
          option.dataset.link = link;
          option.addEventListener("pointerdown", (event) => {
            event.preventDefault();
            insert(option);
          });
          return option;
        }),
      );
      list.hidden = !found.length;
      if (found.length) activate(0);
      else close();
    } catch {
      // A later key has replaced the request, or the server is gone.
    }
  }
  area.addEventListener("input", (event) => event.isComposing || offer());
  area.addEventListener("blur", close);
  area.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing) return;
    if (begun() === undefined) return close();
    const count = list.children.length;
    const keys = {
      ArrowDown: () => activate((active + 1) % count),
      ArrowUp: () => activate((active + count - 1) % count),
      Enter: () => insert(options()[active]),
      Tab: () => insert(options()[active]),
      Escape: close,
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  });
}

// Editing in place

/** Maximum number of characters of a text that is edited in place. */
const MAX_INLINE = 500;

/** Shows the text of a memory as a field in place of `parts`. A longer text is edited on its page. */
async function editInPlace(link, parts) {
  const path = link.getAttribute("href");
  const page = await loadPage(path);
  const form = page && document.adoptNode(page.querySelector("form.editor"));
  const area = form?.elements.content;
  if (!area || area.value.trim().includes("\n") || MAX_INLINE < area.value.length) {
    location.href = path;
    return;
  }
  // What was typed there is offered again when it is opened again.
  document.querySelector("form.inline")?.dispatchEvent(new Event("put-away"));
  form.className = "form inline";
  for (const part of [...form.querySelectorAll(".field, .form-row, .preview, [data-preview]")]) part.hidden = !part.contains(area);
  form.querySelector(".titles + p").hidden = true;
  form.querySelector("label[for=content]").className = "visually-hidden";
  const here = new URL(location.href);
  for (const name of PASSING) here.searchParams.delete(name);
  for (const [name, value] of [["next", here.pathname + here.search], ["form-page", path]]) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name, value });
    form.prepend(field);
  }
  const draft = sessionStorage.getItem(draftKey(area));
  if (draft !== null) {
    area.value = draft;
    restoreVersion(area);
  }
  area.rows = 2;
  parts.forEach((part) => (part.hidden = true));
  parts[0].after(form);
  startCompletion(area, form.querySelector(".titles"));
  const cancel = () => {
    form.remove();
    parts.forEach((part) => (part.hidden = false));
    link.focus();
  };
  form.addEventListener("put-away", cancel);
  const all = document.createElement("a");
  Object.assign(all, { href: path, className: "button quiet", textContent: "All fields" });
  form.querySelector(".toolbar").append(all);
  form.querySelector("a.quiet").addEventListener("click", (event) => {
    event.preventDefault();
    removeDrafts([draftKey(area)]);
    cancel();
  });
  area.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey) form.requestSubmit();
    else if (event.key === "Escape") form.querySelector("a.quiet").click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const item = items().indexOf(link.closest(".card"));
  form.addEventListener("submit", () => item < 0 || rememberPosition(item));
  area.focus();
  area.setSelectionRange(area.value.length, area.value.length);
}

/** Returns the link to the editor of the memory at `element` and the parts of the page that show its text. */
function inlinePlace(element) {
  const card = element.closest(".card");
  const link = card ? card.querySelector("a[data-inline]") : document.querySelector(".page-header a[data-inline]");
  const parts = card ? [...card.querySelectorAll("h2, .passage")] : [...main().querySelectorAll("article.reading")];
  return link && parts.length ? [link, parts] : undefined;
}

document.addEventListener("click", (event) => {
  // On the page of a memory, the link leads to all fields.
  const link = event.target.closest?.(".card a[data-inline]");
  const place = link && !event.ctrlKey && !event.metaKey && !event.shiftKey && inlinePlace(link);
  if (!place) return;
  event.preventDefault();
  editInPlace(...place);
});
document.addEventListener("dblclick", (event) => {
  const place = event.target.closest?.(".card, article.reading") && !event.target.closest("a, button, input, form") && inlinePlace(event.target);
  if (!place) return;
  getSelection()?.removeAllRanges();
  editInPlace(...place);
});

function startEditors() {
  for (const form of main().querySelectorAll("form.editor:not([data-started])")) startEditor(form);
}

// An update replaces the content of the page.
new MutationObserver(startEditors).observe(main(), { childList: true });
startEditors();
restoreDrafts();
