"use strict";
// Folding, search, sorting, tooltips and the theme. Without this script the page shows all of its rows.
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  // Theme: the system's unless chosen here.
  const themeButton = byId("theme");
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { themeButton.textContent = isDark() ? "Light" : "Dark"; themeButton.ariaLabel = themeButton.textContent + " theme"; };
  themeButton.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  nameTheme();

  // Lists: the rows of a table or the cards of a grid; each shows its first entries, those that match the search.
  const STEP = 50;
  const plain = (text) => text.normalize("NFKC").toLocaleLowerCase();
  const lists = new Map();
  for (const element of all("[data-first]")) {
    const parent = element.tBodies ? element.tBodies[0] : element;
    const entries = [...parent.children].map((node) => ({ node, text: plain((node.querySelector("h4") || node).textContent) }));
    entries.forEach(({ node }, i) => { node.hidden = i >= Number(element.dataset.first); node.classList.remove("rest"); });
    const more = document.createElement("button");
    more.className = "more";
    more.type = "button";
    const list = { parent, entries, more, query: "", limit: Number(element.dataset.first) };
    (element.closest(".scroll") || element).after(more);
    more.addEventListener("click", () => { list.limit += STEP; show(list, element.id); });
    lists.set(element.id, list);
    show(list, element.id);
  }
  function show(list, id) {
    let matches = 0;
    for (const { node, text } of list.entries) {
      const match = !list.query || text.includes(list.query);
      node.hidden = !match || matches >= list.limit;
      matches += match;
    }
    const rest = matches - list.limit;
    list.more.hidden = rest <= 0;
    list.more.textContent = `Show ${Math.min(rest, STEP)} more of ${rest}`;
    for (const status of all("[data-found]")) {
      if (status.dataset.found === id) status.textContent = list.query ? `${matches} of ${list.entries.length}` : "";
    }
  }
  for (const input of all("[data-search]")) {
    input.addEventListener("input", () => {
      const list = lists.get(input.dataset.search);
      list.query = plain(input.value.trim());
      show(list, input.dataset.search);
    });
  }

  // Sorting: numbers by data-v or text, down first; text by the reader's own alphabet.
  const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const number = (cell) => parseFloat(cell.dataset.v ?? cell.textContent.replace(/,/g, ""));
  for (const header of all(".sortable th")) {
    header.firstElementChild.addEventListener("click", () => {
      const table = header.closest("table"), list = lists.get(table.id), column = header.cellIndex;
      const numeric = header.dataset.kind === "number";
      const down = header.ariaSort ? header.ariaSort === "ascending" : numeric;
      const sign = down ? -1 : 1;
      const cell = (entry) => entry.node.cells[column];
      const compare = numeric ? (a, b) => number(cell(a)) - number(cell(b)) : (a, b) => order.compare(cell(a).textContent, cell(b).textContent);
      list.entries.sort((a, b) => sign * compare(a, b));
      list.parent.append(...list.entries.map((entry) => entry.node));
      for (const other of all("th", table)) other.removeAttribute("aria-sort");
      header.ariaSort = down ? "descending" : "ascending";
      show(list, table.id);
    });
  }

  // Tooltips: marks of charts carry their text; cells of heat maps have their row and column.
  const tip = byId("tip");
  function sentence(target) {
    const mark = target.closest(".chart [role='graphics-symbol'][aria-label]");
    if (mark) return mark.getAttribute("aria-label");
    const cell = target.closest(".heat tbody td");
    if (!cell) return "";
    const klass = cell.closest("table").tHead.rows[0].cells[cell.cellIndex].textContent;
    return `class ${klass}, labelled ${cell.parentNode.cells[0].textContent}: ${(100 * parseFloat(cell.style.getPropertyValue("--a")) ** 2).toFixed(1)} %`;
  }
  document.addEventListener("pointermove", (event) => {
    const text = event.target.closest ? sentence(event.target) : "";
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 12, innerWidth - width - 8))}px`;
    tip.style.top = `${event.clientY - height - 12 < 0 ? event.clientY + 16 : event.clientY - height - 12}px`;
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

  // Long names unfold where they stand.
  document.addEventListener("click", (event) => {
    const name = event.target.closest(".name[title]");
    if (name) name.classList.toggle("open");
  });

  // The contents say where the reader is.
  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const part of all("section[id]")) seen.observe(part);
})();
