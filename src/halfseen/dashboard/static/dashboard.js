"use strict";
(() => {
  const { byId, make, charts, drawAll } = window.halfseen;
  const start = byId("start");
  const place = document.querySelector("[data-live]");

  // --- charts: new ones are added, the others are kept ---------------------------------------
  const write = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };
  const arrange = (pictures) => {
    const box = byId("pictures");
    pictures.forEach(({ name, title, note }, order) => {
      const caption = () => make("figcaption", {}, make("h2"), make("p"));
      const figure =
        byId(name) ?? make("figure", { id: name }, caption(), make("div", { className: "chart" }));
      if (box.children[order] !== figure) box.insertBefore(figure, box.children[order] ?? null);
      write(figure.querySelector("h2"), title);
      write(figure.querySelector("figcaption p"), note);
    });
    for (const figure of [...box.children].slice(pictures.length)) {
      charts.get(figure.id)?.finalize();
      charts.delete(figure.id);
      figure.remove();
    }
  };
  let waiting = null;
  let busy = false;
  const draw = async (pictures) => {
    waiting = pictures;
    if (busy) return;
    busy = true;
    while (waiting) {
      const next = waiting;
      waiting = null;
      arrange(next);
      await drawAll(next);
    }
    busy = false;
  };
  if (start) draw(JSON.parse(start.textContent).pictures);

  // --- live updates: only what differs is replaced, so nothing flickers ----------------------
  if (!place || !window.EventSource) return;
  const button = byId("pause");
  const state = byId("live-state");
  const parts = new Map(
    [...document.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]),
  );
  const known = new Map();
  let listening = null;
  let updates = 0;
  const patch = (old, fresh) => {
    const mine = [...old.childNodes];
    const theirs = [...fresh.childNodes];
    theirs.forEach((node, order) => {
      const here = mine[order];
      if (!here) old.append(node);
      else if (here.nodeName !== node.nodeName || here.id !== node.id) here.replaceWith(node);
      else if (node.nodeType !== Node.ELEMENT_NODE) write(here, node.textContent);
      else {
        for (const name of here.getAttributeNames()) {
          if (!node.hasAttribute(name) && name !== "open") here.removeAttribute(name);
        }
        for (const { name, value } of node.attributes) {
          if (here.getAttribute(name) !== value) here.setAttribute(name, value);
        }
        patch(here, node);
      }
    });
    for (const node of mine.slice(theirs.length)) node.remove();
  };
  const show = async ({ parts: fresh, pictures }) => {
    for (const [name, text] of Object.entries(fresh)) {
      if (!parts.has(name) || known.get(name) === text) continue;
      known.set(name, text);
      const made = document.createElement("template");
      made.innerHTML = text;
      patch(parts.get(name), made.content);
    }
    if (pictures) await draw(pictures);
    updates += 1;
    document.documentElement.dataset.updates = String(updates);
  };
  const tell = (text) => write(state, text);
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
    button.textContent = paused ? "Resume" : "Pause";
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
