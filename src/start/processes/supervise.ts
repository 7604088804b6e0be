import cluster from "node:cluster";
import type { Config } from "../../config.ts";
import { messageOf } from "../../errors.ts";
import type { PlainLog } from "../../log.ts";
import { PastSamples } from "../../metrics/past-samples.ts";
import type { Sample } from "../../metrics/sample.ts";
import type { Hangup } from "../hangup.ts";
import type { Signals } from "../signals.ts";
import type { FromProcess } from "./messages.ts";
import { ServiceProcess } from "./process.ts";
import type { Told } from "./process.ts";
import { reservePort } from "./reserve-port.ts";
import { Seat } from "./seat.ts";
import { createSilenceWatch, LOOK_MS } from "./watch-silence.ts";

/** If a process is too busy to send its metrics within this time, its previous ones are used. */
const SAMPLE_MS = 2_000;
/** A process that has not ended this long after the grace period is killed. */
const BEYOND_GRACE_MS = 10_000;

export interface SupervisorDependencies {
  /** How many processes. */
  count: number;
  config: Pick<Config, "host" | "port" | "shutdownGraceMs">;
  log: PlainLog;
  signals: Signals;
  hangup: Hangup;
  /** Prints to stderr. */
  say: (text: string) => void;
}

/**
 * PROCESSES: several processes on one port, each an ordinary instance on the shared Redis. This process starts them,
 * replaces one that dies or hangs, restarts them one by one on SIGHUP, and stops them all. It reads no request and opens no
 * store, so a fault of theirs cannot affect it. If it dies itself, they end.
 *
 * Resolves after a clean stop; rejects with one line if the start failed, or a process cannot be kept running.
 */
export async function supervise(dependencies: SupervisorDependencies): Promise<void> {
  const { count, config, log, signals, hangup, say } = dependencies;
  const reserved = await reservePort(config);
  cluster.setupPrimary({
    args: [...process.argv.slice(2), "--member-on", String(reserved.port)],
    serialization: "advanced",
  });

  const running = new Set<ServiceProcess>();
  const past = new PastSamples();
  const stopping = new AbortController();
  let giveUp: (error: Error) => void = () => {};
  const givenUp = new Promise<Error>((resolve) => (giveUp = resolve));
  const seats = Array.from(
    { length: count },
    () => new Seat({ open, log, stopping: stopping.signal, onGivenUp: giveUp }),
  );

  function open(): ServiceProcess {
    const opened = new ServiceProcess(answer);
    running.add(opened);
    log.info({ started: opened.number, pid: opened.pid }, "Starting a process");
    void opened.silent.then(() => {
      running.delete(opened);
      if (opened.sample !== null) past.add(opened.sample);
    });
    return opened;
  }

  function answer(asker: ServiceProcess, message: FromProcess): void {
    if (message.type !== "gather") return;
    void gather().then((samples) => asker.tell({ type: "gathered", id: message.id, samples }));
  }

  async function gather(): Promise<Sample[]> {
    await Promise.all([...running].map((each) => each.newSample(SAMPLE_MS)));
    return [past.sample(), ...[...running].flatMap(({ sample }) => (sample === null ? [] : [sample]))];
  }

  async function stopAll(): Promise<void> {
    stopping.abort();
    const last = [...running];
    for (const each of last) each.leave("stop");
    const late = setTimeout(() => {
      for (const each of last) each.kill();
    }, config.shutdownGraceMs + BEYOND_GRACE_MS);
    await Promise.all(last.map(({ silent }) => silent));
    clearTimeout(late);
  }

  const watch = createSilenceWatch(log);
  const looking = setInterval(() => watch(running), LOOK_MS);
  hangup.onAsked(createRolling(seats, log));
  try {
    const [first] = await startAll(seats);
    log.info({ ...first?.told, processes: count }, "Listening");
    say(first?.greeting ?? "");

    const ending = await Promise.race([signals.first, givenUp]);
    if (ending instanceof Error) throw ending;
    log.info(
      { signal: ending, graceMs: config.shutdownGraceMs, processes: running.size },
      "Stopping: open streams have the grace to end; a second signal ends at once",
    );
  } finally {
    await stopAll();
    clearInterval(looking);
    reserved.release();
  }
}

/** Starts the first one alone: it creates the keys and channels that the others then find. */
async function startAll([first, ...others]: Seat[]): Promise<Told[]> {
  const told = first === undefined ? [] : [await first.fill()];
  return [...told, ...(await Promise.all(others.map((seat) => seat.fill())))];
}

/** Restarts the processes one by one; a call during a restart makes it begin once more from the first. */
function createRolling(seats: readonly Seat[], log: PlainLog): () => void {
  let rounds = 0;
  async function roll(): Promise<void> {
    log.info({ processes: seats.length }, "Restarting the processes, one by one");
    try {
      for (const seat of seats) await seat.renew();
      log.info({ processes: seats.length }, "Restarted: the processes before end with their last stream");
    } catch (error) {
      log.error({ reason: messageOf(error) }, "Cannot restart: the processes that run stay");
    }
    if (--rounds > 0) {
      rounds = 1;
      await roll();
    }
  }
  return () => {
    if (rounds++ === 0) void roll();
  };
}
