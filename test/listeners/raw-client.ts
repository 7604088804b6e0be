import { connect } from "node:net";
import type { Socket } from "node:net";

/** What came of bytes that were sent as they are. */
export interface Outcome {
  /** Of the first answer; 0: the connection closed without one; null: neither within the patience. */
  status: number | null;
  text: string;
  closed: boolean;
}

/** Sends the pieces, one write each, and listens until the connection closes, or falls silent after an answer. */
export async function sendRaw(options: {
  port: number;
  pieces: readonly (string | Buffer)[];
  gapMs?: number;
  patienceMs?: number;
  silenceMs?: number;
}): Promise<Outcome> {
  const { port, pieces, gapMs = 5, patienceMs = 1_500, silenceMs = 250 } = options;
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
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      clearTimeout(silence);
      silence = setTimeout(() => finish(false), silenceMs);
    });
    socket.on("error", () => {});
    socket.on("close", () => finish(true));
    void writePieces(socket, pieces, gapMs);
  });
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
