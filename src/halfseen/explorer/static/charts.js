"use strict";
// Drawing, the same for the explorer and the dashboard.
window.halfseen = (() => {
  const byId = (name) => document.getElementById(name);
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key in element && key !== "list") element[key] = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };

  // --- charts: redrawn only if more than the data changed -----------------------------------
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const charts = new Map();
  const narrow = (key, value) => (key === "columns" ? 1 : value);
  const draw = async (figure, picture) => {
    const place = figure.querySelector(".chart");
    const spec = JSON.stringify(picture.spec, place.clientWidth < 480 ? narrow : undefined);
    const known = charts.get(picture.name);
    if (known?.spec === spec) {
      known.view.data("rows", structuredClone(picture.rows));
      await known.view.runAsync();
      return known;
    }
    const shown = await vegaEmbed(
      place,
      { ...JSON.parse(spec), datasets: { rows: structuredClone(picture.rows) } },
      {
        mode: "vega-lite",
        renderer: "svg",
        ast: true,
        actions: { export: true, source: false, compiled: false, editor: false },
        downloadFileName: `halfseen-${picture.name}`,
        tooltip: { theme: dark.matches ? "dark" : "light" },
      },
    );
    known?.finalize();
    place.querySelector("svg.marks").setAttribute("role", "img");
    place.querySelector("svg.marks").setAttribute("aria-label", picture.title);
    place.querySelector("summary")?.setAttribute("aria-label", `Save the chart: ${picture.title}`);
    const entry = { spec, view: shown.view, finalize: shown.finalize };
    charts.set(picture.name, entry);
    return entry;
  };
  const drawAll = async (pictures, drawn = () => {}) => {
    for (const picture of pictures) {
      const figure = byId(picture.name);
      if (!figure) continue;
      try {
        const entry = await draw(figure, picture);
        drawn(figure, picture, entry);
      } catch (error) {
        figure.querySelector(".chart").textContent =
          `This chart could not be drawn: ${error.message ?? error}.`;
      }
    }
    document.documentElement.dataset.drawn = String(
      Number(document.documentElement.dataset.drawn ?? 0) + 1,
    );
  };
  return { byId, make, charts, drawAll };
})();
