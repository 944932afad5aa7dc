// Copy buttons, language tabs, contents, and the "try it" forms. Without this script the page is complete, and elements that
// need it stay hidden. The key is only in its field: this script neither stores it nor puts it in a URL.
"use strict";
(() => {
  const base = document.body.dataset.base;
  const keyField = document.getElementById("api-key");
  const NO_KEY = /[^\x21-\x7e]/;
  const TOKEN = /"(?:\\.|[^"\\])*"|[-+.\w]+/g;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  function make(name, text, properties = {}) {
    return Object.assign(document.createElement(name), { textContent: text }, properties);
  }

  /** Copies the text. If scripts may not write to the clipboard, selects it and copies the selection. */
  async function copy(part) {
    try {
      await navigator.clipboard.writeText(part.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(part);
      return document.execCommand("copy");
    }
  }

  function offerCopies() {
    const status = document.body.appendChild(make("p", "", { className: "unseen", ariaLive: "polite" }));
    for (const block of all("[data-copy]")) {
      const button = block.appendChild(make("button", "Copy", { type: "button", ariaLabel: `Copy ${block.dataset.copy}` }));
      button.addEventListener("click", async () => {
        const text = (await copy(block.querySelector("pre"))) ? "Copied" : "Selected";
        status.textContent = button.textContent = text;
        setTimeout(() => { button.textContent = "Copy"; status.textContent = ""; }, 2000);
      });
    }
  }

  /** Replaces the folding samples with tabs; a chosen language applies to all samples that have it. */
  function offerLanguages() {
    const groups = all(".samples").map((group) => {
      const row = make("div", "", { className: "tabs", role: "group", ariaLabel: `Language of ${group.dataset.of}` });
      const tabs = all("details", group).map((part) => {
        const language = part.querySelector("summary").textContent;
        const button = make("button", language, { type: "button", ariaLabel: `${language}: ${group.dataset.of}` });
        button.addEventListener("click", () => {
          const top = row.getBoundingClientRect().top;
          choose(language);
          scrollBy({ top: row.getBoundingClientRect().top - top, behavior: "instant" });
        });
        row.append(button);
        return { part, button, language };
      });
      group.prepend(row);
      group.classList.add("tabbed");
      show(tabs, tabs[0].language);
      return tabs;
    });
    function show(tabs, language) {
      for (const tab of tabs) {
        tab.button.ariaPressed = String(tab.language === language);
        tab.part.open = true;
        tab.part.hidden = tab.language !== language;
      }
    }
    function choose(language) {
      groups.filter((tabs) => tabs.some((tab) => tab.language === language)).forEach((tabs) => show(tabs, language));
    }
  }

  /** Marks the current section in the contents, and folds the contents if they would cover the text. */
  function followReader() {
    const contents = document.querySelector(".contents details");
    const wide = matchMedia("(min-width: 1000px)");
    const fold = () => { contents.open = wide.matches; };
    wide.addEventListener("change", fold);
    fold();
    const links = all(".contents a[href^='#']");
    const headings = links.map((link) => document.getElementById(link.hash.slice(1)));
    document.addEventListener("click", (event) => {
      if (event.target.closest(".contents a") || !event.target.closest(".contents")) fold();
    });
    addEventListener("keydown", (event) => { if (event.key === "Escape") fold(); });
    let current = null;
    function mark() {
      const isEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
      const last = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < innerHeight / 4);
      const link = links[isEnd ? links.length - 1 : last];
      if (link === current) return;
      if (current) current.ariaCurrent = null;
      current = link;
      if (!link) return;
      link.ariaCurrent = "true";
      const list = wide.matches ? contents.parentElement : contents.querySelector("div");
      const [{ top, bottom }, box] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
      if (top < box.top || bottom > box.bottom) list.scrollTop += top - box.top - box.height / 2;
    }
    addEventListener("scroll", mark, { passive: true });
    addEventListener("resize", mark, { passive: true });
    mark();
  }

  /** Opens the part that the URL names, and what it is folded into. */
  function openTarget() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let isHidden = false;
    for (let at = target && target.closest("details"); at; at = at.parentElement.closest("details")) {
      isHidden ||= !at.open;
      at.open = true;
    }
    if (isHidden) target.scrollIntoView();
  }

  /** Shows the text, with colors if it is JSON. */
  function paint(part, text, isJson) {
    part.textContent = "";
    let end = 0;
    for (const { 0: token, index } of isJson ? text.matchAll(TOKEN) : []) {
      const after = index + token.length;
      const kind = token[0] !== '"' ? "n" : text[after] === ":" ? "k" : "s";
      part.append(text.slice(end, index), make("i", token, { className: kind }));
      end = after;
    }
    part.append(text.slice(end));
  }

  /** Returns whether the URL would lose the value: browsers resolve `.` and `..` in a path, even encoded. */
  function isFolded(field) {
    return field.dataset.in === "path" && /^\.\.?$/.test(field.value);
  }

  /** Returns the URL that a form requests. An empty path parameter is replaced by its example. */
  function addressOf(form) {
    let path = form.dataset.path;
    const query = [];
    for (const field of all("input", form)) {
      if (field.dataset.in === "path") {
        path = path.replace(`{${field.name}}`, () => encodeURIComponent(field.value || field.placeholder));
      } else if (field.value) {
        query.push(`${field.name}=${encodeURIComponent(field.value)}`);
      }
    }
    const separator = query.length > 0 ? "?" : "";
    return new URL(base + path + separator + query.join("&"), location.origin);
  }

  /** Returns the curl command for the request; the shell inserts the key. */
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

  /** Sends the request, and returns the response and its duration in milliseconds. */
  async function request(address, signal) {
    const headers = { Authorization: `Bearer ${keyField.value.trim()}` };
    const start = performance.now();
    // The key is sent only to this URL, and the response is not cached.
    const received = await fetch(address, { headers, signal, cache: "no-store", credentials: "omit", redirect: "error" });
    const text = await received.text();
    return { received, text, milliseconds: Math.round(performance.now() - start) };
  }

  /** Explains a missing response. Browsers report no details to scripts. */
  function refusal(address) {
    if (address.origin === location.origin) return "No response: the server could not be reached.";
    return `No response: ${address.origin} could not be reached, or the browser blocked the request, because pages of ` +
      `${location.origin} are not allowed to read responses (CORS). The curl command still works.`;
  }

  /** Returns what prevents sending the form, if anything. Invalid values are sent, so that the server explains them. */
  function obstacle(form) {
    const key = keyField.value.trim();
    if (!key) return { text: "Nothing was sent: set the API key first.", field: keyField };
    if (NO_KEY.test(key)) return { text: "The API key contains an invalid character.", field: keyField };
    const dots = all("input", form).find(isFolded);
    if (dots) return { text: `Nothing was sent: a browser cannot request the ${dots.name} "${dots.value}".`, field: dots };
    const field = all("input", form).find((input) => input.validity.valueMissing);
    return field && { text: `Nothing was sent: fill in ${field.name}.`, field };
  }

  function prepare(section) {
    const form = section.querySelector("form");
    const nextButton = section.querySelector(".next");
    const [curl, status, response, headers, body] =
      [".curl", ".status", ".response", ".headers", ".body"].map((name) => section.querySelector(name));
    let nextCursor = null;
    let running = new AbortController();

    const showCurl = () => { curl.textContent = curlLine(addressOf(form)); };

    /** Shows the outcome, above the full response. */
    function show(kind, text) {
      status.dataset.kind = kind;
      status.textContent = text;
      response.hidden = kind === "none";
      if (response.hidden) headers.textContent = body.textContent = "";
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
      const found = obstacle(form);
      if (found) {
        offerNext(null);
        found.field.focus();
        return show("none", found.text);
      }
      const address = addressOf(form);
      showCurl();
      curl.parentElement.hidden = false;
      show("none", "Waiting for the response …");
      try {
        const { received, text, milliseconds } = await request(address, signal);
        const { json, shown } = pretty(text);
        headers.textContent = [...received.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
        paint(body, shown, json !== null);
        const last = offerNext(json);
        const outcome = `${received.status} ${received.statusText}`.trim();
        show(received.ok ? "success" : "failure", `${outcome} in ${milliseconds} ms.${last}`);
      } catch {
        if (!signal.aborted) show("none", refusal(address));
      }
    }

    form.addEventListener("input", () => {
      curl.parentElement.hidden = all("input", form).some(isFolded);
      showCurl();
    });
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

  for (const part of all(".origin")) part.textContent = location.origin;
  keyField.form.addEventListener("submit", (event) => event.preventDefault());
  for (const code of all("pre > code")) if (code.textContent.startsWith("{")) paint(code, code.textContent, true);
  all(".try").forEach(prepare);
  all("[data-script]").forEach((part) => { part.hidden = false; });
  offerCopies();
  offerLanguages();
  followReader();
  addEventListener("hashchange", openTarget);
  openTarget();
})();
