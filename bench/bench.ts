import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { conditions, writeMeasured } from "./rig/readme.ts";
import { tell } from "./rig/section.ts";

/**
 * `npm run bench`: every question, one after another, each in a process of its own. `-- messages growth` asks only those;
 * `-- --write` puts what was measured into README.md, and its plots beside it.
 */
const QUESTIONS = ["transitions", "stores", "messages", "streams", "feeds", "growth"];

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

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith("--") && arg !== "--write");
const wanted = args.filter((arg) => !arg.startsWith("--"));
const asked = wanted.length > 0 ? wanted : QUESTIONS;

process.stdout.write(`${conditions()}\n`);
const parts: string[] = [];
for (const question of asked) {
  tell(`- ${question}`);
  parts.push(await answerTo(question, options));
}
if (args.includes("--write")) writeMeasured("service", parts.join("\n"));
