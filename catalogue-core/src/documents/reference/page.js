// The "try it" forms. Without this script the page is complete, and the forms stay hidden.
// The key is in its field alone: nothing here stores it or makes it part of an address.
"use strict";
(() => {
  const base = document.body.dataset.base;
  const keyField = document.getElementById("api-key");
  const NO_KEY = /[^\x21-\x7e]/;

  /** The address that a form asks for. A path parameter that is still empty shows its example. */
  function addressOf(form) {
    let path = form.dataset.path;
    const query = [];
    for (const field of form.querySelectorAll("input")) {
      if (field.dataset.in === "path") {
        path = path.replace(`{${field.name}}`, encodeURIComponent(field.value || field.placeholder));
      } else if (field.value) {
        query.push(`${field.name}=${encodeURIComponent(field.value)}`);
      }
    }
    const separator = query.length > 0 ? "?" : "";
    return new URL(base + path + separator + query.join("&"), location.origin);
  }

  /** The command that asks for the same, with the key left to the shell. */
  function curlLine(address) {
    return `curl -H "Authorization: Bearer $API_KEY" '${address.href.replace(/'/g, "'\\''")}'`;
  }

  function pretty(text) {
    try {
      const json = JSON.parse(text);
      return { json, shown: JSON.stringify(json, null, 2) };
    } catch {
      return { json: null, shown: text };
    }
  }

  /** Asks the server, and gives its answer with the milliseconds that it took. */
  async function ask(address, signal) {
    const headers = {};
    const key = keyField.value.trim();
    if (key) headers.Authorization = `Bearer ${key}`;
    const start = performance.now();
    // The key goes to this address alone, and the answer into no cache.
    const response = await fetch(address, { headers, signal, cache: "no-store", credentials: "omit", redirect: "error" });
    const text = await response.text();
    return { response, text, milliseconds: Math.round(performance.now() - start) };
  }

  /** Why there is no answer. A browser does not tell scripts more than that there is none. */
  function refusal(address) {
    if (address.origin === location.origin) return "No answer: the server could not be reached.";
    return `No answer: ${address.origin} could not be reached, or it does not let pages of ${location.origin} ` +
      "read its answers (CORS), and the browser refused. The curl line works all the same.";
  }

  function prepare(section) {
    const form = section.querySelector("form");
    const nextButton = section.querySelector(".next");
    const [curl, status, answer, headers, body] =
      [".curl", ".status", ".answer", ".headers", ".body"].map((name) => section.querySelector(name));
    let nextCursor = null;
    let running = new AbortController();

    const showCurl = () => { curl.textContent = curlLine(addressOf(form)); };

    /** Says how it went; the whole answer stands below, for who wants to read it. */
    function say(kind, text) {
      status.dataset.kind = kind;
      status.textContent = text;
      answer.hidden = kind === "none";
    }

    function offerNext(json) {
      if (!nextButton) return "";
      nextCursor = json && json.meta ? json.meta.nextCursor : null;
      const isLast = typeof nextCursor !== "string";
      if (isLast && document.activeElement === nextButton) form.querySelector("[type=submit]").focus();
      nextButton.hidden = isLast;
      return isLast && json && json.meta ? " This is the last page." : "";
    }

    async function send() {
      running.abort();
      const { signal } = running = new AbortController();
      if (NO_KEY.test(keyField.value.trim())) return say("none", "The API key holds a character that no key has.");
      const address = addressOf(form);
      say("none", "Waiting for the answer …");
      try {
        const { response, text, milliseconds } = await ask(address, signal);
        const { json, shown } = pretty(text);
        headers.textContent = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
        body.textContent = shown;
        const last = offerNext(json);
        const outcome = `${response.status} ${response.statusText}`.trim();
        say(response.ok ? "success" : "failure", `${outcome} in ${milliseconds} ms.${last}`);
      } catch {
        if (!signal.aborted) say("none", refusal(address));
      }
    }

    form.addEventListener("input", showCurl);
    form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
    if (nextButton) {
      nextButton.addEventListener("click", () => {
        form.elements[form.dataset.next].value = nextCursor;
        showCurl();
        send();
      });
    }
    showCurl();
  }

  keyField.form.addEventListener("submit", (event) => event.preventDefault());
  document.querySelectorAll(".try").forEach(prepare);
  document.querySelectorAll("[data-script]").forEach((part) => { part.hidden = false; });
})();
