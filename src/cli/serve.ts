import type { Command } from "commander";

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("run the service; every setting is an environment variable, see src/cli/README.md")
    .action(async () => {
      // Loaded only here: the other commands start faster without a server in memory.
      const { serve } = await import("../main.ts");
      await serve();
      // Everything is closed: a handle that a library left open must not keep the process alive.
      process.exit(0);
    });
}
