// For src/stores/files/bucket.ts
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { bucketOfFiles } from "../../../src/stores/files/bucket.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { itKeepsFiles } from "./outside-files.ts";

/** It has no types. */
type S3Server = new (options: object) => {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
};

const S3rver = createRequire(import.meta.url)("@20minutes/s3rver") as S3Server;

const keys = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER", region: "us-east-1" };

/** Another project's server of S3's API, which checks the signatures. */
async function open(path = "files", more = {}) {
  const server = new S3rver({
    port: 0,
    silent: true,
    directory: temporaryFolder(),
    configureBuckets: [{ name: "files", configs: [] }],
  });
  const { port } = await server.run();
  onTestFinished(() => server.close());
  return bucketOfFiles({ url: `http://127.0.0.1:${port}/${path}`, ...keys, ...more });
}

describe("a bucket", () => {
  itKeepsFiles(() => open());
});
describe("a folder of a bucket", () => {
  itKeepsFiles(() => open("files/of/chat"));
});

describe("a bucket that fails", () => {
  it("says what the service calls the fault, and is not asked again where that is of no use", async () => {
    const wrong = await open("files", { secretAccessKey: "another" });
    await expect(wrong.put("kept/a/b", Buffer.from("1"))).rejects.toThrow(
      "The files' bucket fails: PUT of files: 403 SignatureDoesNotMatch",
    );
    const nowhere = await open("nowhere");
    await expect(nowhere.put("kept/a/b", Buffer.from("1"))).rejects.toThrow(
      "The files' bucket nowhere is not there",
    );
  });

  it("is asked again after a 503, or without an answer, three times in all", async () => {
    let asked = 0;
    const files = await answering((_, response) => {
      asked += 1;
      response.statusCode = asked < 3 ? 503 : 200;
      response.end("<Error><Code>SlowDown</Code></Error>");
    });
    await files.put("kept/a/b", Buffer.from("1"));
    expect(asked).toBe(3);
    asked = -3;
    await expect(files.put("kept/a/b", Buffer.from("1"))).rejects.toThrow("503 SlowDown");
  });

  // The server above makes no token on a present Node.
  it("is listed to the last page before anything is removed", async () => {
    const requests: string[] = [];
    const files = await answering(({ method, url = "" }, response) => {
      const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
      const token = searchParams.get("continuation-token");
      requests.push(method === "DELETE" ? `DELETE ${pathname}` : `list ${token}`);
      const entry = (key: string) =>
        `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`;
      const next = "<NextContinuationToken>a&amp;b=</NextContinuationToken>";
      if (method === "DELETE") response.statusCode = 204;
      response.end(token === null ? entry("kept/a/1") + next : entry("kept/a/2"));
    });
    await files.removeBelow("kept/a/");
    expect(requests).toEqual(["list null", "list a&b=", "DELETE /files/kept/a/1", "DELETE /files/kept/a/2"]);
  });
});

async function answering(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return bucketOfFiles({ url: `http://127.0.0.1:${port}/files`, ...keys });
}
