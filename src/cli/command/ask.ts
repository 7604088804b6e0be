import { text } from "node:stream/consumers";

/** A request to the operator API; `path` is encoded, `query` without its `?`. */
export interface Asked {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  query: string;
  body?: unknown;
}

export interface Answer {
  status: number;
  body: AsyncIterable<Uint8Array>;
}

/** Sends a request to the operator API of a service, or of this process. */
export type Ask = (asked: Asked) => Promise<Answer>;

/** The API has refused, with this status and its line of text. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Query = Record<string, string | number | boolean | undefined>;

/** The operator API, as commands ask it. All reject with Refused. Values of a path are encoded by `at`. */
export interface OperatorApi {
  get<Found>(path: string, query?: Query): Promise<Found>;
  post<Found>(path: string, body?: object): Promise<Found>;
  patch<Found>(path: string, body: object): Promise<Found>;
  delete(path: string): Promise<void>;
  /** All of a list, page by page as they are read; no page is empty. */
  pages<Item>(path: string, query?: Query): AsyncIterable<Item[]>;
  all<Item>(path: string, query?: Query): Promise<Item[]>;
  /** Lines of JSON, as they come. */
  lines(path: string): AsyncIterable<string>;
}

/** A path, its values encoded. */
export function at(parts: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent));
}

/** The most that a list gives at once. */
const LIMIT = 100;

export function operatorApi(ask: Ask): OperatorApi {
  async function asked(method: Asked["method"], path: string, query: Query = {}, body?: object) {
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const answer = await ask({
      method,
      path: `/v1/operator${path}`,
      query: new URLSearchParams(given).toString(),
      ...(body === undefined ? {} : { body }),
    });
    if (answer.status < 300) return answer;
    throw new Refused(answer.status, await text(answer.body));
  }

  /** The answers are ours, and of this version. */
  async function found<Found>(answering: Promise<Answer>): Promise<Found> {
    const json = await text((await answering).body);
    return (json === "" ? undefined : JSON.parse(json)) as Found;
  }

  async function* pages<Item>(path: string, query: Query = {}): AsyncIterable<Item[]> {
    for (let cursor: string | undefined; ;) {
      const page = await found<{ items: Item[]; next: string | null }>(
        asked("GET", path, { ...query, limit: LIMIT, cursor }),
      );
      if (page.items.length > 0) yield page.items;
      if (page.next === null) return;
      cursor = page.next;
    }
  }

  return {
    get: (path, query) => found(asked("GET", path, query)),
    post: (path, body) => found(asked("POST", path, {}, body)),
    patch: (path, body) => found(asked("PATCH", path, {}, body)),
    delete: (path) => found(asked("DELETE", path)),
    pages,
    async all<Item>(path: string, query?: Query) {
      const items: Item[] = [];
      for await (const page of pages<Item>(path, query)) items.push(...page);
      return items;
    },
    async *lines(path) {
      const { body } = await asked("GET", path);
      const decoder = new TextDecoder();
      let rest = "";
      for await (const chunk of body) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        yield* lines;
      }
    },
  };
}
