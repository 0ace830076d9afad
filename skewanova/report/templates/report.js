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
})();
