import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPassageIndex } from "../../src/knowledge/search/passage-index.ts";
import { passagesOf } from "../../src/knowledge/passages.ts";
import { readMarkdown } from "../../src/knowledge/read/markdown.ts";

/**
 * How well passages are found: 60 questions, 31 on the demo shop's rules and 29 on this project's chapters, in one index over
 * both. A question counts as answered if one of its first three passages is from the chapter and below the heading that answers
 * it (questions.json).
 */
export interface Quality {
  questions: number;
  passages: number;
  /** Answered by the first passage. */
  first: number;
  /** Answered by one of the first three. */
  firstThree: number;
  missed: { question: string; found: string[] }[];
}

interface Question {
  question: string;
  file: string;
  heading: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Beside the chapters: history, not answers. */
const LEFT_OUT = new Set(["CHANGELOG.md", "src/client/REFERENCE.md"]);

export function measureQuality(): Quality {
  const files = ["src", "machines", "bench", "test", "."].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder !== ".", encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  );
  const index = createPassageIndex();
  for (const file of files.filter((name) => !LEFT_OUT.has(name)).toSorted()) {
    const passages = passagesOf(readMarkdown(readFileSync(join(root, file), "utf8")));
    index.add(passages.map((passage, nth) => ({ ...passage, id: `${file}#${nth}`, url: file })));
  }
  const questions = JSON.parse(
    readFileSync(join(root, "bench/knowledge/questions.json"), "utf8"),
  ) as Question[];
  const quality: Quality = {
    questions: questions.length,
    passages: index.size(),
    first: 0,
    firstThree: 0,
    missed: [],
  };
  for (const { question, file, heading } of questions) {
    const found = index.search(question, 3);
    const at = found.findIndex((passage) => passage.url === file && passage.heading.includes(heading));
    if (at === 0) quality.first += 1;
    if (at !== -1) quality.firstThree += 1;
    else
      quality.missed.push({ question, found: found.map((passage) => `${passage.url}: ${passage.heading}`) });
  }
  return quality;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { questions, passages, first, firstThree, missed } = measureQuality();
  const share = (count: number) => `${count} of ${questions} (${Math.round((100 * count) / questions)} %)`;
  console.log(
    `${passages} passages; answered by the first: ${share(first)}; by one of the first three: ${share(firstThree)}`,
  );
  for (const { question, found } of missed) console.log(`missed: ${question}\n  ${found.join("\n  ")}`);
}
