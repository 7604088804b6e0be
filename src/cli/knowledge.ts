import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { placeOf } from "../domain/channels/knowledge.ts";
import type { KnowledgeSource } from "../domain/channels/knowledge.ts";
import { parseSlug } from "./channels/field-options.ts";
import { at } from "./command/ask.ts";
import type { OperatorApi, Refused } from "./command/ask.ts";
import { command } from "./command/command.ts";
import type { Call, Family } from "./command/command.ts";
import { printJson, printTable } from "./command/print.ts";
import { CannotDo } from "./command/terminal.ts";
import type { Terminal } from "./command/terminal.ts";

/** A source as the operator API shows it. */
interface SourceView extends KnowledgeSource {
  state: "new" | "reading" | "read" | "failed";
  pages: number;
  passages: number;
  readAt: number | null;
  failed: number;
  failures: { url: string; why: string }[];
  fault: string | null;
}

interface Found {
  items: { title: string; url: string; text: string; score: number }[];
}

type Adding = Call<Partial<Record<"url" | "sitemap" | "folder" | "file" | "every", string>>>;

const SLUG = ["<slug>", "the channel", parseSlug] as const;
const LOOK_MS = 1_000;
/** Whoever reads them looks every five seconds. */
const UNHEARD_MS = 30_000;

/** `chat-agent knowledge`: the documents that a channel's assistant answers from. */
export const knowledge: Family = {
  name: "knowledge",
  does: "list, add, read, search and remove the documents that a channel answers from",
  commands: [
    command({
      name: "list",
      does: "the channel's sources, when each was read, and what could not be",
      takes: [SLUG],
      json: "print a JSON array",
      asks: ({ api }, slug) => sourcesOf(api, slug),
      prints(found, { terminal, options }, slug) {
        if (options.json) return printJson(terminal, found);
        printSources(terminal, found, slug);
      },
    }),
    command({
      name: "add",
      does: "add a source: a page and what it leads to, a sitemap, a folder or a file",
      takes: [SLUG, ["<name>", "the source's name"]],
      options: [
        ["--url <url>", "a page, and the pages below it that it leads to"],
        ["--sitemap <url>", "the pages of a sitemap"],
        ["--folder <path>", "a folder of the machine that the service runs on, with all below it"],
        ["--file <path>", "a file of it"],
        ["--every <time>", "how often it is read: 30m, 24h, 7d"],
      ],
      json: "print a JSON object",
      asks({ api, options, misuse }: Adding, slug, name) {
        const { url, sitemap, every } = options;
        const [folder, file] = [options.folder, options.file].map((path) => path && resolve(path));
        const places = [url, sitemap, folder, file].filter((place) => place !== undefined);
        if (places.length !== 1) misuse("it takes one of --url, --sitemap, --folder and --file");
        return api.post<SourceView>(at`/channels/${slug}/knowledge`, {
          name,
          url,
          sitemap,
          folder,
          file,
          every,
        });
      },
      prints(added, { terminal, options }, slug) {
        if (options.json) return printJson(terminal, added);
        terminal.out(`Added ${added.name}: ${placeOf(added)}; chat-agent knowledge list ${slug} shows it\n`);
      },
    }),
    command({
      name: "sync",
      does: "read the channel's documents now, as far as they have changed",
      takes: [SLUG],
      options: [
        ["--source <name>", "only this one"],
        ["--no-wait", "do not wait until they are read"],
      ],
      json: "print a JSON array",
      async asks({ api, terminal, options }: Call<{ source?: string; wait: boolean }>, slug) {
        const before = await sourcesOf(api, slug);
        const path = at`/channels/${slug}/knowledge/sync`;
        const { items } = await api.post<{ items: SourceView[] }>(path, { name: options.source });
        const names = new Set(items.map(({ name }) => name));
        if (options.wait && names.size > 0) await untilRead(api, slug, { names, before, terminal });
        return (await sourcesOf(api, slug)).filter(({ name }) => names.has(name));
      },
      prints(found, { terminal, options }, slug) {
        if (options.json) printJson(terminal, found);
        else printSources(terminal, found, slug);
        const failed = found.filter(({ state }) => state === "failed").map(({ name }) => name);
        if (failed.length > 0) throw new CannotDo(`Cannot read ${failed.join(", ")}`);
      },
      refused: ({ message }, { options: { source } }) => unknownSource(message, source),
    }),
    command({
      name: "search",
      does: "the passages that a question finds, the best first",
      takes: [SLUG, ["<question>", "in quotes"]],
      json: "print a JSON array",
      asks: async ({ api }, slug, query) =>
        (await api.post<Found>(at`/channels/${slug}/knowledge/search`, { query })).items,
      prints(items, { terminal, options }) {
        if (options.json) return printJson(terminal, items);
        if (items.length === 0) terminal.out("No passage has these words\n");
        for (const { title, url, text, score } of items)
          terminal.out(
            `${score.toFixed(2)}  ${title === "" ? url : `${title} (${url})`}\n${indented(text)}\n\n`,
          );
      },
    }),
    command({
      name: "remove",
      does: "remove a source, with all that was read of it",
      takes: [SLUG, ["<name>", "as the list shows it"]],
      asks: ({ api }, slug, name) => api.delete(at`/channels/${slug}/knowledge/${name}`),
      prints: (_, { terminal }, _slug, name) => terminal.out(`Removed ${name}\n`),
      refused: ({ message }: Refused, _, _slug, name) => unknownSource(message, name),
    }),
  ],
};

