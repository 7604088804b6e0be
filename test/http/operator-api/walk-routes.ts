import type { z } from "zod";
import type { Route } from "../../../src/http/route.ts";
import type { Got, Service } from "../service.ts";

/** What an endpoint answered. `asked`: as `GET /path?query`. */
export interface Answer {
  asked: string;
  route: string;
  got: Got;
}

/** What stands for a `:name` of a path, or for a field of a query. */
export type Values = Readonly<Record<string, readonly string[]>>;

/** Every path of a route with all that is known for its `:names`. Throws where nothing is known for one. */
function pathsOf({ method, path }: Route, values: Values): string[] {
  let paths = [path.replace(/\*$/, "any")];
  for (const [whole, name = ""] of path.matchAll(/:(\w+)/g)) {
    const known = values[name];
    if (!known) throw new Error(`Cannot walk ${method} ${path}: no value is known for :${name}`);
    paths = paths.flatMap((one) => known.map((value) => one.replace(whole, encodeURIComponent(value))));
  }
  return paths;
}

/** None, each documented field alone with each of its values, and every choice that it has. */
function queriesOf({ documentation }: Route, values: Values): string[] {
  if (documentation === "hidden") return [""];
  const fields = Object.entries(documentation.query).filter(([name]) => name !== "cursor");
  const one = fields.flatMap(([name, { schema, example }]) => {
    const known = values[name] ?? choicesOf(schema) ?? [String(example)];
    return known.map((value) => `${name}=${encodeURIComponent(value)}`);
  });
  return ["", ...one];
}

function choicesOf(schema: z.ZodType): string[] | null {
  return "options" in schema && Array.isArray(schema.options) ? schema.options.map(String) : null;
}

/** Asks every route, each in every way, and each list to its end. What stays open is left to the caller. */
export async function walkRoutes(
  { ask }: Pick<Service, "ask">,
  routes: readonly Route[],
  { values, headers }: { values: Values; headers: Record<string, string> },
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let asked = 0;
  for (const route of routes) {
    const { method, documentation } = route;
    const example = documentation === "hidden" ? null : documentation.body?.example;
    for (const path of pathsOf(route, values)) {
      for (const query of queriesOf(route, values)) {
        for (let cursor: string | null = ""; cursor !== null;) {
          const whole = [query, cursor === "" ? "" : `cursor=${cursor}`].filter(Boolean).join("&");
          // Wrong keys count for an address.
          const address = `203.0.${Math.floor(asked / 250) % 250}.${asked++ % 250}`;
          const got = await ask({
            method,
            path,
            query: whole,
            address,
            headers: { "content-type": "application/json", ...headers },
            ...(example ? { body: JSON.stringify(example) } : {}),
          });
          answers.push({ asked: `${method} ${path}?${whole}`, route: `${method} ${route.path}`, got });
          cursor = await nextOf(got);
        }
      }
    }
  }
  return answers;
}

async function nextOf(got: Got): Promise<string | null> {
  if (got.status !== 200 || !got.headers["content-type"]?.startsWith("application/json")) return null;
  const answer: unknown = await got.json();
  const next = answer !== null && typeof answer === "object" && "next" in answer ? answer.next : null;
  return typeof next === "string" ? next : null;
}

/** Everything that an answer says so far, its headers too, and what its words are where they are base64. */
export function saidBy({ got }: Answer): string {
  const text = `${JSON.stringify(got.headers)}\n${got.bytesSoFar()}`;
  const decoded = text
    .match(/[\w+/-]{12,}={0,2}/g)
    ?.map((word) => Buffer.from(word, "base64url").toString("latin1"));
  return [text, ...(decoded ?? [])].join("\n").toLowerCase();
}
