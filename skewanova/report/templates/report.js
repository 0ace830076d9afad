"use strict";
(() => {
  const numeric = (text) => {
    const value = parseFloat(text.replace(/^</, ""));
    return text.startsWith("<") ? value * 0.999 : text.startsWith("inf") ? Infinity : value;
  };
  const compare = (a, b, numbers) => {
    if (!numbers) return a.localeCompare(b, "en", { numeric: true });
    const [x, y] = [numeric(a), numeric(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  };
  const sort = (head) => {
    const table = head.closest("table");
    const rows = [...table.tBodies[0].rows];
    const text = (row) => row.cells[head.cellIndex].textContent.trim();
    const rising = head.getAttribute("aria-sort") !== "ascending";
    const numbers = head.classList.contains("number");
    rows.sort((a, b) => {
      const [x, y] = [text(a), text(b)];
      if (!x || !y) return Boolean(y) - Boolean(x) || 0;
      return rising ? compare(x, y, numbers) : compare(y, x, numbers);
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    table.tBodies[0].append(...rows);
  };
  for (const head of document.querySelectorAll("thead th")) {
    if (head.closest("table").tBodies[0].rows.length < 2) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(head));
  }
  for (const block of document.querySelectorAll(".paste")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      getSelection().selectAllChildren(block);
      try {
        await navigator.clipboard.writeText(block.innerText);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Selected";
      }
    });
    block.before(button);
  }

  const shown = (hash) => {
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    let part = target && target.closest("details");
    for (; part; part = part.parentElement.closest("details")) part.open = true;
    return target;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) shown(link.hash);
  });
  const linked = shown(location.hash);
  if (linked) linked.scrollIntoView();

  const parts = [...document.querySelectorAll("details.part")];
  const contents = document.querySelector("nav.contents");
  if (contents && parts.length) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "all";
    const name = () => {
      button.textContent = parts.every((part) => part.open) ? "Close all parts" : "Open all parts";
    };
    button.addEventListener("click", () => {
      const open = !parts.every((part) => part.open);
      for (const part of parts) part.open = open;
    });
    for (const part of parts) part.addEventListener("toggle", name);
    name();
    const item = document.createElement("li");
    item.append(button);
    contents.querySelector("ul").append(item);
  }

  const slider = document.getElementById("slider");
  if (slider) {
    const { priors, captions, rows } = JSON.parse(slider.dataset.steps);
    const input = slider.querySelector("input");
    const caption = document.getElementById("table-by_prior");
    const lines = [...document.querySelector('table[aria-labelledby="table-by_prior"]').tBodies[0].rows];
    const area = document.getElementById("regions-prior-area");
    const low = Math.log(priors[0]);
    const span = Math.log(priors[priors.length - 1]) - low;
    let cursor = null;
    let box = null;
    const show = () => {
      const step = input.valueAsNumber;
      caption.textContent = captions[step];
      input.setAttribute("aria-valuetext", captions[step]);
      rows[step].forEach((row, i) => {
        row.split("|").forEach((text, j) => { lines[i].cells[j + 1].textContent = text; });
      });
      if (!cursor) return;
      const x = box.x + (box.width * (Math.log(priors[step]) - low)) / span;
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
    };
    if (area) {
      const picture = area.ownerSVGElement;
      box = area.getBBox();
      cursor = document.createElementNS(picture.namespaceURI, "line");
      cursor.setAttribute("class", "cursor");
      cursor.setAttribute("y1", box.y);
      cursor.setAttribute("y2", box.y + box.height);
      picture.append(cursor);
      const follow = (event) => {
        const point = new DOMPoint(event.clientX, event.clientY);
        const { x } = point.matrixTransform(picture.getScreenCTM().inverse());
        const wanted = low + (span * (x - box.x)) / box.width;
        const away = priors.map((prior) => Math.abs(Math.log(prior) - wanted));
        input.value = away.indexOf(Math.min(...away));
        show();
      };
      picture.addEventListener("pointermove", follow);
      picture.addEventListener("pointerdown", follow);
    }
    input.addEventListener("input", show);
    slider.hidden = false;
    show();
  }
})();
