"use strict";
(() => {
  const all = (selector) => document.querySelectorAll(selector);
  const origin = (address) => (address.startsWith("/") ? location.origin + address : address);

  // The line to paste, with the address that this page has.
  for (const span of all("[data-origin]")) span.textContent = location.origin;

  // Of a double click's two answers the browser would show the second, which has no key.
  let sent = -Infinity;
  addEventListener("submit", (event) => {
    if (event.timeStamp - sent < 2000) event.preventDefault();
    else sent = event.timeStamp;
  });

  // What screen readers say when something was copied.
  const told = document.createElement("p");
  told.className = "unseen";
  told.setAttribute("role", "status");
  document.querySelector("main").append(told);
  for (const button of all("[data-copy]")) {
    const source = button.previousElementSibling;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.value ?? source.textContent);
        told.textContent = button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        source.select?.();
        told.textContent = button.textContent = "Press Ctrl+C";
      }
      setTimeout(() => { button.textContent = "Copy"; told.textContent = ""; }, 2000);
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
        const answer = await fetch(origin(row.dataset.try), { headers, cache: "no-store", credentials: "omit" });
        const body = await answer.json();
        output.textContent = answer.ok
          ? `${answer.status}: it works, for ${body.data.userId} with ${body.data.scopes.join(" ")}`
          : `${answer.status}: ${body.error.message}`;
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

  // The code of a sign-in link: into the field, and off the address. Sending it is for a person.
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
