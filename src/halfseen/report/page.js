"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("chart-data").textContent);

  // Data travel by columns, words as numbers into a list: here they become rows again.
  const unpack = ({ fields, columns, words }) =>
    columns[0].map((_, row) => {
      const entry = {};
      fields.forEach((field, i) => {
        const value = columns[i][row];
        if (value !== null) entry[field] = words[field] ? words[field][value] : value;
      });
      return entry;
    });
  const data = Object.fromEntries(
    Object.entries(charts.data).map(([name, columns]) => [name, unpack(columns)]),
  );

  const fit = (figure, width) => {
    const spec = structuredClone(figure);
    const { columns, panels, legend, tall } = spec.usermeta;
    const beside = Math.min(panels, width < 560 ? 1 : width < 900 ? Math.min(columns, 2) : columns);
    const gap = 28;
    const margin = tall ? 66 : 110;
    spec.columns = beside;
    spec.spec.width = Math.max(160, Math.floor((width - margin - gap * (beside - 1)) / beside));
    if (beside === 1 && panels === 1) spec.spec.width = Math.min(spec.spec.width, 720);
    if (tall) spec.spec.height = beside === 1 && width < 560 ? 200 : 240;
    spec.facet.header.labelLimit = spec.spec.width;
    if (legend) {
      const entries = Math.max(1, Math.floor((width - margin) / (legend * 7.4 + 44)));
      spec.config.legend.columns = entries;
      spec.config.legend.labelLimit = Math.min(240, width - margin - 30);
    }
    spec.datasets = { [spec.data.name]: data[spec.data.name] };
    spec.background = "transparent";
    delete spec.title;
    return spec;
  };

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = new Map();
  const draw = async (place) => {
    const width = Math.floor(place.getBoundingClientRect().width);
    if (width === 0 || drawn.get(place)?.width === width) return;
    const before = drawn.get(place);
    drawn.set(place, { width });
    const shown = await vegaEmbed(place, fit(charts.specs[place.dataset.chart], width), {
      mode: "vega-lite",
      renderer: "svg",
      ast: true,
      actions: { export: true, source: false, compiled: false, editor: false },
      tooltip: { theme: dark.matches ? "dark" : "light" },
    });
    before?.finalize?.();
    drawn.set(place, { width, finalize: shown.finalize });
  };
  const drawAll = async () => {
    for (const place of document.querySelectorAll("[data-chart]")) await draw(place);
    document.documentElement.dataset.drawn = "yes";
  };

  let waiting;
  let wide = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === wide) return;
    wide = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 200);
  });
  window.addEventListener("beforeprint", () => {
    clearTimeout(waiting);
    for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
  });
  drawAll();
})();
