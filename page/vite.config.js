// Builds stored/page.html, or with --mode dashboard stored/dashboard.html: one file, whose content
// security policy allows its own script and style by their hashes and nothing else; the dashboard asks
// the daemon that it is from, too. It names a hash of the sources it was made of, by which
// tools/page_sources.py tells whether it is current.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vite";

const root = import.meta.dirname;

// As tools/page_sources.py does it.
function sourcesHash() {
  const files = ["dashboard.html", "index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.js"]
    .concat(readdirSync(`${root}/src`).map((name) => `src/${name}`));
  const hash = createHash("sha256");
  for (const file of files.sort()) hash.update(file).update("\0").update(readFileSync(`${root}/${file}`)).update("\0");
  return hash.digest("hex");
}

const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const notice = `uPlot, which draws the charts, is by Leon Sorokin and under the MIT License:
${readFileSync(`${root}/node_modules/uplot/LICENSE`, "utf8").trim()}`;

// The script and the style as parts of the page; the script at its end, when the run is there.
const singleFile = ({ file, connect }) => ({
  name: "single-file",
  enforce: "post",
  generateBundle(_options, bundle) {
    let script = "", style = "", page;
    for (const [name, part] of Object.entries(bundle)) {
      if (part.type === "chunk") script += part.code;
      else if (name.endsWith(".css")) style += part.source;
      else if (name.endsWith(".html")) page = part;
      if (!name.endsWith(".html")) delete bundle[name];
    }
    if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error("it would end its own element");
    const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style)}; ` +
      `${connect}img-src data:; base-uri 'none'; form-action 'none'`;
    const put = (text, pattern, piece) => text.replace(pattern, () => piece);
    let html = page.source.replace(/\s*<(script type="module"|link rel="stylesheet")[^>]*>(<\/script>)?/g, "");
    html = put(html, '<meta charset="utf-8">', `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">\n` +
      `<meta name="plimsoll-sources" content="${sourcesHash()}">`);
    html = put(html, "</head>", `<style>${style}</style>\n</head>`);
    html = put(html, "</body>", `<script type="module">${script}</script>\n</body>`);
    page.source = `${html.trim()}\n<!--\n${notice}\n-->\n`;
    page.fileName = file;
  },
});

export default defineConfig(({ mode }) => {
  const page = mode === "dashboard" ? { input: "dashboard.html", file: "dashboard.html", connect: "connect-src 'self'; " }
    : { input: "index.html", file: "page.html", connect: "" };
  return {
    root,
    plugins: [singleFile(page)],
    build: { outDir: "stored", emptyOutDir: false, assetsInlineLimit: 0, modulePreload: false, target: "es2022", cssCodeSplit: false,
      rollupOptions: { input: page.input } },
  };
});
