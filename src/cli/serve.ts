import type { Command } from "commander";

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("run the service; every setting is an environment variable, see src/cli/README.md")
    .action(async () => {
      // Loaded only here: the other commands start faster without a server in memory.
      const { serve } = await import("../main.ts");
      await serve();
      // Everything is closed and said: no handle that a library left open keeps a stopped service here.
      process.exit(0);
    });
}
