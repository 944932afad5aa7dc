"use strict";
(() => {
  const all = (selector) => document.querySelectorAll(selector);
  const origin = (address) => (address.startsWith("/") ? location.origin + address : address);

  // Inserts the origin of this page into the command to paste.
  for (const span of all("[data-origin]")) span.textContent = location.origin;

  // After a double click, the browser would show the second response, which has no key.
  let sent = -Infinity;
  addEventListener("submit", (event) => {
    if (event.timeStamp - sent < 2000) event.preventDefault();
    else sent = event.timeStamp;
  });

  // Status for screen readers after a copy.
  const status = document.createElement("p");
  status.className = "unseen";
  status.setAttribute("role", "status");
  document.querySelector("main").append(status);
  for (const button of all("[data-copy]")) {
    const source = button.previousElementSibling;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.value ?? source.textContent);
        status.textContent = button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        source.select?.();
        status.textContent = button.textContent = "Press Ctrl+C";
      }
      setTimeout(() => { button.textContent = "Copy"; status.textContent = ""; }, 2000);
    });
    source.addEventListener("focus", () => source.select?.());
  }

  for (const row of all("[data-try]")) {
    const [button, output] = [row.querySelector("button"), row.querySelector("output")];
    row.hidden = false;
    button.addEventListener("click", async () => {
      output.textContent = "…";
      const headers = { Authorization: `Bearer ${document.getElementById("key").value}` };
      try {
        const response = await fetch(origin(row.dataset.try), { headers, cache: "no-store", credentials: "omit" });
        const body = await response.json().catch(() => null);
        output.textContent = response.ok && body
          ? `${response.status}: it works, for ${body.data.userId} with ${body.data.scopes.join(" ")}`
          : `${response.status}: ${body?.error?.message ?? "this is not a response of the API"}`;
      } catch {
        output.textContent = "The API cannot be reached from this page.";
      }
    });
  }

  // A browser may keep a page that was left; the key must not be in it.
  addEventListener("pagehide", () => {
    for (const element of all("[data-secret]")) {
      if ("value" in element) element.value = "";
      else element.textContent = "";
    }
  });

  // Moves the code of a sign-in link from the URL into the field. Only a person sends the form.
  const form = document.querySelector("[data-sign-in]");
  const take = () => {
    const code = location.hash.slice(1);
    if (!form || !code.startsWith("csin_")) return;
    form.elements.code.value = code;
    history.replaceState(null, "", location.pathname + location.search);
    form.querySelector("button").focus();
  };
  take();
  addEventListener("hashchange", take);
})();
