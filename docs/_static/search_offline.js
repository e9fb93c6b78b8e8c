// A page opened as a file may not fetch others, so search takes their text from a script instead.
if (location.protocol === "file:" && document.getElementById("search-results")) {
  const root = document.documentElement.dataset.content_root;
  const loaded = new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${root}_static/page_texts.js`;
    script.onload = done;
    document.head.append(script);
  });
  window.fetch = async (address) => {
    await loaded;
    const page = new URL(address, new URL(root, location.href)).href;
    const name = page.slice(new URL(root, location.href).href.length).replace(/\.html.*$/, "");
    const main = document.createElement("div");
    main.setAttribute("role", "main");
    main.textContent = window.pageTexts[name] ?? "";
    return { text: async () => main.outerHTML };
  };
}
