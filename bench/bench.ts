import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { tell } from "./rig/section.ts";

/**
 * `npm run bench`: every question, one after another, each in a process of its own. `-- messages growth` asks only those;
 * `-- --write` puts what was measured into README.md.
 */
const QUESTIONS = ["transitions", "stores", "messages", "streams", "growth"];

const README = fileURLToPath(new URL("../../bench/README.md", import.meta.url));
const TABLE = /(<!-- measured -->\n)[^]*(<!-- end -->)/;

async function answerTo(question: string, args: string[]): Promise<string> {
  const file = fileURLToPath(import.meta.resolve(`./${question}.js`));
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    process.stdout.write(text);
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`Cannot answer ${question}: exit code ${code}`);
  return said;
}

function conditions(): string {
  const [cpu] = cpus();
  const day = new Date().toISOString().slice(0, 10);
  return `Node ${process.version}, ${cpus().length} × ${cpu?.model.trim() ?? "unknown"}, Linux, ${day}.\n`;
}

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith("--") && arg !== "--write");
const wanted = args.filter((arg) => !arg.startsWith("--"));
const asked = wanted.length > 0 ? wanted : QUESTIONS;

const parts = [conditions()];
for (const question of asked) {
  tell(`- ${question}`);
  parts.push(await answerTo(question, options));
}
if (args.includes("--write")) {
  const text = readFileSync(README, "utf8");
  if (!TABLE.test(text)) throw new Error(`Cannot write the table: ${README} has no place for it`);
  writeFileSync(
    README,
    text.replace(TABLE, (_, begin: string, end: string) => `${begin}\n${parts.join("\n")}${end}`),
  );
}
