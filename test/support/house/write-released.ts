import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/**
 * `npm run released`, after a build of a version without `-dev`: keeps the element's hashed files of it for pages that pin them
 * (src/widget/released).
 */
const root = fileURLToPath(new URL("../../..", import.meta.url));
const built = `${root}dist/widget/`;
const manifest = JSON.parse(readFileSync(`${built}manifest.json`, "utf8")) as {
  version: string;
  hash: string;
  panelFile: string;
};
if (manifest.version.includes("-")) {
  console.error(`Cannot keep the files of ${manifest.version}: it is no version that is released`);
  process.exit(1);
}
const formulas = readdirSync(built).filter((name) => name.startsWith("chat-agent-formulas."));
const files = [
  ["chat-agent.js", `chat-agent.${manifest.hash}.js`],
  ...[manifest.panelFile, ...formulas].map((name) => [name, name]),
] as const;
for (const [from = "", name = ""] of files) {
  writeFileSync(
    `${root}src/widget/released/${name}.gz`,
    gzipSync(readFileSync(`${built}${from}`), { level: 9 }),
  );
  console.log(name);
}
