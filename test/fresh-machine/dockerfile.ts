import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The Dockerfile as a script for a machine that is both of its stages, one after the other. */
const text = readFileSync(fileURLToPath(new URL("../../Dockerfile", import.meta.url)), "utf8");

interface Instruction {
  word: string;
  rest: string;
}

function instructions(): Instruction[] {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  return lines
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => {
      const [word = "", ...rest] = line.split(" ");
      return { word, rest: rest.join(" ").trim() };
    });
}

/** Copies, and runs what is run, as root: `context` is what `docker build` is given. A stage that ends is moved away. */
export function imageScript(context: string): string {
  const lines = [
    "set -ex",
    "rm -rf /app /stage /data; rm -f /usr/local/bin/chat-agent; id node || useradd node",
  ];
  const stages = instructions().filter(({ word }) => word === "FROM").length;
  let stage = 0;
  let workdir = "/";
  for (const { word, rest } of instructions()) {
    if (word === "FROM" && ++stage > 1) lines.push("cd /", "mv /app /stage");
    if (word === "WORKDIR") {
      workdir = rest;
      lines.push(`mkdir -p ${workdir}`, `cd ${workdir}`);
    }
    if (word === "RUN") lines.push(`( ${rest} )`);
    if (word === "COPY") lines.push(copyLine(rest, context));
  }
  return [...lines, `test ${stages} = 2`, "du -sh /app"].join("\n");
}

/** A folder is copied by what is in it, as COPY does; `--from` is the stage that was moved away. */
function copyLine(rest: string, context: string): string {
  const words = rest.split(" ");
  const isFromStage = words[0]?.startsWith("--from=") === true;
  const [to = "", ...from] = words.filter((word) => !word.startsWith("--")).toReversed();
  const places = from.map((path) => (isFromStage ? path.replace(/^\/app/, "/stage") : `${context}/${path}`));
  return places
    .map(
      (place) =>
        `if [ -d ${place} ]; then mkdir -p ${to} && cp -R ${place}/. ${to}; else cp ${place} ${to}; fi`,
    )
    .join("\n");
}

/** What the image sets, for what it starts. */
export function imageEnvironment(): Record<string, string> {
  const pairs = instructions()
    .filter(({ word }) => word === "ENV")
    .flatMap(({ rest }) => rest.split(" "));
  return Object.fromEntries(pairs.map((pair) => pair.split("=") as [string, string]));
}

/** ENTRYPOINT and CMD as a shell takes them. */
export function imageCommand(): string {
  return wordsOf("ENTRYPOINT").concat(wordsOf("CMD")).join(" ");
}

/** The command of HEALTHCHECK. */
export function imageHealthCheck(): string {
  const rest = instructions().find(({ word }) => word === "HEALTHCHECK")?.rest ?? "";
  const words = JSON.parse(rest.slice(rest.indexOf("["))) as string[];
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

function wordsOf(wanted: string): string[] {
  const found = instructions().find(({ word }) => word === wanted);
  return JSON.parse(found?.rest ?? "[]") as string[];
}