function sourcesOf(api: OperatorApi, slug: string): Promise<SourceView[]> {
  return api.all<SourceView>(at`/channels/${slug}/knowledge`);
}

/** Tells how it goes; ends where nobody reads them. */
async function untilRead(
  api: OperatorApi,
  slug: string,
  {
    names,
    before,
    terminal,
  }: { names: ReadonlySet<string>; before: readonly SourceView[]; terminal: Terminal },
): Promise<void> {
  let told = "";
  let heardAtMs = Date.now();
  for (;;) {
    await pause(LOOK_MS);
    const now = (await sourcesOf(api, slug)).filter(({ name }) => names.has(name));
    const left = now.filter(({ state }) => state === "reading" || state === "new");
    if (left.length === 0) return;
    const progress = left.map(({ name, pages }) => `${name}: ${pages} pages`).join(", ");
    const isHeard = now.some(({ name, readAt, fault, pages }) => {
      const old = before.find((source) => source.name === name);
      return (
        readAt !== (old?.readAt ?? null) || fault !== (old?.fault ?? null) || pages !== (old?.pages ?? 0)
      );
    });
    if (progress !== told || isHeard) heardAtMs = Date.now();
    if (progress !== told) terminal.err(`Reading ${progress}\n`);
    told = progress;
    if (Date.now() - heardAtMs > UNHEARD_MS)
      throw new CannotDo(
        `Cannot see ${[...names].join(", ")} being read: they are read when a service runs on this store`,
      );
  }
}

function printSources(terminal: Terminal, sources: readonly SourceView[], slug: string): void {
  const rows = sources.map((source) => [
    source.name,
    placeOf(source),
    source.state,
    source.pages,
    source.passages,
    source.readAt === null ? "never" : new Date(source.readAt).toISOString(),
    source.fault ?? (source.failed > 0 ? `${source.failed} pages failed` : ""),
  ]);
  const head = ["NAME", "PLACE", "STATE", "PAGES", "PASSAGES", "READ", "FAULT"];
  printTable(terminal, head, rows, `Channel ${slug} has no documents`);
  for (const { name, failures } of sources)
    for (const { url, why } of failures) terminal.out(`${name}: ${url}: ${why}\n`);
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}

function unknownSource(message: string, name: string | undefined): string | undefined {
  return message === "Unknown source"
    ? `Cannot find source ${name}: the channel has none of that name`
    : undefined;
}
