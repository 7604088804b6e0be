import { Option } from "commander";
import type { Config } from "../config.ts";
import type { Command } from "commander";

/** One process: what users of platforms write is little beside what visitors of pages do. Nothing else is shown over HTTP. */
const MESSENGERS_ALONE = {
  messengers: "only",
  processes: null,
  demo: false,
  console: false,
  swagger: false,
} as const;

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("run the service; every setting is an environment variable, see src/cli/README.md")
    // How a supervisor starts its processes (PROCESSES), and on which port.
    .addOption(new Option("--member-on <port>").argParser(Number).hideHelp())
    .action(({ memberOn }: { memberOn?: number }) => serveHere(memberOn ?? null));
}

/** `messengers serve`, in the family of the other commands about them. */
export function addServeMessengers(program: Command): void {
  program.commands
    .find((one) => one.name() === "messengers")
    ?.command("serve")
    .description(
      "run an instance that answers the platforms of messengers alone; settings as for `serve`, with MESSENGERS=off there",
    )
    .action(() => serveHere(null, MESSENGERS_ALONE));
}

async function serveHere(memberOn: number | null, others: Partial<Config> = {}): Promise<void> {
  // Loaded only here: the other commands start faster without a server in memory.
  const { serve } = await import("../main.ts");
  await serve(memberOn, others).catch((error: unknown) => {
    // The supervisor has the error, and reports it.
    if (memberOn !== null) process.exit(1);
    throw error;
  });
  // Everything is closed: a handle that a library left open must not keep the process alive.
  process.exit(0);
}
