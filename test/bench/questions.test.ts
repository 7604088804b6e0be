// For bench/questions.ts
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { askedBy, help, QUESTIONS } from "../../bench/questions.ts";
import { CannotMeasure } from "../../bench/rig/cannot-measure.ts";
import { readOptions } from "../../bench/rig/options.ts";

const bench = new URL("../../bench/", import.meta.url);
const names = Object.keys(QUESTIONS);

/** What the command line `line` asks. */
const ask = (line: string) => askedBy(readOptions(line === "" ? [] : line.split(" ")));

test("without a name those are asked that README.md counts, and with one it alone", () => {
  expect(ask("")).toEqual(["transitions", "stores", "messages", "streams", "feeds", "growth"]);
  expect(ask("growth --threads=10")).toEqual(["growth"]);
  expect(ask("lists messages --write")).toEqual(["lists", "messages"]);
});

test("an option is read, its value behind it or in it, and passed on as it was given", () => {
  const line = "beside --checkout ../other --set=A=1 --set B=x=y --store=redis --listener=node";
  const { checkout, set, stores, listener, threads, given } = readOptions(line.split(" "));
  expect({ checkout, set, stores, listener, threads }).toEqual({
    checkout: "../other",
    set: [
      ["A", "1"],
      ["B", "x=y"],
    ],
    stores: ["redis"],
    listener: "node",
    threads: undefined,
  });
  expect(given.map(({ written }) => written)).toEqual([
    "--checkout=../other",
    "--set=A=1",
    "--set=B=x=y",
    "--store=redis",
    "--listener=node",
  ]);
  expect(readOptions(["growth", "--threads", "1000000"]).threads).toBe(1_000_000);
});

test.each([
  ["nope", "Cannot answer nope: no question has this name"],
  ["toString", "Cannot answer toString: no question has this name"],
  ["messages --nope", "Unknown option '--nope'"],
  ["messages --threads=10", "Cannot take --threads: it is for growth, whole-store, retention, lists"],
  ["growth --threads=0", "Cannot take --threads=0: it is a number from 1 on"],
  ["growth --threads=1e6", "Cannot take --threads=1e6: it is a number from 1 on"],
  ["messages --listener=bun", "Cannot take --listener=bun: it is uws or node"],
  ["beside --set=PROCESSES", "Cannot set PROCESSES: write --set=NAME=VALUE"],
])("%s: one sentence before anything is started", (line, sentence) => {
  let refusal: unknown;
  try {
    ask(line);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(CannotMeasure);
  expect(refusal).toMatchObject({ exitCode: 2, message: `${sentence}. --help lists what can be asked.` });
});

test("every question is a file beside its table, a line of --help and a row of README.md", () => {
  const page = readFileSync(new URL("README.md", bench), "utf8");
  expect(names.filter((name) => !page.includes(`\`${name}.ts\``))).toEqual([]);
  expect(names.filter((name) => !help().includes(`\n  ${name} `))).toEqual([]);
  // What is no question: the command, who answers, the table, and what questions are measured with.
  const others = ["answer", "bench", "fill", "floor", "questions"];
  const files = readdirSync(bench).flatMap((file) => (file.endsWith(".ts") ? file.slice(0, -3) : []));
  expect(files.toSorted()).toEqual([...names, ...others].toSorted());
});
