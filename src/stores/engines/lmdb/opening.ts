import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { codeOf } from "../../../errors.ts";

/**
 * Opens lmdb's file while nobody writes to it.
 *
 * When lmdb 3.5.6 opens a file it reads the number of the last transaction, and then puts that into the memory that
 * all processes share (`mti_txnid` in mdb_env_open2, whether or not another one has the file open). This undoes a
 * commit between the two: it is not seen any more, and the next change overwrites it, although it was acknowledged.
 *
 * So each process listens on a socket beside the file, from before it opens the file until it has closed it. Before
 * opening it, a process connects to all of these sockets: each other process finishes the changes that have begun,
 * answers, and begins no new one while the connection is open. A socket dies with its process, even under kill -9, so
 * no process waits for a dead one.
 *
 * A process that the others did not see, because it began to listen after they looked, has not opened the file yet:
 * it looks itself after it listens. Between its last look and opening the file it runs nothing else, so it cannot
 * answer another one then.
 */
export interface Opened<T> {
  file: T;
  /**
   * Runs a change while no process opens the file; resolves when the change is over. Closing the file is a change
   * too.
   */
  write: <Result>(change: () => Promise<Result>) => Promise<Result>;
  /** Call it when the file is closed: from then on other processes need not ask this one. */
  leave: () => Promise<void>;
}

/** A process on a busy machine answers within seconds; a suspended one may be in the middle of a change. */
const ANSWER_MS = 10_000;

/** Throws if a process that has the file open does not answer, and whatever `open` throws. */
export async function openWhileNobodyWrites<T>(
  folder: string,
  open: () => T,
  answerMs: number = ANSWER_MS,
): Promise<Opened<T>> {
  const changes = createChanges();
  const sockets = new Set<Socket>();
  const { place, name, server } = await listenBeside(folder, (socket) => {
    sockets.add(socket);
    const goOn = changes.hold(() => socket.write(WAITS));
    socket.once("close", () => {
      sockets.delete(socket);
      goOn();
    });
    // The connection is over then, and "close" follows.
    socket.on("error", () => {});
    socket.resume();
  });
  changesOfProcess.add(changes);
  if (isHeldForGood) changes.hold(() => {});
  const leave = () =>
    new Promise<void>((resolve) => {
      changesOfProcess.delete(changes);
      rmSync(join(place, name), { force: true });
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  const waiting = new Map<string, Socket | null>();
  try {
    for (;;) {
      const others = namesIn(place).filter((other) => other !== name && !waiting.has(other));
      if (others.length === 0) break;
      const asked = others.map(async (other) =>
        waiting.set(other, await untilItWaits(join(place, other), answerMs)),
      );
      // Waits for all, so that each connection is known and closed in the end.
      for (const each of await Promise.allSettled(asked)) if (each.status === "rejected") throw each.reason;
    }
    return { file: open(), write: (change) => changes.run(change), leave };
  } catch (error) {
    await leave();
    throw error;
  } finally {
    for (const socket of waiting.values()) socket?.destroy();
  }
}

/** The changes of one file, and what holds them back. */
interface Changes {
  run<Result>(change: () => Promise<Result>): Promise<Result>;
  /**
   * Begins no change until the returned function is called; calls `onQuiet` when none is running, perhaps repeatedly.
   */
  hold(onQuiet: () => void): () => void;
}

/** For all files that this process has open. */
const changesOfProcess = new Set<Changes>();
let isHeldForGood = false;

/**
 * Begins no change of this process any more; resolves when none is running.
 *
 * Exiting during a change fails: lmdb's thread waits for the change's step and Node for that thread, for ever; or the
 * thread goes on in memory that the exit has freed, and the process crashes.
 */
export async function holdChangesForGood(): Promise<void> {
  isHeldForGood = true;
  await Promise.all(
    [...changesOfProcess].map((changes) => new Promise<void>((resolve) => changes.hold(resolve))),
  );
}

function createChanges(): Changes {
  let running = 0;
  const holding = new Set<() => void>();
  const heldBack: (() => void)[] = [];
  return {
    async run(change) {
      while (holding.size > 0) await new Promise<void>((resolve) => heldBack.push(resolve));
      running++;
      try {
        return await change();
      } finally {
        running--;
        if (running === 0) for (const onQuiet of holding) onQuiet();
      }
    },

    hold(onQuiet) {
      const held = () => onQuiet();
      holding.add(held);
      if (running === 0) onQuiet();
      return () => {
        holding.delete(held);
        if (holding.size === 0) for (const goOn of heldBack.splice(0)) goOn();
      };
    },
  };
}

const WAITS = "\n";
const LEFT_BEHIND = ["ECONNREFUSED", "ENOTSOCK"];
const GONE = [...LEFT_BEHIND, "ECONNRESET", "ENOENT", "EPIPE"];

/** Resolves to the connection for which the other process waits; to null if that process is gone. */
function untilItWaits(address: string, answerMs: number): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const timer = setTimeout(() => {
      socket.destroy();
      const [pid] = basename(address).split("-");
      reject(new Error(`Cannot open the store: process ${pid}, which has it open, does not answer`));
    }, answerMs);
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      outcome();
    };
    socket.once("data", () => settle(() => resolve(socket)));
    socket.once("close", () => settle(() => resolve(null)));
    socket.once("error", (error) => {
      const code = codeOf(error) ?? "";
      if (LEFT_BEHIND.includes(code)) rmSync(address, { force: true });
      if (!GONE.includes(code)) settle(() => reject(error));
    });
  });
}

/** Prefix of the name of a process that does not listen yet. */
const COMING = ".";

function namesIn(place: string): string[] {
  return readdirSync(place).filter((name) => !name.startsWith(COMING));
}

/** The longest path of a socket, in bytes: 107 on Linux, 103 on macOS. */
const LONGEST_ADDRESS = 103;

/** Beside the file, or in the temporary folder if a socket cannot be there. */
async function listenBeside(
  folder: string,
  onConnection: (socket: Socket) => void,
): Promise<{ place: string; name: string; server: Server }> {
  const name = `${process.pid}-${randomBytes(3).toString("hex")}`;
  const hash = createHash("sha256").update(realpathSync(folder)).digest("hex").slice(0, 16);
  const [beside, elsewhere] = [join(folder, "processes"), join(tmpdir(), `chat-agent-${hash}`)];
  const isShort = Buffer.byteLength(join(beside, `${COMING}${name}`)) <= LONGEST_ADDRESS;
  const server = createServer(onConnection);
  if (isShort) {
    const failure = await listen(server, beside, name);
    if (failure === null) return { place: beside, name, server };
  }
  const failure = await listen(server, elsewhere, name);
  if (failure !== null) throw failure;
  return { place: elsewhere, name, server };
}

/**
 * Resolves to the error if it cannot listen. Listens under another name first: a socket that does not listen yet
 * looks abandoned, and would be removed.
 */
function listen(server: Server, place: string, name: string): Promise<Error | null> {
  mkdirSync(place, { recursive: true, mode: 0o700 });
  return new Promise((resolve) => {
    server.once("error", resolve);
    server.listen(join(place, `${COMING}${name}`), () => {
      server.off("error", resolve);
      renameSync(join(place, `${COMING}${name}`), join(place, name));
      // The socket never keeps the process alive.
      server.unref();
      resolve(null);
    });
  });
}
