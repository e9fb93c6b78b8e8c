"use strict";
(() => {
  const { byId, drawAll } = window.halfseen;
  const start = byId("start");
  const place = document.querySelector("[data-live]");
  const cells = new Map(
    [...document.querySelectorAll("[data-cell]")].map((cell) => [cell.dataset.cell, cell]),
  );
  let drawing = start ? drawAll(JSON.parse(start.textContent).pictures) : Promise.resolve();

  // --- live: only what differs is touched, so nothing flickers -------------------------------
  if (!place || !window.EventSource) return;
  const button = byId("pause");
  const state = byId("live-state");
  let listening = null;
  let busy = false;
  let updates = 0;
  const show = async ({ cells: texts, pictures }) => {
    for (const [name, text] of Object.entries(texts)) {
      const cell = cells.get(name);
      if (cell && cell.textContent !== text) cell.textContent = text;
    }
    if (pictures && !busy) {
      busy = true;
      drawing = drawing.then(() => drawAll(pictures));
      await drawing;
      busy = false;
    }
    updates += 1;
    document.documentElement.dataset.updates = String(updates);
  };
  const tell = (text) => {
    if (state.textContent !== text) state.textContent = text;
  };
  const listen = () => {
    listening = new EventSource(place.dataset.live);
    const mine = listening;
    mine.onopen = () => tell("Live");
    mine.onmessage = (event) => show(JSON.parse(event.data));
    mine.addEventListener("end", () => {
      mine.close();
      tell("Signed out");
    });
    mine.onerror = () => tell(mine.readyState === EventSource.CLOSED ? "Stopped" : "Waiting for the service");
  };
  const stop = () => {
    listening?.close();
    listening = null;
  };
  button.parentElement.hidden = false;
  button.addEventListener("click", () => {
    const paused = listening !== null;
    button.setAttribute("aria-pressed", String(paused));
    button.textContent = paused ? "Go on" : "Pause";
    if (paused) {
      stop();
      tell("Paused");
    } else {
      listen();
    }
  });
  document.addEventListener("visibilitychange", () => {
    const paused = button.getAttribute("aria-pressed") === "true";
    if (document.hidden) stop();
    else if (!paused && !listening) listen();
  });
  listen();
})();
