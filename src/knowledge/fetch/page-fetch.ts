import { Agent, request } from "undici";
import { AnswerTooLong } from "../../bounded-body.ts";
import { mustBePublic, publicLookup } from "../../public-lookup.ts";
import { VERSION } from "../../version.ts";

/** What a page answered. */
export interface FetchedAnswer {
  /** After redirects. */
  url: string;
  status: number;
  contentType: string | null;
  /** Empty unless the status is 200. */
  bytes: Uint8Array;
  /** By these it is asked later whether it has changed. */
  etag: string | null;
  lastModified: string | null;
}

export interface PageFetch {
  /** `known`: an answer that is still had; an unchanged page is 304. Rejects where there is no answer, or one that is too long. */
  get(url: string, known?: { etag: string | null; lastModified: string | null }): Promise<FetchedAnswer>;
  close(): Promise<void>;
}

/** By which robots.txt may name it (RFC 9309). */
export const ROBOT = "ChatAgentService";

/** A page of a site has some 100 KB, a manual as PDF some MB. */
const MOST_BYTES = 16 * 1_048_576;
const MOST_REDIRECTS = 5;
const ANSWER_MS = 15_000;

/**
 * Gets pages of one origin: from public addresses alone unless `allowsPrivate`, no more of each than its bounds. A redirect may
 * lead elsewhere on the same host, and nowhere else.
 */
export function createPageFetch({ allowsPrivate }: { allowsPrivate: boolean }): PageFetch {
  const dispatcher = new Agent({
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    connect: { lookup: publicLookup({ allowsPrivate }), timeout: ANSWER_MS },
  });

  async function ask(url: string, known: Parameters<PageFetch["get"]>[1]): Promise<FetchedAnswer | URL> {
    if (!allowsPrivate) mustBePublic(url);
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      signal: AbortSignal.timeout(ANSWER_MS * 2),
      headers: {
        "user-agent": `${ROBOT}/${VERSION}`,
        accept: "text/html, text/markdown, text/plain, application/pdf, */*;q=0.5",
        ...(known?.etag ? { "if-none-match": known.etag } : {}),
        ...(known?.lastModified ? { "if-modified-since": known.lastModified } : {}),
      },
    });
    const { location } = headers;
    if (statusCode >= 300 && statusCode < 400 && typeof location === "string") {
      await body.dump();
      return new URL(location, url);
    }
    const textOf = (name: string) => {
      const value = headers[name];
      return typeof value === "string" ? value : null;
    };
    return {
      url,
      status: statusCode,
      contentType: textOf("content-type"),
      bytes: statusCode === 200 ? await wholeOf(body) : await nothingOf(body),
      etag: textOf("etag"),
      lastModified: textOf("last-modified"),
    };
  }

  return {
    async get(url, known) {
      const { hostname } = new URL(url);
      let next = url;
      for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
        const answer = await ask(next, known);
        if (!(answer instanceof URL)) return answer;
        const isWeb = answer.protocol === "https:" || answer.protocol === "http:";
        if (answer.hostname !== hostname || !isWeb)
          throw new Error(`it leads to another site: ${answer.origin}`);
        next = answer.href;
      }
      throw new Error("it leads from one address to the next without an end");
    },

    close: () => dispatcher.destroy(),
  };
}

type Body = Awaited<ReturnType<typeof request>>["body"];

async function wholeOf(body: Body): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    // Leaving the loop ends the answer.
    if (bytes > MOST_BYTES) throw new AnswerTooLong(MOST_BYTES);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function nothingOf(body: Body): Promise<Uint8Array> {
  await body.dump();
  return new Uint8Array();
}
