// The command palette, the list of all keys, and the keys of the sections.

function newElement(name, properties, ...children) {
  const { attributes = {}, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Opens a dialog that Escape and a click beside it close. */
function openDialog(label, name, ...content) {
  document.querySelector("dialog[open]")?.close();
  const dialog = newElement("dialog", { className: name, attributes: { "aria-label": label } }, newElement("div", {}, ...content));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Returns the sections of the navigation with their keys: the first letter of the title, or else of the alphabet, that no section before has. */
function listSections() {
  const taken = new Set();
  return [...document.querySelectorAll(".navigation-groups a")].map((link) => {
    const title = link.firstChild.textContent.trim();
    const key = [...title.toLowerCase(), ..."abcdefghijklmnopqrstuvwxyz"].find((letter) => /[a-z]/.test(letter) && !taken.has(letter)) ?? "";
    taken.add(key);
    return { title, key, path: link.getAttribute("href") };
  });
}

/** Returns the commands for a text, each with its label, a hint and the path that it opens. */
function listCommands(text) {
  const words = text.toLowerCase();
  const matching = listSections().filter(({ title }) => title.toLowerCase().split(" ").some((word) => word.startsWith(words)));
  const commands = matching.map(({ title, key, path }) => ({ label: title, hint: `g ${key}`, path }));
  const value = encodeURIComponent(text);
  if (!text) return [{ label: "Write a memory", hint: "n", path: "/write" }, ...commands];
  return [
    ...commands,
    { label: `Search memories for “${text}”`, hint: "search", path: `/memories?q=${value}` },
    { label: `Write “${text}”`, hint: "write", path: `/write?text=${value}` },
    { label: `Remind me: “${text}”`, hint: "remind", path: `/reminders?text=${value}` },
  ];
}

function openPalette() {
  const list = newElement("ul", { id: "palette-list", attributes: { role: "listbox", "aria-label": "Commands and memories" } });
  const input = newElement("input", {
    placeholder: "Go to, search, write or remind",
    autocomplete: "off",
    dir: "auto",
    attributes: { role: "combobox", "aria-label": "Command", "aria-controls": list.id, "aria-expanded": "true", "aria-autocomplete": "list" },
  });
  let [memories, at, timer, running] = [[], 0];
  const options = () => [...list.children];
  const mark = (position) => {
    at = (position + options().length) % options().length;
    options().forEach((option, place) => option.setAttribute("aria-selected", place === at));
    input.setAttribute("aria-activedescendant", options()[at].id);
    options()[at].scrollIntoView({ block: "nearest" });
  };
  const show = (position) => {
    const all = [...listCommands(input.value.trim()), ...memories];
    list.replaceChildren(
      ...all.map(({ label, hint, path }, place) => {
        const texts = [newElement("span", { dir: "auto" }, label), newElement("span", { className: "muted small" }, hint)];
        const option = newElement("li", { id: `palette-${place}`, attributes: { role: "option" } }, ...texts);
        option.dataset.path = path;
        return option;
      }),
    );
    mark(position);
  };
  const find = async () => {
    const text = input.value.trim();
    running = new AbortController();
    const page = text && (await loadPage(`/find?q=${encodeURIComponent(text)}`, running.signal));
    if (!page || text !== input.value.trim()) return;
    const found = [...page.querySelectorAll("#found a")];
    memories = found.map((link) => ({ label: link.textContent, hint: link.dataset.category, path: link.getAttribute("href") }));
    show(at);
  };
  input.addEventListener("input", () => {
    running?.abort();
    clearTimeout(timer);
    memories = [];
    show(0);
    timer = setTimeout(find, SEARCH_DELAY);
  });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (steps[event.key]) mark(at + steps[event.key]);
    else if (event.key === "Enter") location.assign(options()[at].dataset.path);
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => {
    const option = event.target.closest("li");
    if (option) location.assign(option.dataset.path);
  });
  openDialog("Command palette", "palette", input, list);
  show(0);
  input.focus();
}

/** Returns the keys of this page: those of its controls, and those of every page. */
function listKeys() {
  const label = (control) => {
    const copy = control.cloneNode(true);
    copy.querySelectorAll(".visually-hidden, kbd").forEach((part) => part.remove());
    return copy.textContent.trim() || control.ariaLabel || control.labels?.[0]?.textContent.trim() || "";
  };
  const own = new Map();
  for (const control of document.querySelectorAll("[data-key]")) {
    const labels = own.get(control.dataset.key) ?? new Set();
    own.set(control.dataset.key, labels.add(control.matches(".card-select, [data-select]") ? "Select" : label(control)));
  }
  return [
    [
      "This page",
      [
        ...[...own].map(([key, labels]) => [key, [...labels].slice(0, 4).join(", ")]),
        ["j  k", "Next and previous item"],
        ["u", "Undo"],
        ["Ctrl Enter", "Send the form"],
      ],
    ],
    [
      "Every page",
      [
        ["Ctrl K", "Command palette"],
        ["/", "Search"],
        ["?", "These keys"],
        ...listSections().map(({ title, key }) => [`g ${key}`, title]),
      ],
    ],
  ];
}

function showKeys() {
  const rows = (keys) => keys.flatMap(([key, label]) => [newElement("dt", {}, newElement("kbd", {}, key)), newElement("dd", {}, label)]);
  const groups = listKeys().map(([title, keys]) =>
    newElement("section", {}, newElement("h2", { className: "label" }, title), newElement("dl", { className: "facts" }, ...rows(keys))),
  );
  const close = newElement("button", { type: "button" }, "Close");
  const dialog = openDialog("Keys", "keys", ...groups, close);
  close.addEventListener("click", () => dialog.close());
  close.focus();
}

/** Time in which the letter of a section follows `g`, in milliseconds. */
const SECTION_DELAY = 1500;

let sectionUntil = 0;

function onPaletteKey(event) {
  const { key } = event;
  if (!document.querySelector(".site-header") || event.isComposing) return;
  let isDone = true;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && key.toLowerCase() === "k") {
    openPalette();
  } else if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) {
    return;
  } else if (document.querySelector("dialog[open]")) {
    // The keys of the page do not act behind a dialog.
    isDone = key.length === 1 && key !== " ";
  } else if (event.timeStamp < sectionUntil) {
    const section = listSections().find((own) => own.key === key);
    if (section) location.assign(section.path);
    sectionUntil = 0;
  } else if (key === "?") {
    showKeys();
  } else if (key === "g") {
    sectionUntil = event.timeStamp + SECTION_DELAY;
  } else {
    return;
  }
  if (!isDone) return;
  event.preventDefault();
  event.stopPropagation();
}

// Before the keys of the page, of which one may be the letter of a section.
document.addEventListener("keydown", onPaletteKey, true);
