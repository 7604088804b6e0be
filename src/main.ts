import { readConfig, readVariable, secretsOf } from "./config.ts";
import type { Config } from "./config.ts";
import { messageOf } from "./errors.ts";
import { readProviders, secretsOfProviders } from "./installation/providers-file.ts";
import { createHider, openLog } from "./log.ts";
import { watchForHangup } from "./start/hangup.ts";
import { joinSupervisor } from "./start/processes/member.ts";
import { supervise } from "./start/processes/supervise.ts";
import { watchForSignals } from "./start/signals.ts";
import type { Signals } from "./start/signals.ts";
import { start } from "./start/start.ts";
import type { Closing } from "./start/starting.ts";
import { VERSION } from "./version.ts";

/**
 * The process: environment, lock, store, service, demo page, and the signals that end it. Resolves after a clean stop;
 * rejects with one line for people if the start failed.
 *
 * With PROCESSES it starts others that do so, and looks after them; each of those is told the port of all, `memberOn`.
 */
export async function serve(memberOn: number | null, others: Partial<Config> = {}): Promise<void> {
  const closing: Closing = [];
  const member = memberOn === null ? null : joinSupervisor();
  let hide = createHider([]);
  surviveFullDisks();
  try {
    const config = { ...readConfig(), ...others, ...(memberOn === null ? {} : { port: memberOn }) };
    hide = createHider(secretsOf(config));
    if (member === null && config.processes !== null)
      return await superviseProcesses(config, config.processes);
    const providers = await readProviders(config, readVariable);
    const secrets = [...secretsOf(config), ...secretsOfProviders(providers)];
    hide = createHider(secrets);
    const signals = member?.signals ?? watchForOurSignals();
    closing.push(() => signals.stop());
    let lost = 0;
    const log = await openLog({
      level: config.logLevel,
      secrets,
      onLost: () => (lost += 1),
      ...(member ? { process: member.number } : {}),
    });
    log.info({ version: VERSION }, "Starting");
    const hangup = member === null ? watchForHangup() : null;
    closing.push(() => hangup?.stop());
    hangup?.onAsked(() =>
      log.warn("SIGHUP restarts processes one by one where PROCESSES is set: nothing is done"),
    );
    const running = await start({ config, member, log, lostLines: () => lost, closing }, providers);

    const signal = await signals.first;
    if (signal === "retire" && member !== null) {
      const retired = running.retire(member.hurry);
      log.info("Retiring: another process has taken this one's place");
      await retired;
    } else {
      log.info(
        { signal, graceMs: config.shutdownGraceMs },
        "Stopping: open streams have the grace to end; a second signal ends at once",
      );
    }
    await running.stop();
    log.info("Stopped");
  } catch (error) {
    const failure = hide(startFailure(error));
    await member?.failed(failure);
    throw new Error(failure, { cause: error });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** PROCESSES: the supervisor, which starts the other processes and serves no requests itself. */
async function superviseProcesses(config: Config, count: number): Promise<void> {
  const signals = watchForOurSignals();
  const hangup = watchForHangup();
  const log = await openLog({ level: config.logLevel, secrets: secretsOf(config) });
  log.info({ version: VERSION, processes: count }, "Starting");
  try {
    await supervise({ count, config, log, signals, hangup, say: (text) => void process.stderr.write(text) });
    log.info("Stopped");
  } finally {
    signals.stop();
    hangup.stop();
  }
}

/** What is written there beside the log is for people: on a full disk it is lost, and the service goes on. */
function surviveFullDisks(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount("error") === 0) stream.on("error", () => {});
  }
}

function watchForOurSignals(): Signals {
  return watchForSignals({ isHandedOn: readVariable("npm_lifecycle_event") !== null });
}

function startFailure(error: unknown): string {
  const text = messageOf(error);
  return (text.startsWith("Cannot ") ? text : `Cannot start: ${text}`).replaceAll("\n", " ");
}
