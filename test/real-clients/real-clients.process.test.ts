// For src/listeners/, src/http/stream/
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gzipOutlet } from "../../src/http/stream/gzip.ts";
import { acceptsGzip } from "../../src/http/stream/accepts-gzip.ts";
import type { Handler, Listener, Outlet } from "../../src/listener.ts";
import { listenNode } from "../../src/listeners/node.ts";
import { listenUws } from "../../src/listeners/uws.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { CLIENTS } from "./clients.ts";

/**
 * Each line is written only when the client has printed the one before it. So a client that has a line late gets no further,
 * and none of this depends on time.
 */
const LINES = [
  '{"type":"step","id":"1"}',
  '{"type":"delta","text":"Hello"}',
  '{"type":"delta","text":"there"}',
];
const LAST = '{"type":"done"}';

const isComplete = process.env["REAL_CLIENTS"] === "all";

describeEachListener("D2: real clients have each line when it is written", (kind) => {
  let listener: Listener;
  let opened: (outlet: Outlet) => void = () => {};

  const handler: Handler = async (request) => {
    await request.body(1_000);
    const zips = acceptsGzip(request.headers.get("accept-encoding"));
    return {
      status: 200,
      headers: {
        "content-type": "application/x-ndjson",
        ...(zips ? { "content-encoding": "gzip" } : {}),
      },
      stream: (outlet) => opened(zips ? gzipOutlet(outlet) : outlet),
    };
  };

  beforeAll(async () => {
    const listen = kind === "uws" ? listenUws : listenNode;
    listener = await listen({ host: "127.0.0.1", port: 0, handler });
  });
  afterAll(() => listener.close());

  for (const client of CLIENTS) {
    for (const coding of client.codings) {
      const command = client.command("", coding);
      const why =
        command === null
          ? `: apt-get install -y ${client.package}`
          : client.isSlow && !isComplete
            ? ": npm run real-clients"
            : null;
      test.skipIf(why !== null)(`${client.name}, ${coding}${why ?? ""}`, async () => {
        const streaming = new Promise<Outlet>((resolve) => (opened = resolve));
        const [path = "", ...args] = client.command(`http://127.0.0.1:${listener.port}/stream`, coding) ?? [];
        const child = spawn(path, args, { cwd: emptyFolder(), stdio: ["ignore", "pipe", "pipe"] });
        const printed: string[] = [];
        let complaint = "";
        child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
        createInterface(child.stdout).on("line", (line) => printed.push(line.trim()));
        const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
        /** Of a client that ended too early, its complaint is what is compared. */
        const seen = (): string | undefined => (child.exitCode === null ? printed.at(-1) : complaint);
        try {
          const outlet = await Promise.race([streaming, exited.then(() => null)]);
          if (outlet === null) throw new Error(`Cannot go on: ${client.name} ended: ${complaint}`);
          for (const line of LINES) {
            outlet.write(`${line}\n`);
            await expect.poll(seen).toBe(line);
          }
          outlet.end(`${LAST}\n`);
          expect([await exited, complaint]).toEqual([0, ""]);
          expect(printed).toEqual([...LINES, LAST]);
        } finally {
          child.kill("SIGKILL");
        }
      });
    }
  }
});
