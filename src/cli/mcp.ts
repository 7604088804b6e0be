import type { Command } from "commander";
import { checkMcpServers } from "../agent/mcp/check.ts";
import type { McpReport } from "../agent/mcp/check.ts";
import { systemClock } from "../clock.ts";
import { createLog } from "../log.ts";
import { serversOf } from "./channel-servers.ts";
import { commandVariables } from "./channel-variables.ts";
import { printJson, printTable } from "./command/print.ts";
import { CannotDo } from "./command/terminal.ts";
import type { Terminal } from "./command/terminal.ts";
import { withStore } from "./command/with-store.ts";

/** `chat-agent mcp`: the MCP servers of a channel. */
export function addMcp(program: Command, terminal: Terminal): void {
  program
    .command("mcp")
    .description("Tries the MCP servers of channels.")
    .command("check")
    .argument("SLUG", "the channel")
    .description("connects to each of its servers, lists their tools, and says which are offered")
    .option("--json", "for scripts")
    .action((slug: string, { json = false }: { json?: boolean }) => check(terminal, slug, json));
}

async function check(terminal: Terminal, slug: string, json: boolean): Promise<void> {
  const { servers, allowsPrivate, variables } = await withStore(terminal, async (store, config) => ({
    ...(await serversOf(terminal, { store, config, slug })),
    variables: await commandVariables(terminal, config),
  }));
  const stop = new AbortController();
  const ignore = terminal.onInterrupt(() => stop.abort(new CannotDo("Stopped")));
  const reports = await checkMcpServers(slug, servers, {
    clock: systemClock,
    log: createLog({ level: "silent", secrets: [], destination: { write() {} } }),
    variable: (name) => variables.read(slug, name),
    allowsPrivate,
    signal: stop.signal,
  }).finally(ignore);
  if (json) printJson(terminal, reports);
  else printReports(terminal, reports);
  const ill = reports.filter(({ fault }) => fault !== null).map(({ server }) => server);
  if (ill.length > 0) throw new CannotDo(`Cannot use MCP servers of channel ${slug}: ${ill.join(", ")}`);
}

function printReports(terminal: Terminal, reports: readonly McpReport[]): void {
  const rows = reports.flatMap(({ server, fault, tools, odd = [] }) => {
    const leftOut = odd.filter(({ isLeftOut }) => isLeftOut);
    if (tools.length + leftOut.length === 0) return [[server, "-", null, null, fault ?? "no tools"]];
    return [
      ...tools.map(({ name, offered, repeatable, destructive }) => {
        const mends = odd.find((one) => one.name === name && !one.isLeftOut)?.reasons ?? [];
        const note = [...whyNot({ offered, destructive }), ...mends].join("; ");
        return [server, name, offered, repeatable, note === "" ? null : note];
      }),
      ...leftOut.map(({ name, reasons }) => [
        server,
        name ?? "-",
        false,
        null,
        `left out: ${reasons.join("; ")}`,
      ]),
    ];
  });
  printTable(
    terminal,
    ["SERVER", "TOOL", "OFFERED", "REPEATABLE", "NOTE"],
    rows,
    "The channel has no MCP servers.",
  );
  for (const { server, speaks } of reports) {
    if (speaks !== undefined) terminal.out(`${server} speaks ${speaks}.\n`);
  }
}

function whyNot({ offered, destructive }: { offered: boolean; destructive: boolean }): string[] {
  if (offered) return destructive ? ["destructive"] : [];
  return [
    destructive
      ? "destructive: offered only where tools.allow names it, and deny does not"
      : "kept away by the settings' tools",
  ];
}
