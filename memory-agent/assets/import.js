// Files that are dropped on the page of imports, and the progress of an import.

/** Returns the files of a dropped file or folder with their paths. */
async function filesOf(entry, path = "") {
  const name = path + entry.name;
  if (entry instanceof File) return [[entry, name]];
  if (entry.isFile) return [[await new Promise((found, failed) => entry.file(found, failed)), name]];
  const reader = entry.createReader();
  const files = [];
  // A reader returns the items of a folder in several parts; the last one is empty.
  for (;;) {
    const entries = await new Promise((found, failed) => reader.readEntries(found, failed));
    if (!entries.length) return files;
    for (const inner of entries) files.push(...(await filesOf(inner, `${name}/`)));
  }
}

/** Sends dropped files as the form would send chosen ones, and opens the page of their import. */
async function uploadDropped(form, transfer) {
  const status = form.querySelector("[data-upload-status]");
  // The items are gone after this event.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean);
  status.textContent = "Sending the files…";
  try {
    const data = new FormData();
    data.append("csrf", form.elements.csrf.value);
    for (const entry of entries) for (const [file, path] of await filesOf(entry)) data.append("files", file, path);
    const response = await fetch(form.action, { method: "POST", body: data, credentials: "same-origin" });
    if (response.redirected) location.assign(response.url);
    else replaceContent(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch {
    status.textContent = "The files could not be sent. Try again, or enter their path below.";
  }
}

function startDropping() {
  const zone = () => document.getElementById("upload");
  zone()?.classList.add("can-drop");
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      const form = zone();
      if (!form || !event.dataTransfer?.types.includes("Files")) return;
      // Otherwise the browser would leave the page and open the file.
      event.preventDefault();
      form.classList.toggle("is-target", kind === "dragover");
      if (kind === "drop") uploadDropped(form, event.dataTransfer);
    });
  }
}

/** Interval between two looks at the progress of an import, in milliseconds. */
const PROGRESS_INTERVAL = 1000;

async function followProgress() {
  if (!main().querySelector("[data-refresh]")) return;
  const page = document.hidden ? undefined : await loadPage(location.href);
  // The button remains, with its focus and a press that has begun.
  if (page?.querySelector("[data-refresh]")) replaceParts(page, ["[data-refresh] [role=status]", "[data-refresh] progress"]);
  else if (page) replaceContent(page);
  setTimeout(followProgress, PROGRESS_INTERVAL);
}

startDropping();
setTimeout(followProgress, PROGRESS_INTERVAL);
