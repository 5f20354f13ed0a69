for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead button").forEach((button, place) => button.addEventListener("click", () => {
    const cell = button.parentElement, down = cell.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th[aria-sort]").forEach(other => other.removeAttribute("aria-sort"));
    cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.children[place].dataset.sort ?? row.children[place].textContent;
    const order = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const difference = isNaN(x) || isNaN(y) ? x.localeCompare(y, undefined, {numeric: true}) : x - y;
      return down ? -difference : difference;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
  }));
}
