import type { Command } from "commander";

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("run the service; every setting is an environment variable, see README.md")
    .action(async () => {
      // Loaded only here: the other commands start faster without a server in memory.
      const { serve } = await import("../main.ts");
      process.exitCode = await serve();
    });
}
