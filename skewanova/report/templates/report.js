"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const part = target && target.closest("details");
    if (part) part.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
  addEventListener("beforeprint", () => { for (const part of all("details")) part.open = true; });

  const block = document.getElementById("numbers");
  const table = document.getElementById("table-by_prior");
  if (!block || !table) return;
  const { priors, heads, rows, curves } = JSON.parse(block.textContent);
  const body = table.tBodies[0];
  const byModel = new Map(all("tr", body).map((row) => [row.dataset.model, row]));
  const off = new Set();
  const paint = () => {
    for (const mark of all("svg [data-model]")) mark.classList.toggle("off", off.has(mark.dataset.model));
  };

  for (const [model, row] of byModel) {
    const head = row.cells[0];
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Show or fade the line";
    button.setAttribute("aria-pressed", "true");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      if (!off.delete(model)) off.add(model);
      button.setAttribute("aria-pressed", String(!off.has(model)));
      head.classList.toggle("off", off.has(model));
      paint();
    });
  }

  const folded = all("tr.more", body).length;
  if (folded) {
    table.classList.add("folded");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "all";
    button.textContent = `Show all ${byModel.size}`;
    button.addEventListener("click", () => { table.classList.remove("folded"); button.remove(); });
    table.after(button);
  }

  const input = document.getElementById("prior");
  if (!input || priors.length < 2) return;
  const shown = byModel.size - folded;
  const charts = all("svg[data-box]").map((svg) => ({ svg, box: svg.dataset.box.split(" ").map(Number) }));
  const span = Math.log(priors[priors.length - 1] / priors[0]);
  const place = (box, prior) => {
    return box[0] + ((box[1] - box[0]) * Math.log(prior / priors[0])) / span;
  };
  const height = (box, value) => {
    const share = Math.min(Math.max((value - box[4]) / (box[5] - box[4]), 0), 1);
    return box[3] - (box[3] - box[2]) * share;
  };
  const heightAt = (svg, box, cells) => { // of a row of the table: value or, from the highest, shortfall
    return height(box, Number(svg.classList.contains("distance") ? cells.at(-2) : cells[1]) || 0);
  };
  const nearest = (prior) => {
    const away = priors.map((other) => Math.abs(Math.log(other / prior)));
    return away.indexOf(Math.min(...away));
  };
  let step = 0;
  const show = () => {
    input.value = Math.log(priors[step] / priors[0]) / span;
    const prior = priors[step];
    const [title, fraction] = heads[step];
    table.caption.children[0].textContent = title;
    table.caption.children[1].textContent = fraction;
    rows[step].forEach(([model, ...cells], i) => {
      const row = byModel.get(String(model));
      cells.forEach((text, j) => { row.cells[j + 1].textContent = text; });
      row.classList.toggle("more", i >= shown);
      body.append(row);
    });
    const best = body.rows[0];
    input.setAttribute("aria-valuetext", `${title}, ${fraction}, ${best.cells[0].textContent.trim()} ${best.cells[1].textContent}`);
    for (const { svg, box } of charts) {
      const x = place(box, prior);
      for (const line of all(".cursor", svg)) line.setAttribute("d", `M${x} ${box[2]}V${box[3]}`);
      for (const mark of all(".prior", svg)) {
        mark.children[0].setAttribute("x", x - 23);
        mark.children[1].setAttribute("x", x);
        mark.children[1].textContent = title.split(" ").pop();
      }
      if (svg.classList.contains("auprec")) {
        for (const cells of rows[step]) {
          for (const dot of all(`circle[data-model="${cells[0]}"]`, svg)) {
            dot.setAttribute("cx", x);
            dot.setAttribute("cy", heightAt(svg, box, cells));
          }
        }
      } else if (svg.classList.contains("pr")) {
        curves[step].forEach((text, i) => {
          const values = text.split(" ");
          const points = values.map((value, j) => {
            const recall = (j + 1) / values.length;
            return `${(box[0] + (box[1] - box[0]) * recall).toFixed(1)} ${height(box, value / 1000).toFixed(1)}`;
          });
          for (const line of all(`path.line[data-model="${i}"]`, svg)) line.setAttribute("d", `M${points.join("L")}`);
        });
        document.getElementById("pr-prior").textContent = title.toLowerCase();
      }
    }
  };
  const set = (prior) => {
    step = nearest(prior);
    show();
  };
  const at = (share) => priors[0] * Math.exp(span * Math.min(Math.max(share, 0), 1));
  const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5 };
  input.addEventListener("keydown", (event) => {
    if (!(event.key in moves)) return;
    event.preventDefault();
    step = Math.min(Math.max(step + moves[event.key], 0), priors.length - 1);
    show();
  });
  const slider = input.parentElement;
  const fit = () => {
    const chart = charts.find(({ svg }) => svg.classList.contains("auprec") && svg.getBoundingClientRect().width);
    if (!chart) return;
    const scale = chart.svg.getBoundingClientRect().width / chart.svg.viewBox.baseVal.width;
    const thumb = 8; // half of the thumb, whose centre stays within the track
    slider.style.marginLeft = `${scale * chart.box[0] - thumb}px`;
    slider.style.width = `${scale * (chart.box[1] - chart.box[0]) + 2 * thumb}px`;
  };
  for (const { svg, box } of charts.filter((chart) => chart.svg.classList.contains("auprec"))) {
    const tip = document.createElementNS("http://www.w3.org/2000/svg", "text");
    tip.setAttribute("class", "tip halo");
    svg.append(tip);
    const mark = (model) => { // the line nearest to the pointer, and its row
      for (const part of all("[data-model]")) part.classList.toggle("near", part.dataset.model === model);
    };
    const hover = (point, prior) => {
      const cells = rows[nearest(prior)].map((row) => [Math.abs(heightAt(svg, box, row) - point.y), row]);
      const [distance, row] = cells.reduce((best, other) => (other[0] < best[0] ? other : best));
      const found = distance < 12 && point.x >= box[0] && point.x <= box[1];
      mark(found ? String(row[0]) : undefined);
      const name = found ? byModel.get(String(row[0])).cells[0].textContent.trim() : "";
      tip.textContent = found ? `${name} ${row[1]}` : "";
      tip.setAttribute("x", point.x);
      tip.setAttribute("y", point.y - 10);
      tip.setAttribute("text-anchor", point.x > (box[0] + box[1]) / 2 ? "end" : "start");
    };
    const follow = (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const prior = at((point.x - box[0]) / (box[1] - box[0]));
      if (event.type === "pointerdown" || event.buttons) set(prior);
      hover(point, prior);
    };
    svg.addEventListener("pointerleave", () => { tip.textContent = ""; mark(); });
    svg.addEventListener("pointerdown", follow);
    svg.addEventListener("pointermove", follow);
  }
  const linked = () => {
    const prior = Number(/^#prior=([\d.e-]+)$/.exec(location.hash)?.[1]);
    if (prior > 0) set(prior);
  };
  input.addEventListener("input", () => set(at(input.valueAsNumber)));
  addEventListener("hashchange", linked);
  addEventListener("resize", fit);
  for (const radio of all("input[name=scale]")) radio.addEventListener("change", fit);
  slider.hidden = false;
  fit();
  set(at(input.valueAsNumber));
  linked();
})();
