import { createHash } from "node:crypto";
import { realpathSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeDataDir } from "./data-dir.ts";

/**
 * One `serve` per DATA_DIR: the embedded store takes threads held by another process for lost ones.
 *
 * The lock is a listening socket, which dies with its process, even under kill -9: no stale lock, and no process id
 * that was reused. On Linux the name is outside the file system (an abstract socket); elsewhere it is a file in the
 * temporary folder, which is stale if nothing answers there. Containers that share DATA_DIR but not their network do
 * not see each other's lock.
 */
type Place = "abstract" | "file";

/** Resolves to the release. Throws if another process holds the lock. */
export async function lockDataDir(
  dataDir: string,
  place: Place = process.platform === "linux" ? "abstract" : "file",
): Promise<() => Promise<void>> {
  makeDataDir(dataDir);
  const address = addressOf(dataDir, place);
  let server = await listen(address);
  if (server === null && place === "file" && !(await isAnswered(address))) {
    rmSync(address, { force: true });
    server = await listen(address);
  }
  if (server === null) throw new Error(`Cannot lock ${dataDir}: another process serves it`);
  return release(server);
}

function addressOf(dataDir: string, place: Place): string {
  const name = `chat-agent-${createHash("sha256").update(realpathSync(dataDir)).digest("hex").slice(0, 32)}`;
  return place === "abstract" ? `\0${name}` : join(tmpdir(), `${name}.sock`);
}

/** True if a `serve` holds the lock. */
export async function isServed(
  dataDir: string,
  place: Place = process.platform === "linux" ? "abstract" : "file",
): Promise<boolean> {
  return isAnswered(addressOf(dataDir, place));
}

/** Null if the address is taken. */
function listen(address: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(null);
      else reject(error);
    });
    server.listen(address, () => {
      // The lock lasts as long as the process, and never keeps it alive.
      server.unref();
      resolve(server);
    });
  });
}

function isAnswered(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

function release(server: Server): () => Promise<void> {
  let released: Promise<void> | undefined;
  return () =>
    (released ??= new Promise((resolve) => {
      server.close(() => resolve());
    }));
}
