import { connect } from "node:net";
import type { Socket } from "node:net";

/** What came of bytes that were sent as they are. */
export interface Outcome {
  /** Of the first answer; 0: the connection closed without one; null: neither within the patience. */
  status: number | null;
  text: string;
  closed: boolean;
}

/** What is not there by then does not come: no machine is as busy. */
const FOR_EVER_MS = 120_000;

/**
 * Sends the pieces, one write each, and listens until the connection closes, or nothing follows a whole answer for
 * `silenceMs`; `untilClosed`: until it closes.
 */
export async function sendRaw(options: {
  port: number;
  pieces: readonly (string | Buffer)[];
  gapMs?: number;
  patienceMs?: number;
  /** When it resolves, what has not been answered is not waited for any longer. */
  giveUp?: Promise<unknown>;
  silenceMs?: number;
  untilClosed?: boolean;
}): Promise<Outcome> {
  const { port, pieces, gapMs = 5, patienceMs = FOR_EVER_MS, silenceMs = 250 } = options;
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let text = "";
  let silence: NodeJS.Timeout | undefined;
  return await new Promise((resolve) => {
    const finish = (closed: boolean): void => {
      clearTimeout(silence);
      clearTimeout(patience);
      socket.destroy();
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text);
      resolve({ status: status ? Number(status[1]) : closed ? 0 : null, text, closed });
    };
    const patience = setTimeout(() => finish(false), patienceMs);
    void options.giveUp?.then(() => isWhole(text) || finish(false));
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      clearTimeout(silence);
      if (isWhole(text) && options.untilClosed !== true) silence = setTimeout(() => finish(false), silenceMs);
    });
    socket.on("error", () => {});
    socket.on("close", () => finish(true));
    void writePieces(socket, pieces, gapMs);
  });
}

/** Does a whole final answer stand here? The 100 of an Expect is none; of a HEAD's answer nobody asks. */
function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const [head, rest] = [text.slice(0, end + 2), text.slice(end + 4)];
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  if (status < 200) return isWhole(rest);
  if (status === 204 || status === 304) return true;
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return rest.endsWith("0\r\n\r\n");
  return rest.length >= Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? Infinity);
}

async function writePieces(
  socket: Socket,
  pieces: readonly (string | Buffer)[],
  gapMs: number,
): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, gapMs));
    if (socket.writable) socket.write(typeof piece === "string" ? Buffer.from(piece, "latin1") : piece);
  }
}
