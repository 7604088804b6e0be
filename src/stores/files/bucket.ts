import { setTimeout as sleep } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import { messageOf } from "../../errors.ts";
import { FilesUnavailable } from "./outside-files.ts";
import type { OutsideFiles } from "./outside-files.ts";

/** A bucket of Amazon S3, or of a service with the same API; the address has the bucket as its first folder. */
export interface BucketSettings {
  /** `https://s3.eu-central-1.amazonaws.com/BUCKET`, or `…/BUCKET/FOLDER`. */
  url: string;
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
}

const DEADLINE_MS = 20_000;
/** Tries of one request: those that a server says are worth it (500 and above), and those without an answer. */
const TRIES = 3;

export function bucketOfFiles({ url, accessKeyId, secretAccessKey, region }: BucketSettings): OutsideFiles {
  const aws = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 });
  const { origin, pathname } = new URL(url);
  const [, bucket = "", ...folders] = pathname.split("/");
  const folder = folders.filter((one) => one !== "").join("/");
  const keyOf = (name: string) => (folder === "" ? name : `${folder}/${name}`);
  const at = (key: string) => `${origin}/${bucket}/${key}`;

  /** Null: 404. */
  async function ask(address: string, init: RequestInit): Promise<Response | null> {
    let fault: unknown = null;
    for (let nth = 0; nth < TRIES; nth += 1) {
      if (nth > 0) await sleep(200 * 2 ** nth);
      try {
        // oxlint-disable-next-line no-await-in-loop -- one try after the other
        const response = await aws.fetch(address, { ...init, signal: AbortSignal.timeout(DEADLINE_MS) });
        if (response.ok) return response;
        if (response.status === 404) return null;
        fault = new Error(
          `${init.method ?? "GET"} of ${bucket}: ${response.status} ${await codeIn(response)}`,
        );
        if (response.status < 500) break;
      } catch (error) {
        fault = error;
      }
    }
    throw new FilesUnavailable(`The files' bucket fails: ${messageOf(fault)}`, { cause: fault });
  }

  async function remove(key: string): Promise<void> {
    await ask(at(key), { method: "DELETE" });
  }

  return {
    async put(name, bytes) {
      const headers = { "content-type": "application/octet-stream" };
      const body = new Uint8Array(bytes);
      if (!(await ask(at(keyOf(name)), { method: "PUT", headers, body }))) {
        throw new FilesUnavailable(`The files' bucket ${bucket} is not there`);
      }
    },

    async get(name) {
      const response = await ask(at(keyOf(name)), {});
      return response && Buffer.from(await response.arrayBuffer());
    },

    async move(from, to) {
      const source = `/${bucket}/${keyOf(from)}`;
      const headers = { "x-amz-copy-source": source };
      if (await ask(at(keyOf(to)), { method: "PUT", headers })) await remove(keyOf(from));
    },

    async removeBelow(prefix, olderThanMs = Infinity) {
      // Nothing is removed before the last list: a service may lose its place when what it listed goes.
      const found: string[] = [];
      let token: string | null = null;
      do {
        const query = new URLSearchParams({
          "list-type": "2",
          prefix: keyOf(prefix),
          ...(token === null ? {} : { "continuation-token": token }),
        });
        const response = await ask(`${origin}/${bucket}?${query.toString()}`, {});
        const xml = response ? await response.text() : "";
        found.push(...entriesOf(xml).flatMap(({ key, atMs }) => (atMs < olderThanMs ? [key] : [])));
        token = textIn(xml, "NextContinuationToken");
      } while (token !== null);
      for (const key of found) await remove(key);
    },
  };
}

function entriesOf(xml: string): { key: string; atMs: number }[] {
  return xml
    .split("<Contents>")
    .slice(1)
    .map((entry) => ({
      key: textIn(entry, "Key") ?? "",
      atMs: Date.parse(textIn(entry, "LastModified") ?? ""),
    }));
}

/**
 * The text of the first element of that name; null: there is none. Our own names need no escapes, and a folder's, or a token, only
 * those of XML.
 */
function textIn(xml: string, name: string): string | null {
  const [, rest] = xml.split(`<${name}>`, 2);
  if (rest === undefined) return null;
  const [text = ""] = rest.split("<", 1);
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

/** What S3 calls the fault. */
async function codeIn(response: Response): Promise<string> {
  return (textIn(await response.text(), "Code") ?? "").slice(0, 60);
}
