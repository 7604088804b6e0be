import { createHash } from "node:crypto";
import { realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeOf } from "../../../errors.ts";
import { makeDataDir } from "./data-dir.ts";

/**
 * One process per DATA_DIR: the embedded store takes threads held by another process for lost ones, and lmdb loses changes
 * if two processes open its file (file.ts).
 *
 * The lock is a listening socket, which dies with its process, even under kill -9: no stale lock, and no process id
 * that was reused. On Linux the name is outside the file system (an abstract socket); elsewhere it is a file in the
 * temporary folder, which is stale if nothing answers there. Containers that share DATA_DIR but not their network do
 * not see each other's lock.
 *
 * Whoever wants the folder asks the holder there, by HTTP. `serve` answers: the command line works through it
 * (installation/local-door.ts). A command is brief and does not answer; the connection ends with it.
 */
type Place = "abstract" | "file";

export type Release = () => Promise<void>;

const PLACE: Place = process.platform === "linux" ? "abstract" : "file";

/** How long to wait for a command that has the folder. */
const PATIENCE_MS = 10_000;

/**
 * Resolves to the release. Throws if another process serves the folder, or a command has it for longer than PATIENCE_MS.
 * `server` answers whoever else wants it.
 */
export async function lockDataDir(
  dataDir: string,
  place: Place = PLACE,
  server: Server = createServer((_, response) => response.end()),
): Promise<Release> {
  const release = await lock(dataDir, { place, server });
  if (release !== null) return release;
  throw new Error(`Cannot lock ${dataDir}: another process serves it`);
}

/** The lock of a command; null: another process serves the folder. */
export function lockBriefly(dataDir: string, place: Place = PLACE): Promise<Release | null> {
  return lock(dataDir, { place, server: createServer(() => {}) });
}

/** Where the holder of the lock listens. */
export function lockAddress(dataDir: string, place: Place = PLACE): string {
  const name = `chat-agent-${createHash("sha256").update(realpathSync(dataDir)).digest("hex").slice(0, 32)}`;
  return place === "abstract" ? `\0${name}` : join(tmpdir(), `${name}.sock`);
}

async function lock(
  dataDir: string,
  { place, server }: { place: Place; server: Server },
): Promise<Release | null> {
  makeDataDir(dataDir);
  const address = lockAddress(dataDir, place);
  const untilMs = performance.now() + PATIENCE_MS;
  while (!(await listens(server, address))) {
    const holder = await holderAt(address, untilMs - performance.now());
    if (holder === "serves") return null;
    if (holder === "works")
      throw new Error(`Cannot lock ${dataDir}: another command works on it, or its service does not answer`);
    if (holder === "left behind" && place === "file") rmSync(address, { force: true });
  }
  return releaseOf(server);
}

/** False if the address is taken. */
function listens(server: Server, address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error);
    server.once("error", fail);
    server.listen(address, () => {
      server.off("error", fail);
      // The lock lasts as long as the process, and never keeps it alive.
      server.unref();
      resolve(true);
    });
  });
}

/** Who has the address; resolves when that is known, or a command that had it has ended. */
function holderAt(address: string, withinMs: number): Promise<"serves" | "works" | "gone" | "left behind"> {
  return new Promise((resolve) => {
    const socket = connect(address);
    const timer = setTimeout(() => settle("works"), Math.max(0, withinMs));
    const settle = (holder: Parameters<typeof resolve>[0]) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(holder);
    };
    socket.once("connect", () => socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"));
    socket.once("data", () => settle("serves"));
    socket.once("close", () => settle("gone"));
    socket.once("error", (error) => settle(codeOf(error) === "ECONNREFUSED" ? "left behind" : "gone"));
  });
}

function releaseOf(server: Server): Release {
  let released: Promise<void> | undefined;
  return () =>
    (released ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }));
}
