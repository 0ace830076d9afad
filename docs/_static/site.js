// What the theme leaves out for screen readers and keyboards.
document.addEventListener("DOMContentLoaded", () => {
  const set = (selector, name, value) =>
    document.querySelectorAll(selector).forEach((element) => element.setAttribute(name, value));
  set("p.caption[role=heading]", "aria-level", "2");
  set("aside.sidebar-drawer", "aria-label", "Pages");
  set("aside.toc-drawer", "aria-label", "On this page");
  set("pre, .table-wrapper, .cell_output", "tabindex", "0");
  document.querySelectorAll("summary[aria-label]").forEach((element) => element.removeAttribute("aria-label"));
  document.querySelectorAll("thead th").forEach((head) => {
    if (!head.textContent.trim()) head.replaceWith(Object.assign(document.createElement("td"), { colSpan: head.colSpan }));
  });
  if (!document.querySelector("h1")) {
    const title = Object.assign(document.createElement("h1"), { textContent: document.title.split(" - ")[0] });
    document.querySelector("article, [role=main]")?.prepend(title);
  }
});
