// Loaded in the head and blocking, so that the chosen theme is there before the first paint. Every page works without.
(() => {
  "use strict";
  const root = document.documentElement;
  const THEME = "bluffline-theme";

  // ---- theme -------------------------------------------------------------------------------------------------
  const remembered = () => {
    try { return localStorage.getItem(THEME) || "system"; } catch { return "system"; }
  };
  const applyTheme = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
    for (const button of document.querySelectorAll("[data-set-theme]")) {
      button.setAttribute("aria-pressed", String(button.dataset.setTheme === theme));
    }
  };
  root.classList.add("js");
  applyTheme(remembered());

  const chooseTheme = (theme) => {
    try { localStorage.setItem(THEME, theme); } catch { /* private windows may refuse; the choice then ends with the page */ }
    applyTheme(theme);
    redrawFigures();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redrawFigures());
  addEventListener("storage", (event) => {
    if (event.key === THEME) { applyTheme(remembered()); redrawFigures(); }
  });
  addEventListener("beforeprint", () => { root.dataset.theme = "light"; redrawFigures(); });
  addEventListener("afterprint", () => { applyTheme(remembered()); redrawFigures(); });

  // ---- notices -----------------------------------------------------------------------------------------------
  const toast = (words) => {
    const place = document.getElementById("toasts");
    if (!place || (place.lastElementChild && place.lastElementChild.textContent === words)) return; // said already
    const line = document.createElement("div");
    line.className = "toast";
    line.textContent = words;
    place.append(line);
    setTimeout(() => line.remove(), 4000);
  };

  // ---- htmx --------------------------------------------------------------------------------------------------
  document.addEventListener("htmx:config:request", (event) => {
    const token = document.querySelector('meta[name="csrf-token"]');
    if (token) event.detail.ctx.request.headers["X-CSRF-Token"] = token.content;
    // What a reader does next supersedes the last notice; a page that polls does not.
    const cause = event.detail.ctx.sourceEvent;
    const notices = document.getElementById("notices");
    if (notices && cause && (cause.isTrusted || cause.type === "change")) notices.replaceChildren();
  });
  document.addEventListener("htmx:error", () => toast("The server did not answer. Is it still running?"));
  document.addEventListener("htmx:after:process", (event) => drawFigures(event.target));
  document.addEventListener("htmx:before:cleanup", (event) => {
    const element = event.target;
    if (element.matches && element.matches("[data-figure].drawn") && window.Plotly) window.Plotly.purge(element);
  });

  // ---- figures -----------------------------------------------------------------------------------------------
  let plotly;
  const loadPlotly = () => {
    plotly ||= window.Plotly ? Promise.resolve(window.Plotly) : new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = root.dataset.plotly;
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => reject(new Error("the figures could not be loaded"));
      document.head.append(script);
    });
    return plotly;
  };

  // A figure names its colours as var(--name); the browser says what that is in the theme at hand.
  const colour = (expression) => {
    const probe = document.createElement("span");
    probe.hidden = true;
    probe.style.color = expression;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const coloured = (value, known) => {
    if (typeof value === "string") {
      if (!value.startsWith("var(--")) return value;
      if (!known.has(value)) known.set(value, colour(value));
      return known.get(value);
    }
    if (Array.isArray(value)) return value.map((each) => coloured(each, known));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, coloured(each, known)]));
    }
    return value;
  };
  const merged = (base, over) => {
    const result = { ...base };
    for (const [key, value] of Object.entries(over || {})) {
      const both = value && typeof value === "object" && !Array.isArray(value) && result[key] && typeof result[key] === "object";
      result[key] = both ? merged(result[key], value) : value;
    }
    return result;
  };
  const AXIS = {
    gridcolor: "var(--line)", zerolinecolor: "var(--rule)", linecolor: "var(--rule)", tickcolor: "var(--rule)",
    automargin: true, fixedrange: true, ticks: "", zeroline: false, title: { font: { size: 12 }, standoff: 10 },
  };
  const layoutOf = (layout, lined) => {
    const base = {
      autosize: true, showlegend: false, dragmode: false, barmode: "stack", bargap: 0.18, hovermode: "closest",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 44, r: 12, t: lined ? 26 : 8, b: 36 }, // a line carries its value above the plot
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: "var(--soft)" },
      hoverlabel: { bgcolor: "var(--ink)", bordercolor: "var(--ink)", font: { color: "var(--paper)", size: 12 } },
      xaxis: AXIS, yaxis: AXIS,
    };
    for (const name of Object.keys(layout || {})) if (/^[xy]axis\d+$/.test(name)) base[name] = AXIS;
    return merged(base, layout);
  };
  const draw = async (element) => {
    const source = document.getElementById(element.dataset.figure);
    if (!source) return;
    let library;
    try { library = await loadPlotly(); } catch (error) { element.textContent = `${error.message}; the table holds the same numbers.`; return; }
    if (!element.isConnected) return;
    const figure = coloured({ data: [], ...JSON.parse(source.textContent) }, new Map());
    const layout = coloured(layoutOf(figure.layout, element.dataset.thresholdLine), new Map());
    await library.react(element, figure.data, layout, { displayModeBar: false, responsive: true, showTips: false, doubleClick: false });
    if (!element.classList.contains("drawn")) {
      element.classList.add("drawn");
      element.on("plotly_afterplot", () => placeLine(element));
      element.on("plotly_click", (event) => follow(element, event));
    }
    placeLine(element);
  };
  const drawFigures = (within) => {
    const place = within && within.querySelectorAll ? within : document;
    const found = [...place.querySelectorAll("[data-figure]:not(.drawn)")];
    if (place.matches && place.matches("[data-figure]:not(.drawn)")) found.push(place);
    for (const element of found) {
      if (element.dataset.drawing) continue;
      element.dataset.drawing = "yes";
      draw(element).finally(() => delete element.dataset.drawing);
    }
  };
  const redrawFigures = () => document.querySelectorAll("[data-figure].drawn").forEach((element) => draw(element));
  // A point whose customdata carries a local path is a link to it.
  const follow = (element, event) => {
    const data = event.points[0] && event.points[0].customdata;
    const path = Array.isArray(data) ? data[0] : data;
    if (element.dataset.links !== undefined && typeof path === "string" && /^\/(?!\/)/.test(path)) location.assign(path);
  };

  // ---- the threshold line: drawn over a figure, held by a range input that works without it -------------------
  const inputOf = (element) => document.getElementById(element.dataset.thresholdLine || "");
  const placeLine = (element) => {
    const input = inputOf(element);
    const axes = element._fullLayout;
    if (!input || !axes || !axes.xaxis) return;
    let line = element.querySelector(".threshold-line");
    if (!line) {
      line = document.createElement("div");
      line.className = "threshold-line";
      line.append(document.createElement("output"));
      element.append(line);
      hold(line, element);
    }
    const x = axes.xaxis;
    const value = Math.min(Math.max(Number(input.value), Math.min(...x.range)), Math.max(...x.range));
    line.style.left = `${x._offset + x.l2p(value)}px`;
    line.style.top = `${axes._size.t}px`;
    line.style.height = `${axes._size.h}px`;
    line.firstChild.value = input.value;
  };
  const hold = (line, element) => {
    let from;
    const move = (event) => {
      const x = element._fullLayout.xaxis;
      const input = inputOf(element);
      input.value = String(x.p2l(event.clientX - element.getBoundingClientRect().left - x._offset));
      input.dispatchEvent(new Event("input", { bubbles: true }));
    };
    line.addEventListener("pointerdown", (event) => {
      from = inputOf(element).value;
      line.setPointerCapture(event.pointerId);
      line.classList.add("held");
      event.preventDefault();
    });
    line.addEventListener("pointermove", (event) => { if (line.hasPointerCapture(event.pointerId)) move(event); });
    line.addEventListener("pointerup", (event) => {
      line.releasePointerCapture(event.pointerId);
      line.classList.remove("held");
      const input = inputOf(element);
      if (input.value !== from) input.dispatchEvent(new Event("change", { bubbles: true }));
    });
  };
  document.addEventListener("input", (event) => {
    const input = event.target;
    if (!input.matches("input[type=range]")) return;
    for (const element of document.querySelectorAll("[data-threshold-line].drawn")) {
      if (element.dataset.thresholdLine === input.id) placeLine(element);
    }
    for (const output of document.querySelectorAll("output[for]")) {
      if (output.htmlFor.contains(input.id)) output.value = input.value;
    }
  });

  // ---- clicks and keys ---------------------------------------------------------------------------------------
  const copy = async (button) => {
    try {
      let words = button.dataset.copy;
      if (button.dataset.copyFrom) {
        const answer = await fetch(button.dataset.copyFrom);
        if (!answer.ok) throw new Error();
        words = await answer.text();
      } else if (button.dataset.copyText) {
        words = document.querySelector(button.dataset.copyText).textContent;
      }
      await navigator.clipboard.writeText(words);
      toast("Copied");
    } catch { toast("Copying was refused by the browser"); }
  };
  document.addEventListener("click", (event) => {
    const theme = event.target.closest("[data-set-theme]");
    if (theme) chooseTheme(theme.dataset.setTheme);
    const button = event.target.closest("[data-copy], [data-copy-from], [data-copy-text]");
    if (button) copy(button);
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === "Escape") for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
    const relation = { ArrowRight: "next", ArrowLeft: "prev" }[event.key];
    // Where the arrows already mean something they keep their meaning.
    if (!relation || event.target.closest("input, select, textarea, [contenteditable], .scroll, .plot, pre")) return;
    const link = document.querySelector(`main a[rel~="${relation}"][href]`);
    if (link) { event.preventDefault(); link.click(); }
  });

  // ---- places in a document: #char=start,end leads to a stretch of the text and marks it ----------------------
  // Offsets count code points, as everywhere; JavaScript's own count halves of some of them.
  const unitsOf = (text, points) => {
    let units = 0;
    for (let point = 0; point < points && units < text.length; point += 1) units += text.codePointAt(units) > 0xffff ? 2 : 1;
    return units;
  };
  const unmark = (text) => {
    for (const mark of text.querySelectorAll(".focus")) {
      if (mark.dataset.at !== undefined) { mark.classList.remove("focus"); continue; }
      const holder = mark.parentNode;
      mark.replaceWith(...mark.childNodes);
      holder.normalize();
    }
  };
  const markStretch = (text, start, end) => {
    const marked = [];
    for (const run of text.querySelectorAll("[data-at]")) {
      const words = run.textContent;
      const at = Number(run.dataset.at);
      if (at >= end || !run.firstChild) continue;
      const from = unitsOf(words, Math.max(0, start - at));
      const to = unitsOf(words, end - at);
      if (from >= to) continue;
      const range = document.createRange();
      range.setStart(run.firstChild, from);
      range.setEnd(run.firstChild, to);
      const mark = document.createElement("span");
      mark.className = "focus";
      range.surroundContents(mark);
      marked.push(mark);
    }
    return marked;
  };
  // A page, a time or cells stand in the query as well, which the server reads; an address with only the fragment is mended.
  const NAMED = ["page", "t", "sheet", "range"];
  const askForPlace = () => {
    const wanted = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
    const there = new URL(location.href);
    const names = NAMED.filter((name) => wanted.has(name));
    if (!names.length || names.every((name) => there.searchParams.get(name) === wanted.get(name))) return;
    for (const name of [...NAMED, "char", "part"]) there.searchParams.delete(name);
    for (const name of names) there.searchParams.set(name, wanted.get(name));
    location.replace(there);
  };
  const showPlace = () => {
    if (document.querySelector("[data-from][data-to]")) askForPlace();
    const text = document.querySelector("[data-from][data-to]");
    const asked = /^#char=(\d+),(\d+)$/.exec(decodeURIComponent(location.hash));
    if (!text || !asked) return;
    const [start, end] = [Number(asked[1]), Number(asked[2])];
    if (start < Number(text.dataset.from) || start >= Number(text.dataset.to)) {
      const there = new URL(location.href);
      if (there.searchParams.get("char") === `${start},${end}`) return;
      there.searchParams.delete("part");
      there.searchParams.set("char", `${start},${end}`);
      location.replace(there); // a long document is served in parts: this place lies in another
      return;
    }
    unmark(text);
    const marked = markStretch(text, start, end);
    if (marked.length) marked[0].scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", showPlace);
  document.addEventListener("htmx:after:process", (event) => { if (event.target.querySelector?.("[data-from][data-to]")) showPlace(); });

  // ---- sending files: the same form, with a bar that says how far it is ----------------------------------------
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-upload]");
    if (!form) return;
    event.preventDefault();
    const bar = form.querySelector("[data-upload-progress]");
    const words = form.querySelector("[data-upload-words]");
    const button = form.querySelector("button[type=submit]");
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.upload.addEventListener("progress", (step) => {
      if (!step.lengthComputable) return;
      const share = Math.round((step.loaded / step.total) * 100);
      bar.querySelector("progress").value = share;
      words.textContent = share < 100 ? `${share} %` : "sent; the server puts it into the folder";
    });
    request.addEventListener("load", () => {
      if (request.responseURL !== form.action) { location.assign(request.responseURL); location.reload(); return; } // followed to the documents
      const answer = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main");
      if (!answer) { toast("The server gave no answer that can be shown."); return; }
      document.querySelector("main").replaceChildren(...answer.childNodes);
      scrollTo(0, 0);
    });
    const failed = () => { bar.hidden = true; button.disabled = false; toast("The files did not reach the server. Is it still running, and are they not too large?"); };
    request.addEventListener("error", failed);
    request.addEventListener("abort", failed);
    bar.hidden = false;
    button.disabled = true;
    request.send(new FormData(form));
  });

  // The chosen cell of a matrix is marked at once; what it stands for is swapped in below.
  document.addEventListener("click", (event) => {
    const cell = event.target.closest(".matrix td a")?.parentElement;
    if (!cell) return;
    for (const other of cell.closest("table").querySelectorAll("td[aria-current]")) other.removeAttribute("aria-current");
    cell.setAttribute("aria-current", "true");
  });

  document.addEventListener("DOMContentLoaded", () => {
    showPlace();
    applyTheme(remembered());
    drawFigures(document);
  });
})();
