"use strict";
(() => {
  const prefix = document.body.dataset.prefix;
  const { byId, make, charts, drawAll } = window.halfseen;

  const frames = (figure, picture, entry) => {
    const bar = figure.querySelector(".frames");
    if (!bar) return;
    const slider = bar.querySelector("input");
    const output = bar.querySelector("output");
    const button = bar.querySelector("button");
    const show = async () => {
      const frame = Number(slider.value);
      const row = picture.rows.find((entry) => entry.frame === frame);
      output.textContent = row ? `${Math.round(row.budget).toLocaleString("en")} rounds` : "";
      await charts.get(picture.name)?.view.signal("frame", frame).runAsync();
    };
    let timer = null;
    const stop = () => {
      clearInterval(timer);
      timer = null;
      button.textContent = "Play";
    };
    slider.oninput = () => {
      stop();
      show();
    };
    button.onclick = () => {
      if (timer) return stop();
      if (Number(slider.value) >= picture.frames - 1) slider.value = 0;
      button.textContent = "Pause";
      timer = setInterval(() => {
        slider.value = Number(slider.value) + 1;
        show();
        if (Number(slider.value) >= picture.frames - 1) stop();
      }, 70);
    };
    bar.hidden = false;
    show();
  };
  const tell = (sentence) => {
    const place = byId("trouble");
    place.textContent = sentence;
    place.hidden = !sentence;
  };
  const paragraphs = (place, sentences) =>
    place.replaceChildren(...sentences.map((text) => make("p", {}, text)));

  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code[id]");
      await copy(code.textContent, button, code);
    });
  }
  const copy = async (text, button, fallback) => {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      if (fallback) window.getSelection().selectAllChildren(fallback);
      button.textContent = fallback ? "Selected" : "Copy the address above";
    }
    setTimeout(() => (button.textContent = before), 2000);
  };

  // --- a page with settings ------------------------------------------------------------------
  const start = byId("start");
  if (start) {
    const state = JSON.parse(start.textContent);
    const form = byId("controls");
    let asked = null;
    let listening = null;
    let waiting = null;
    let drawnPlayed = "";
    let shown = state.address;
    let unfinished = false; // whether what is shown was not simulated to its end
    const step = new URLSearchParams(window.location.search).get("tour");
    const tour = step && document.querySelector(".tour") ? `tour=${encodeURIComponent(step)}&` : "";

    const short = (value) => Number(Number(value).toPrecision(6));
    const text = (control) => form.elements[control.name];
    const values = (control) => (control.entries ? control.value : [control.value]);
    const toSlider = (control, value) => (control.log ? Math.log10(value) : value);
    const fromSlider = (control, at) => {
      const value = control.log ? 10 ** Number(at) : Number(at);
      const inside = Math.min(control.high, Math.max(control.low, value));
      return control.whole ? Math.round(inside) : short(inside);
    };

    const build = () => {
      for (const control of state.controls) {
        const field = form.querySelector(`[data-control="${control.name}"]`);
        field.querySelectorAll(".slider, .more").forEach((old) => old.remove());
        values(control).forEach((value, i) => {
          const many = control.entries !== null;
          const output = make("output", {}, String(value));
          const slider = make("input", {
            type: "range",
            min: toSlider(control, control.low),
            max: toSlider(control, control.high),
            step: control.step,
          });
          slider.setAttribute(
            "aria-label",
            many ? `${control.label}, number ${control.first + i}` : control.label,
          );
          slider.value = toSlider(control, value);
          slider.addEventListener("input", () => {
            const moved = fromSlider(control, slider.value);
            if (many) control.value[i] = moved;
            else control.value = moved;
            output.textContent = String(moved);
            text(control).value = values(control).join(",");
            soon();
          });
          const label = many ? [make("span", { className: "number" }, String(control.first + i))] : [];
          field.append(make("div", { className: "slider" }, ...label, slider, output));
        });
        if (control.entries && !control.follows) field.append(resize(control));
        text(control).value = values(control).join(",");
      }
    };
    const followers = (control) =>
      state.controls.filter((other) => other.follows && other.follows[0] === control.name);
    const resize = (control) => {
      const [least, most] = control.entries;
      const group = [control, ...followers(control)];
      const change = (grow) => () => {
        for (const each of group) {
          const last = each.value[each.value.length - 1];
          if (grow) each.value.push(each.rises ? short((last + each.high) / 2) : last);
          else each.value.pop();
        }
        build();
        soon();
      };
      const more = make("button", { type: "button", onclick: change(true) }, "+ one more");
      const less = make("button", { type: "button", onclick: change(false) }, "− the last");
      more.disabled = control.value.length >= most;
      less.disabled = control.value.length <= least;
      return make("p", { className: "more" }, more, " ", less);
    };

    const query = () => {
      const given = new URLSearchParams();
      for (const control of state.controls) given.set(control.name, text(control).value);
      return given.toString().replaceAll("%2C", ",");
    };
    const play = (address) => {
      listening?.close();
      const figure = byId("played");
      if (!figure) return;
      const progress = figure.querySelector(".progress");
      progress.textContent = "Simulating …";
      unfinished = true;
      listening = new EventSource(`${prefix}/${state.view}/play?${address}`);
      const mine = listening;
      mine.onmessage = async (event) => {
        if (mine !== listening) return;
        const { done, total, rows } = JSON.parse(event.data);
        progress.textContent = `${done} of ${total} replications`;
        const entry = charts.get("played");
        if (entry) {
          entry.view.data("rows", rows);
          await entry.view.runAsync();
        }
        figure.dataset.done = done;
      };
      mine.addEventListener("end", () => {
        if (mine === listening) unfinished = false;
        mine.close();
      });
      mine.onerror = () => {
        if (mine.readyState === EventSource.CLOSED || mine !== listening) return;
        mine.close();
        progress.textContent = "The simulation stopped: the server does not answer.";
      };
    };
    const refresh = async () => {
      asked?.abort();
      asked = new AbortController();
      listening?.close();
      const address = query();
      const begun = performance.now();
      let content;
      try {
        const answer = await fetch(`${prefix}/${state.view}/picture?${address}`, {
          signal: asked.signal,
        });
        content = await answer.json();
      } catch (error) {
        if (error.name !== "AbortError") tell("The server does not answer. The last picture stays.");
        return;
      }
      if (content.sentence) {
        tell(content.sentence);
        if (unfinished) play(shown);
        return;
      }
      tell("");
      shown = content.address;
      window.history.replaceState(null, "", `?${tour}${content.address}`);
      state.controls.forEach((control, i) => {
        const changed = JSON.stringify(control.value) !== JSON.stringify(content.controls[i].value);
        if (changed) control.value = content.controls[i].value;
        control.changed = changed;
      });
      if (state.controls.some((control) => control.changed)) build();
      paragraphs(byId("answers"), content.answers);
      for (const name of ["python", "toml"]) {
        if (byId(name)) byId(name).textContent = content[name];
      }
      await drawAll(content.pictures.filter((picture) => picture.name !== "played"), frames);
      const played = content.pictures.find((picture) => picture.name === "played");
      if (played && played.title + JSON.stringify(played.spec) !== drawnPlayed) {
        drawnPlayed = played.title + JSON.stringify(played.spec);
        await drawAll([played], frames);
      }
      document.documentElement.dataset.took = (performance.now() - begun).toFixed(0);
      play(content.address);
    };
    const soon = () => {
      clearTimeout(waiting);
      waiting = setTimeout(refresh, 30);
    };

    form.classList.add("live");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      refresh();
    });
    // A longer or shorter list makes those that go with it as long; nonsense leaves them alone.
    const fit = (leader) => {
      const entries = (control) => text(control).value.split(",");
      const isNumber = (entry) => entry.trim() !== "" && Number.isFinite(Number(entry));
      const [least, most] = leader.entries ?? [1, 1];
      const given = entries(leader);
      if (given.length < least || given.length > most || !given.every(isNumber)) return;
      for (const control of followers(leader)) {
        const found = entries(control);
        const wanted = given.length + control.follows[1];
        while (found.length < wanted) found.push(found[found.length - 1]);
        text(control).value = found.slice(0, wanted).join(",");
      }
    };
    form.addEventListener("change", (event) => {
      if (event.target.type !== "text") return;
      fit(state.controls.find((control) => control.name === event.target.name));
      refresh();
    });
    const share = byId("share");
    share.hidden = false;
    share.addEventListener("click", () => copy(window.location.href, share));
    build();
    drawAll(state.pictures, frames).then(() => play(state.address));
  }

  // --- your log --------------------------------------------------------------------------------
  const log = byId("log");
  if (log) {
    let chosen = null; // the last file, refused or not
    let body = null; // the file whose columns are listed
    let audited = null; // the file whose audit is shown
    const send = async (what, file) => {
      const given = new URLSearchParams(new FormData(log));
      const answer = await fetch(`${prefix}/log/${what}?${given}`, { method: "POST", body: file });
      const content = await answer.json();
      if (content.sentence) throw new Error(content.sentence);
      return content;
    };
    const note = (sentence) => (byId("status").textContent = sentence);
    const attempt = async (work, file) => {
      try {
        note(`Reading ${file.name} …`);
        await work();
        tell("");
      } catch (error) {
        note("");
        const other = audited && audited !== file;
        const still = other ? ` What is shown below is still ${audited.name}.` : "";
        tell(`${file.name}: ${error.message || "The server does not answer."}${still}`);
      }
    };
    const take = (file) =>
      attempt(async () => {
        chosen = file;
        const { columns, guess, roles } = await send("columns", file);
        body = file;
        byId("file-name").textContent = file.name;
        byId("roles").replaceChildren(
          ...roles.map((role) => {
            const options = ["", ...columns].map((name) =>
              make("option", { value: name, selected: name === (guess[role] ?? "") }, name || "–"),
            );
            const label = role.replace("_", " ");
            return make("label", {}, `${label} `, make("select", { name: role }, ...options));
          }),
        );
        byId("go").hidden = false;
        if (guess.action && (guess.reward || guess.observed)) await look();
        else note(`Say which column of ${file.name} names the arm and which the reward; then press Audit.`);
      }, file);
    const look = async () => {
      const file = body;
      const content = await send("audit", file);
      audited = file;
      byId("warnings").replaceChildren(
        ...content.warnings.map(({ text, voids }) =>
          make("p", { className: voids ? "warning voids" : "warning" }, text),
        ),
      );
      byId("shown").classList.toggle("voided", content.voided);
      paragraphs(byId("answers"), [...content.answers, ...content.notes]);
      byId("pictures").replaceChildren(
        ...content.pictures.map((picture) => {
          charts.delete(picture.name);
          const caption = make(
            "figcaption",
            {},
            make("h2", {}, picture.title),
            make("p", {}, picture.note),
          );
          return make(
            "figure",
            { id: picture.name },
            caption,
            make("div", { className: "chart" }),
          );
        }),
      );
      await drawAll(content.pictures, frames);
      for (const name of ["python", "command"]) {
        byId(name).textContent = content[name];
        byId(name).closest("details").hidden = false;
      }
      note("");
    };
    byId("file").addEventListener("change", (event) => {
      if (event.target.files[0]) take(event.target.files[0]);
    });
    log.addEventListener("submit", (event) => {
      event.preventDefault();
      if (body) attempt(look, body);
    });
    log.elements.encoding.addEventListener("change", () => {
      if (chosen) take(chosen);
    });
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
    });
  }
})();
