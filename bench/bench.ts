import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { askedBy, help, takes } from "./questions.ts";
import { CannotMeasure, orSayWhyNot } from "./rig/cannot-measure.ts";
import { listenerFor } from "./rig/listener.ts";
import { checkMachine } from "./rig/machine.ts";
import { readOptions } from "./rig/options.ts";
import type { Options } from "./rig/options.ts";
import { conditions, writeMeasured } from "./rig/readme.ts";
import { tell } from "./rig/section.ts";

/**
 * `npm run bench`: every question, one after another, each in a process of its own. `-- messages growth` runs only those;
 * `-- --write` puts the results into README.md, and writes its plots.
 */
const ANSWER = fileURLToPath(import.meta.resolve("./answer.js"));

async function answerAll(options: Options): Promise<void> {
  if (options.help) {
    process.stdout.write(help());
    return;
  }
  const asked = askedBy(options);
  checkMachine();
  const listener = await listenerFor(options);
  const given = [
    ...options.given.filter(({ option }) => option !== "listener"),
    { option: "listener", written: `--listener=${listener}` },
  ];

  process.stdout.write(`${conditions()}\n`);
  const parts: string[] = [];
  for (const question of asked) {
    tell(`- ${question}`);
    const its = given.filter(({ option }) => takes(question, option)).map(({ written }) => written);
    parts.push(await answerTo(question, its));
  }
  if (options.write) writeMeasured("service", parts.join("\n"));
}

async function answerTo(question: string, options: string[]): Promise<string> {
  const child = spawn(process.execPath, [ANSWER, question, ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let answer = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
    process.stdout.write(text);
  });
  const [code] = (await once(child, "close")) as [number | null];
  // The process has already printed the reason.
  if (code !== 0) throw new CannotMeasure(`Cannot answer ${question}`, { exitCode: code === 2 ? 2 : 1 });
  return answer;
}

await orSayWhyNot(() => answerAll(readOptions(process.argv.slice(2))));
