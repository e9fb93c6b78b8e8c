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

  // A chart of one panel, or of several side by side where there is room.
  const fitPanels = (figure, width) => {
    const spec = structuredClone(figure);
    const panels = spec.hconcat ?? [spec];
    const beside = width < 760 ? 1 : panels.length;
    const size = Math.floor((width - 74 * beside) / beside);
    for (const panel of panels) panel.width = Math.min(size, 760);
    if (spec.hconcat && beside === 1) {
      spec.vconcat = spec.hconcat;
      delete spec.hconcat;
    }
    if (width < 560) {
      for (const panel of panels) panel.height = 300;
      spec.config.legend.columns = 1;
      spec.config.legend.labelLimit = width - 60;
      spec.config.legend.gradientLength = width - 110;
    }
    spec.background = "transparent";
    delete spec.title;
    return spec;
  };

  const fit = (figure, width) => {
    if (!figure.facet) return fitPanels(figure, width);
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
    if (!window.vegaEmbed) throw new Error("the drawing code is missing from this page");
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
    for (const place of document.querySelectorAll("[data-chart]")) {
      try {
        await draw(place);
      } catch (error) {
        place.textContent = `This chart could not be drawn: ${error.message ?? error}.`;
      }
    }
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
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        window.getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }
  drawAll();
})();
