import { Option } from "commander";
import type { Command } from "commander";

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("run the service; every setting is an environment variable, see src/cli/README.md")
    // How a supervisor starts its processes (PROCESSES), and on which port.
    .addOption(new Option("--member-on <port>").argParser(Number).hideHelp())
    .action(async ({ memberOn }: { memberOn?: number }) => {
      // Loaded only here: the other commands start faster without a server in memory.
      const { serve } = await import("../main.ts");
      await serve(memberOn ?? null).catch((error: unknown) => {
        // The supervisor has the error, and reports it.
        if (memberOn !== undefined) process.exit(1);
        throw error;
      });
      // Everything is closed: a handle that a library left open must not keep the process alive.
      process.exit(0);
    });
}
