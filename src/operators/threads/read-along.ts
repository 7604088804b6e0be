import type { Line } from "../../../machines/line.ts";
import type { Reply } from "../../threads/hold/reply.ts";
import type { Threads } from "../../threads/threads.ts";
import type { RunRecord } from "../../domain/threads/message.ts";

/** Lines of a run. `fresh`: the first ones, everything since the user's message. */
export type OnLines = (runId: string, lines: Line[], fresh: boolean) => void;

/** Reads the stream of a thread's run, as any re-attached client does. */
export class ReadAlong {
  readonly #threads: Pick<Threads, "follow">;
  readonly #uid: string;
  readonly #onLines: OnLines;
  /** The current or last stream: its run, and where in the run it begins. */
  #stream: string | null = null;
  #reply: Reply | null = null;
  #isStopped = false;

  constructor(threads: Pick<Threads, "follow">, uid: string, onLines: OnLines) {
    this.#threads = threads;
    this.#uid = uid;
    this.#onLines = onLines;
  }

  /** Opens the run's current stream, unless it was the last one opened. */
  async follow({ runId, streamFrom }: Pick<RunRecord, "runId" | "streamFrom">): Promise<void> {
    const stream = `${runId} ${streamFrom}`;
    if (stream === this.#stream) return;
    const reply = await this.#threads.follow(this.#uid);
    this.#reply?.leave();
    this.#reply = reply;
    this.#stream = stream;
    if (this.#isStopped) reply?.leave();
    else if (reply) this.#read(reply);
  }

  stop(): void {
    this.#isStopped = true;
    this.#reply?.leave();
    this.#reply = null;
  }

  #read(reply: Reply): void {
    let fresh = true;
    reply.read((lines) => {
      if (this.#isStopped) return;
      this.#onLines(reply.runId, lines, fresh);
      fresh = false;
      const last = lines.at(-1);
      // The run goes on elsewhere: its stream must be opened again.
      if (last?.type === "error" && last.code === "interrupted") this.#stream = null;
    });
  }
}
