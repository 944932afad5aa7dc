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
    const show = (state, text) => {
      output.className = state;
      output.textContent = text;
    };
    button.addEventListener("click", async () => {
      show("", "…");
      const headers = { Authorization: `Bearer ${document.getElementById("key").value}` };
      try {
        const response = await fetch(origin(row.dataset.try), { headers, cache: "no-store", credentials: "omit" });
        const body = await response.json().catch(() => null);
        if (response.ok && body) show("good", `✓ The key works. The API accepts it with ${body.data.scopes.join(" and ")}.`);
        else show("bad", `✕ ${response.status}: ${body?.error?.message ?? "This is not a response of the API."}`);
      } catch {
        show("bad", "✕ The API cannot be reached from this page.");
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

  // Moves the code of a sign-in link from the URL into the form, which names the account. Only a person sends it.
  const form = document.querySelector("[data-sign-in]");
  const take = () => {
    const code = location.hash.slice(1);
    if (!form || !code.startsWith("csin_")) return;
    history.replaceState(null, "", location.pathname + location.search);
    form.elements.code.value = code;
    const [button, name] = [form.querySelector("button"), document.createElement("bdi")];
    try {
      name.textContent = decodeURIComponent(code.split(".")[1].replaceAll("~", "%"));
    } catch {
      return;
    }
    button.replaceChildren("Continue as ", name);
    form.querySelector(".field").hidden = true;
    button.focus();
  };
  take();
  addEventListener("hashchange", take);
})();
