
// Phones

// Without it the page works, but shows nothing while the computer is out of reach. Browsers offer it over HTTPS and on this machine.
navigator.serviceWorker?.register("/service-worker.js").catch(() => {});

/** Fills in the code from the picture that was scanned. It is behind the `#` of the address, which browsers never send, and is removed there. */
function takeCode() {
  const [field, code] = [document.getElementById("code"), location.hash.slice(1)];
  if (!field || !/^[2-9A-Z]{4}-[2-9A-Z]{4}$/.test(code)) return;
  field.value = code;
  history.replaceState(null, "", location.pathname + location.search);
  field.form.querySelector("button").focus();
}

takeCode();
addEventListener("hashchange", takeCode);
